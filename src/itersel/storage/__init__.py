"""What is stored: the declared formats of binary files, and their checks."""
