"""Templates of sparse features, a module each: a kernel that counts slots, and one that writes a name.

A *slot* is an occurrence of a feature in a rule. `itersel.grammar.sparse_kernels` knows the templates by
number, their place in `itersel.limits.TEMPLATES`.
"""
