"""Titles of columns in the table of systems; imports little, so that commands load quickly."""

from itersel.evaluate.names import TOKENIZED_BLEU, title_of


def title_on_test(metric: str) -> str:
    """Return the title of a score on test; that of tokenized BLEU, which devtest also has, says so."""
    title = title_of(metric)
    return f"test {title}" if metric == TOKENIZED_BLEU else title


def title_on_devtest(metric: str) -> str:
    """Return the title of a score on devtest, at the chosen epochs."""
    return f"devtest {title_of(metric)}"


# Titles of the scores of tokenised text: the mean over the repeats.
ON_TEST, ON_DEVTEST = title_on_test(TOKENIZED_BLEU), title_on_devtest(TOKENIZED_BLEU)
# The columns before the scores, and those after them that do not apply to pooled test sets.
SETTINGS = ("learner", "mixing", "shards", "tuned on", "features")
OF_EPOCHS = (ON_DEVTEST, "epoch", "active features")
# The difference from the baseline in the main score.
DIFFERENCE = "difference"
# Titles of the columns that are not numbers.
WORDS = ("experiment", "learner", "mixing", "tuned on", "features", "differs from")
# The columns that tables for papers can have: names as in TSV, and titles.
COLUMNS = {title.replace(" ", "_").lower(): title for title in (*SETTINGS, DIFFERENCE, *OF_EPOCHS)}
