"""The config of an experiment: one typed source for its values, checks, schema and documentation.

Only the standard library is imported here (and a YAML reader where a file is read): every job of the
workflow reads the config before it starts.
"""

from itersel.config.reading import load_config, read_config
from itersel.config.values import Config, Experiment

__all__ = ["Config", "Experiment", "load_config", "read_config"]
