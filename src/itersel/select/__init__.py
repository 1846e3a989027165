"""Selection and mixing: combines the weights of all shards into one weight vector."""
