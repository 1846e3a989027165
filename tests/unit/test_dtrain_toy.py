"""The toy example of dtrain (Simianer et al. 2012), with its syntactic grammar, through the command line.

cdec has it in training/dtrain/examples/toy: two sentences, 4-best lists of distinct strings, BLEU without
smoothing, all pairs, learning rate 1, two epochs. It includes dtrain's output: DTRAIN below.

By hand: a sentence has five translations, i saw a {small, little} {house, shell}, and the words copied with
five PassThrough and four Glue rules. With all weights zero, ties decide which four are listed. The first
epoch has 8 pairs, 5 of the second sentence and 3 of the first, whose list must lack "i saw a little shell",
with BLEU 0.2 ^ (1/4); the others besides the reference have 0. All leads are 0, so the updates add up to

    3 (little house) - (small house) - (small shell) - (copied)
        = 3 little_rule + 2 house_rule - 2 small_rule - shell_rule - 4 Glue - 5 PassThrough

Then the four from the grammar have scores 5, 2, 0 and -3, BLEU 1, 0.2 ^ (1/4), 0 and 0: no pair is wrong.
"""

import h5py
import pytest
from tests.steps import settings
from tests.systems import itersel

from itersel.grammar.sparse import COMPUTED_FEATURE
from itersel.vectors.weights import read_itersel_weights

SOURCE = ("ich sah ein kleines haus", "ich fand ein kleines haus")
TARGET = ("i saw a little house", "i found a little house")
GRAMMAR = (
    "[S] ||| [NP,1] [VP,2] ||| [1] [2] ||| logp=0",
    "[NP] ||| ich ||| i ||| logp=0",
    "[NP] ||| ein [NN,1] ||| a [1] ||| logp=0",
    "[NN] ||| [JJ,1] haus ||| [1] house ||| logp=0 house_rule=1",
    "[NN] ||| [JJ,1] haus ||| [1] shell ||| logp=0 shell_rule=1",
    "[JJ] ||| kleines ||| small ||| logp=0 small_rule=1",
    "[JJ] ||| kleines ||| little ||| logp=0 little_rule=1",
    "[JJ] ||| grosses ||| big ||| logp=0",
    "[JJ] ||| grosses ||| large ||| logp=0",
    "[VP] ||| [V,1] [NP,2] ||| [1] [2] ||| logp=0",
    "[V] ||| sah ||| saw ||| logp=0",
    "[V] ||| fand ||| found ||| logp=0",
)
# dtrain uses no language model here; a model in which every word has probability 1 has the same effect.
WORDS = sorted({word for line in (*SOURCE, *TARGET) for word in line.split()} | {"small", "shell"})
ARPA = (
    *("\\data\\", f"ngram 1={len(WORDS) + 3}", "", "\\1-grams:"),
    *(f"0\t{word}" for word in ("<unk>", "<s>", "</s>", *WORDS)),
    *("", "\\end\\"),
)
LEARNER = {
    "name": "perceptron",
    "sentence_bleu": "papineni",
    "pairs": "all",
    "update": "sentence",
    "learning_rate": 1,
}
DTRAIN = {"house_rule": 2.0, "little_rule": 3.0, "small_rule": -2.0, "shell_rule": -1.0}
DTRAIN |= {"Glue": -4.0, "PassThrough": -5.0}
# Means of two sentences as dtrain printed them: BLEU of the best translations, pairs, pairs ranked wrongly.
DTRAIN_EPOCHS = [(50, 4, 1.5), (100, 5, 0)]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """Return a folder with the grammars and the language model."""
    folder = tmp_path_factory.mktemp("toy")
    for name, lines in (("source", SOURCE), ("target", TARGET), ("grammar", GRAMMAR), ("arpa", ARPA)):
        (folder / name).write_text("".join(line + "\n" for line in lines))
    texts = ("--input", folder / "source", "--reference", folder / "target", "--grammar", folder / "grammar")
    itersel("grammar", "import", *texts, "--output", folder / "sentences.h5")
    itersel("lm", "compile", "--input", folder / "arpa", "--output", folder / "lm")
    return folder


def train(folder, epoch):
    """Train an epoch; returns the weights that dtrain also has, and the means."""
    output = folder / f"{epoch}.h5"
    files = ("--sentences", folder / "sentences.h5", "--language-model", folder / "lm", "--output", output)
    start = ("--start", folder / f"{epoch - 1}.h5") if epoch > 1 else ()
    itersel("train", *files, *start, "--epoch", epoch, *settings(k_best=4, learner=LEARNER))
    weights = read_itersel_weights(output).to_dict()
    with h5py.File(output) as stream:
        means = stream.attrs["mean_quality"], stream.attrs["pairs"] / 2, stream.attrs["updates"] / 2
    return {name: weights[name] for name in weights if not COMPUTED_FEATURE.match(name)}, means


def test_weights_equal_dtrain(toy):
    for epoch, means in enumerate(DTRAIN_EPOCHS, 1):
        assert train(toy, epoch) == (DTRAIN, means)
