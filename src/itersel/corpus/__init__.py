"""Parallel text: reading with checks, LibreOffice Help, preparation, splits, statistics."""
