"""Features of text for n-best lists of any decoder, and the models that they need."""
