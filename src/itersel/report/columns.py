"""Titles of columns in the table of systems; imports little, so commands read fast."""

from itersel.evaluate.names import TOKENIZED_BLEU, title_of

# Titles of the scores of tokenised text: the mean over the repeats, at the chosen epochs.
ON_TEST, ON_DEVTEST = (f"{split} {title_of(TOKENIZED_BLEU)}" for split in ("test", "devtest"))
# The columns before the scores, and those after them that do not apply to pooled test sets.
SETTINGS = ("learner", "mixing", "shards", "tuned on", "features")
OF_EPOCHS = (ON_DEVTEST, "epoch", "active features")
# The difference from the baseline in the main score.
DIFFERENCE = "difference"
# The columns that tables for papers can have: names as in TSV, and titles.
COLUMNS = {title.replace(" ", "_").lower(): title for title in (*SETTINGS, DIFFERENCE, *OF_EPOCHS)}
