"""A step while it runs: progress, pools of processes, outputs that appear whole, and killed commands."""
