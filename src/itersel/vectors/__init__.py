"""What a feature and a weight vector is."""
