"""What is made from what: the files and options of every job of a run, from its config alone.

Nothing here reads or writes files, except that sizes of texts are looked up. `Plan` is the whole; the rules
in workflow/rules name its methods that take wildcards.
"""

from itersel.plan.plan import Plan

__all__ = ["Plan"]
