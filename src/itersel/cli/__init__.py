"""The command line: one module a family of steps, imported only when that step is asked for."""
