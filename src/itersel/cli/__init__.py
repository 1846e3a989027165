"""The command line: one module per family of steps, imported only when one of them is run."""
