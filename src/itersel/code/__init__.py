"""The code of a run: additions of installed packages, digests of each step, and edits during a run."""
