"""Words are the same in every step, whatever Unicode white space they contain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from tests.refusals import input_error

from itersel.cli.main import main
from itersel.corpus.blocks import corpus_blocks
from itersel.corpus.compounds import CompoundSplitter
from itersel.corpus.corpora import Corpus, Reading
from itersel.corpus.filters import trainable
from itersel.corpus.prepare import Preparation
from itersel.corpus.settings import Words
from itersel.corpus.statistics import count_words
from itersel.corpus.text import Bitext, split_words
from itersel.evaluate.metrics import HIDDEN, make_tokenized_bleu, score_corpus
from itersel.grammar.sentence_grammars import read_grammars
from itersel.grammar.text_format import parse_rule

# White space in Python, but not in cdec and KenLM.
SPACES = "\u00a0\u1680\u2000\u2003\u2009\u2028\u2029\u202f\u205f\u3000"
WORD = "10\u00a0km"


@given(st.lists(st.text(st.characters(exclude_characters=" \t", exclude_categories=["Cs"]), min_size=1)))
def test_words_round_trip(words):
    assert split_words(" ".join(words)) == words
    assert split_words("\t " + "\t ".join(words) + " \t") == words


@pytest.fixture
def corpus(tmp_path):
    """Return a folder with a corpus whose words contain every white-space character of Unicode."""
    source = [f"a {WORD} b", f"b {WORD}", *(f"x{space}y a" for space in SPACES)]
    target = [f"A {WORD} B", f"B {WORD}", *(f"X{space}Y A" for space in SPACES)]
    alignment = ["0-0 1-1 2-2", "0-0 1-1", *(["0-0 1-1"] * len(SPACES))]
    for name, lines in (("source", source), ("target", target), ("alignment", alignment)):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return tmp_path


def test_every_step_has_the_same_words(corpus):
    """Index, extraction, language model and decoder: all of them know all words."""
    (corpus / "weights").write_text("PassThrough -10\nLanguageModel 1\n")
    for step in (
        "grammar index --source %source --target %target --alignment %alignment --output %index",
        "grammar extract --index %index --input %source --reference %target --output %sentences.h5",
        "lm estimate --order 2 --input %target --output %lm.arpa",
        "lm compile --input %lm.arpa --output %lm.bin",
        "lm score --language-model %lm.bin --input %target --output %scores",
        "decode --sentences %sentences.h5 --language-model %lm.bin --weights %weights --k-best 1"
        " --output %out",
    ):
        assert main([word.replace("%", f"{corpus}/") for word in step.split()]) == 0
    grammars = read_grammars(corpus / "sentences.h5")
    assert grammars.sentence_count == 2 + len(SPACES)
    assert np.diff(grammars.source_offset).tolist() == [3, 2] + [2] * len(SPACES)
    assert {WORD, *(f"x{space}y" for space in SPACES)} <= set(grammars.vocabulary.to_list())
    unknown = [line.split("\t")[1] for line in (corpus / "scores").read_text().splitlines()]
    assert unknown == ["0"] * (2 + len(SPACES))
    lines = [line.split(" ||| ") for line in (corpus / "out").read_text("utf-8").split("\n")[:-1]]
    assert [text for _, text, *_ in lines] == (corpus / "target").read_text("utf-8").split("\n")[:-1]
    for _, _, features, _ in lines:
        assert "PassThrough" not in features
        assert "LanguageModel_OOV" not in features


def test_rules_and_features_of_text_grammars():
    rule = parse_rule(f"[X] ||| {WORD} ||| x\u3000y ||| SourcePath:a\u00a0b=1 CountEF=2 ||| 0-0")
    assert (rule.source, rule.target) == ((WORD,), ("x\u3000y",))
    assert rule.features == {"SourcePath:a\u00a0b": 1.0, "CountEF": 2.0}


def test_tokenised_text_keeps_its_words():
    """The user's alignments refer to them."""
    prepared = Preparation(Words("de", "en", tokenized=True)).source([f"A  {WORD}\u3000B c "])
    assert prepared == [f"a {WORD}\u3000b c"]
    assert count_words(prepared) == {"tokens": 3, "types": 3}
    kept, dropped = trainable(Bitext(prepared, ["a b c"]), 3, 1.0)
    assert (kept, dropped["too long"]) == ([0], 0)
    assert CompoundSplitter({}).split_sentence(prepared[0]) == prepared[0]


def test_raw_text_gets_plain_spaces():
    [prepared] = Preparation(Words("de", "en")).source(["a".join(SPACES)])
    assert split_words(prepared) == ["a"] * (len(SPACES) - 1)
    assert prepared == " ".join(split_words(prepared))
    assert prepared.split() == split_words(prepared)


def test_points_count_the_same_words(corpus):
    files = {side: (str(corpus / side),) for side in ("source", "target", "alignment")}
    [bitext] = corpus_blocks([Corpus(**files)], Reading("de", "en"))
    assert bitext.alignment is not None
    assert bitext.alignment[0] == "0-0 1-1 2-2"
    (corpus / "alignment").write_text("0-0\n" + "2-0\n" * (1 + len(SPACES)))
    with input_error("alignment:2:", "2-0", 2):
        list(corpus_blocks([Corpus(**files)], Reading("de", "en")))


def test_alignment_of_words_with_spaces(corpus):
    files = [f"--{name}={corpus / name}" for name in ("source", "target", "output")]
    assert main(["align", *files]) == 0
    lengths = [len(split_words(line)) for line in (corpus / "source").read_text("utf-8").split("\n")]
    for length, line in zip(lengths, (corpus / "output").read_text().splitlines(), strict=False):
        assert all(int(point.split("-")[0]) < length for point in line.split())


def test_bleu_of_words_as_they_are():
    """With --retokenize none, a word with a no-break space is a single word, parts of which do not match."""
    assert all(chr(code).isspace() == (code in HIDDEN or chr(code) in " \t") for code in range(0x110000))
    metric = make_tokenized_bleu([[f"a b c {WORD} d e f"]], "none")
    same, other = (score_corpus(metric, [f"a b c {word} d e f"]) for word in (WORD, "10\u00a0miles"))
    assert (same.length, same.reference_length, same.bleu) == (7, 7, pytest.approx(100))
    assert (other.length, other.precisions[0]) == (7, pytest.approx(600 / 7))
    plain = BLEU(lowercase=True, tokenize="none", smooth_method="none", force=True)
    plain.corpus_score(["a"], [["a"]])
    assert metric.signature == str(plain.get_signature().format())
