"""The batch tuners, which tune weights on the lists or forests of all sentences and iterations.

Each has a module, which `itersel.config.tuners` names: its keys, and a method that tunes. Reading a config
imports the modules, so what takes longer to import, above all kernels, is imported only where it is used.
"""
