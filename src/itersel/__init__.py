"""itersel: discriminative training of hierarchical translation systems on whole training corpora."""

__version__ = "0.1.0"
