"""Scores of the translations of a text after each epoch."""

from itersel.evaluate import epoch_scores
from itersel.evaluate.epoch_scores import read_epochs, score_epochs


def test_only_the_translations_of_one_epoch_are_in_memory(text_file, monkeypatch):
    """However many epochs there are: a file is read when the previous one has been scored."""
    lines = ["a b c d e", "f g h i j"]
    done = []

    def recorded(name):
        function = getattr(epoch_scores, name)

        def call(*arguments):
            done.append(name)
            return function(*arguments)

        monkeypatch.setattr(epoch_scores, name, call)

    recorded("read_translations")
    recorded("score_corpus")
    paths = [text_file(f"t{epoch}", [lines[0], f"f g h i {epoch}"]) for epoch in range(3)]
    scores = score_epochs(read_epochs(paths, [text_file("ref", lines)]), "none")
    assert done == ["read_translations", "score_corpus"] * 3
    assert scores.deciding_scores == tuple(score.bleu for score in scores.tokenized_bleu)


def test_what_a_scorer_gets(text_file):
    """The lines of a task with their numbers, of one epoch after the other."""
    lines = ["a b c d e", "f g h i j", "k l m n o"]
    paths = [text_file(f"t{epoch}", [f"{line} {epoch}" for line in lines]) for epoch in range(2)]
    labels = text_file("labels", ["x", "y", "x"])
    texts = read_epochs(paths, [text_file("ref", lines)], labels=labels, task="x")
    given = []

    def score(translations):
        given.append(translations)
        return len(given)

    scores = score_epochs(texts, "none", score)
    assert scores.deciding_scores == (1, 2)
    assert given == [
        (path, [0, 2], [f"a b c d e {epoch}", f"k l m n o {epoch}"]) for epoch, path in enumerate(paths)
    ]
