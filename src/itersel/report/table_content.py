"""The content of table.json (docs/formats.md): its test sets, their rows, and the scores of a system."""

from __future__ import annotations

from itersel.evaluate.names import METRICS, TOKENIZED_BLEU
from itersel.storage.text_table import Content


def all_test_sets(table: Content) -> list[Content]:
    """Return the test sets and, if there are several, all of them together."""
    return [*table["test_sets"], *([table["pooled"]] if table["pooled"] else [])]


def all_sentences(table: Content) -> Content:
    """Return all test sets together, or the only one."""
    test_set: Content = table["pooled"] or table["test_sets"][0]
    return test_set


def is_experiment(system: Content) -> bool:
    """Return whether a row is an experiment, not the output of another system."""
    return system["learner"] is not None


def score_of(system: Content, metric: str) -> Content | None:
    """Return a score of a row; `None` if the system lacks this one of the user's own scores."""
    scores: Content = system["scores"]
    return scores[metric] if metric in METRICS else scores.get(metric)


def main_metric(test_set: Content) -> str:
    """Return the metric by which the systems are compared: BLEU of detokenised text, if it was scored."""
    return "bleu" if "bleu" in test_set["signatures"] else TOKENIZED_BLEU


def metrics_of_text(test_set: Content) -> list[str]:
    """Return the metrics of detokenised text, and the user's own scores."""
    return [name for name in test_set["signatures"] if name != TOKENIZED_BLEU]


def user_metrics(test_set: Content) -> list[str]:
    """Return the names of the user's own scores."""
    return [name for name in test_set["signatures"] if name not in METRICS]


def devtest_metrics(test_set: Content) -> list[str]:
    """Return the metrics on devtest, if an epoch was chosen for these test sentences.

    They are tokenised BLEU and, if it is another one, the score by which the epochs were chosen.
    """
    system = next(filter(is_experiment, test_set["systems"]))
    return list(system.get("devtest", ()))
