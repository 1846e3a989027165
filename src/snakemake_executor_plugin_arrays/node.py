"""Snakemake on a node for a group of jobs: it starts further processes, whose commands need quoting, too."""

from snakemake.cli import main

if __name__ == "__main__":
    # loading this package has replaced the quoting
    main()
