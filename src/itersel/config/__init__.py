"""The config of an experiment: one typed source for its values, checks, schema and documentation.

Reading a config imports PyYAML, but neither numpy nor kernels, because every job of the workflow reads the
config before it starts. What this needs from other packages, such as `itersel.evaluate.names` and the
learners that the config names, is as quick to import. Plug-ins, and what ``itersel config check`` imports
when it runs, such as `suspicions`, may take longer.
"""
