"""Selection and mixing: from the weights of all shards to one weight vector."""
