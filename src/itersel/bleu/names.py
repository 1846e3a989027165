"""Sentence-level BLEUs: their names in settings and their numbers in kernels.

`itersel.bleu.sentence` computes them. Imports nothing, so settings load without compiled code.
"""

from __future__ import annotations

LIANG, LIN, NAKOV, PAPINENI, CHIANG = range(5)
SENTENCE_BLEUS = {"liang": LIANG, "lin": LIN, "nakov": NAKOV, "papineni": PAPINENI, "chiang": CHIANG}
# `chiang` depends on the preceding translations; lists of several iterations have no such order.
LIST_BLEUS = tuple(name for name, number in SENTENCE_BLEUS.items() if number != CHIANG)
