"""Parallel text: validated reading, LibreOffice Help, preparation, splits, statistics."""
