"""The config of an experiment: one typed source for its values, checks, schema and documentation.

Only the standard library is imported here (and a YAML reader where a file is read), because every job of the
workflow reads the config before it starts. `suspicions`, which ``itersel config check`` imports when it runs,
is the exception.
"""
