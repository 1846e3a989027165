"""Names of sentence-level BLEUs, as settings have them; `itersel.bleu.sentence` computes them."""

from __future__ import annotations

# `chiang` depends on the preceding translations; lists of several iterations have no such order.
LIST_BLEUS = ("liang", "lin", "nakov", "papineni")
SENTENCE_BLEUS = (*LIST_BLEUS, "chiang")
