"""Language models: estimation, ARPA files, compiled models, states of chart items."""
