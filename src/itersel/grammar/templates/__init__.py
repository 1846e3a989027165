"""Templates of sparse features (docs/features.md): kernels that find a rule's features and write their names.

Each has a module, whose name is that in `itersel.vectors.feature_names`, in lower case.
`itersel.grammar.templates.generate` says which kernels it has.
"""
