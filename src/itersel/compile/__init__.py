"""The compilation of kernels, and where they are kept."""
