"""Features and sparse weight vectors."""
