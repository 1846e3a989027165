"""Template ShapeT: runs of terminals and nonterminals on the target side, ``Shape_T01100``."""

from __future__ import annotations

from itersel.compile.jit import inline_kernel
from itersel.grammar.template_kernels import Rules
from itersel.grammar.templates.shape_kernels import put_shape, shape_code
from itersel.storage.arrays import UInt8s


@inline_kernel
def put_name(name: UInt8s, rules: Rules, rule: int, slot: int) -> int:
    """Write the shape of a rule's target side."""
    return put_shape(name, rules, rule, True)


@inline_kernel
def name_code(rules: Rules, rule: int, slot: int) -> int:
    """Return the code of a shape."""
    return shape_code(rules, rule, True)
