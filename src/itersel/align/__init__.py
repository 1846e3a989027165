"""Word alignment: models by thot, symmetrisation, Pharaoh files."""
