"""Word alignment: sampling, its models, symmetrisation."""
