"""Snakemake on a node: it may start further processes, whose commands need quoting, too."""

from snakemake.cli import main

from snakemake_executor_plugin_arrays import quoting

quoting.install()

if __name__ == "__main__":
    main()
