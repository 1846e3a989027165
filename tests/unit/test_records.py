"""Records, which are dataclasses that itersel writes to JSON and reads again."""

import dataclasses
import json
import string
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.config.extraction import ExtractionSettings
from itersel.config.list_steps import GivenListSettings, RerankerSettings
from itersel.config.mbr import GAINS, MinimumRisk
from itersel.config.search import TranslationSettings
from itersel.corpus.compounds import CompoundSplitter
from itersel.corpus.prepare import Preparation
from itersel.corpus.recase import Recaser
from itersel.corpus.settings import Words
from itersel.evaluate.epochs import Decision
from itersel.storage.json_files import as_content, from_content
from itersel.system.chosen import ChosenSystem
from itersel.system.mbr import ChosenMbr
from itersel.system.resources import RerankerFiles, RerankerResources, TranslatorFiles, TranslatorResources

TEXT = st.text(string.ascii_letters + "ü\u00a0 '\"\\/", max_size=5)
TEXTS = st.lists(TEXT, max_size=2).map(tuple)
COUNTS = st.dictionaries(TEXT, st.integers(1, 9), max_size=3)
CONTEXTS = st.dictionaries(TEXT, COUNTS, max_size=3)
WORDS = st.builds(Words, TEXT, TEXT, st.booleans(), TEXTS)
SCORES = st.lists(st.floats(0, 100), max_size=3).map(tuple)
FEATURES = st.sampled_from(["dense", "all"])
MBR = st.builds(MinimumRisk, gain=st.sampled_from(GAINS), size=st.integers(2, 9))
TRANSLATION = st.builds(
    TranslationSettings,
    st.integers(1, 9),
    FEATURES,
    st.builds(ExtractionSettings, max_span=st.integers(1, 9), templates=st.just(("R", "RBS"))),
    st.none() | MBR,
)
RERANKING = st.builds(
    RerankerSettings,
    lists=st.builds(
        GivenListSettings,
        source_language=st.just("de"),
        target_language=st.just("en"),
        templates=st.just(("Lex",)),
        user_model_names=st.just(("x",)),
    ),
    features=FEATURES,
    dense_names=TEXTS,
    mbr=st.none() | MBR,
)
RERANKER_FILES = st.builds(RerankerFiles, st.tuples(TEXT, TEXT), TEXT, st.tuples(TEXT))
CHOSEN = {
    "settings": st.dictionaries(TEXT, TEXT | st.lists(st.integers())),
    **dict.fromkeys(("devtest_tokenized_bleu", "devtest_scores", "devtest_brevity_penalty"), SCORES),
    **{name: TEXT for name, kind in get_type_hints(ChosenSystem).items() if kind is str},
}
RECORDS = {
    Preparation: st.builds(
        Preparation, WORDS, st.none() | st.builds(CompoundSplitter, COUNTS), st.booleans()
    ),
    Recaser: st.builds(Recaser, CONTEXTS, CONTEXTS, CONTEXTS, st.booleans(), TEXT),
    Decision: st.builds(Decision, scores=SCORES, stopped=st.booleans()),
    TranslationSettings: TRANSLATION,
    RerankerSettings: RERANKING,
    TranslatorResources: st.builds(
        TranslatorResources, TRANSLATION, st.builds(TranslatorFiles, TEXT, TEXT, TEXT, TEXT)
    ),
    RerankerResources: st.builds(RerankerResources, RERANKING, TEXTS, RERANKER_FILES),
    ChosenMbr: st.builds(
        ChosenMbr, mbr=MBR, devtest=TEXT, chosen_by=TEXT, scales=SCORES, devtest_scores=SCORES
    ),
    ChosenSystem: st.builds(ChosenSystem, **CHOSEN),
}


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
@given(st.data())
def test_what_is_written_is_read(kind, data):
    record = data.draw(RECORDS[kind])
    content = json.loads(json.dumps(as_content(record)))
    assert from_content(kind, content) == record
    # of a newer version
    assert from_content(kind, {**content, "unknown": 1}) == record
    lost = data.draw(st.sampled_from(dataclasses.fields(kind))).name
    del content[lost]
    with pytest.raises(ValueError, match=lost):
        from_content(kind, content)
