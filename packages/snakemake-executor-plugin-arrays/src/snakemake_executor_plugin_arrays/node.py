"""Snakemake on a node: it may start further processes, whose commands need quoting, too."""

from snakemake.cli import main

from snakemake_executor_plugin_arrays import clocks, plugins, quoting

quoting.install()
clocks.install()
plugins.install()

if __name__ == "__main__":
    main()
