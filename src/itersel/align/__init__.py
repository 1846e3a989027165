"""Word alignment: sampling, symmetrisation, Pharaoh files."""
