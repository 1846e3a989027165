"""What is stored: files, HDF5, strings and ragged arrays, and the declared formats with their checks."""
