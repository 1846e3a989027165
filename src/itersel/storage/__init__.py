"""Storage: text files, HDF5, strings and ragged arrays, and declared formats with their checks."""
