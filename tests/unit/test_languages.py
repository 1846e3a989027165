"""Codes of languages."""

import contextlib
import re

import pytest
from tests.configs import schema
from tests.refusals import input_error

from itersel.cli.main import main
from itersel.config.data import Data
from itersel.config.reading import read_config
from itersel.config.sections import read_section
from itersel.corpus.languages import LANGUAGE_PATTERN, usual_code
from itersel.evaluate.tokenizers import tokenizer_of


@pytest.mark.parametrize(
    ("code", "usual"),
    [
        ("de", "de"),
        ("ger", "de"),
        ("DEU", "de"),
        ("zho_Hant", "zh-hant"),
        ("cmn", "zh"),
        ("en_US", "en-us"),
        ("por-BR", "pt-br"),
        ("iw", "he"),
        ("dsb", "dsb"),
    ],
)
def test_usual_code(code, usual):
    assert usual_code(code) == usual
    assert usual_code(usual) == usual


def test_text_that_is_no_code_stays_wrong():
    for text in ("", "d", "german", "de de", "de-", "-de", "\N{LATIN SMALL LETTER SHARP S}s"):
        assert not re.fullmatch(LANGUAGE_PATTERN, usual_code(text)), text


@pytest.mark.parametrize("code", ["DE", "pt_BR", "zho_Hant", "deu", "en-us", "german", "d", "pt BR", "de_"])
def test_the_schema_accepts_what_configs_accept(code):
    content = {"data": {"source_language": code}, "experiments": {"one": {}}}
    accepted = re.fullmatch(LANGUAGE_PATTERN, usual_code(code)) is not None
    assert schema().is_valid(content) == accepted
    with contextlib.nullcontext() if accepted else input_error("data.source_language", code):
        read_config(content)


def test_other_codes_mean_the_same_in_a_config():
    found = [
        read_section(Data, {"source_language": source, "target_language": target})
        for source, target in (("deu", "jpn"), ("de", "ja"), ("DE", "ja"))
    ]
    assert found[0] == found[1] == found[2]
    assert tokenizer_of(found[0].target_language) == "ja-mecab"


def test_other_codes_mean_the_same_in_commands(tmp_path):
    (tmp_path / "s").write_text("3. Mai z.B. um 8\n")
    (tmp_path / "t").write_text("l'\u00e9t\u00e9 d'aujourd'hui\n")
    for name, languages in {"short": ("de", "fr"), "long": ("ger", "FRA")}.items():
        command = ["corpus", "prepare", "--split", "train", "--output", str(tmp_path / name)]
        for side, text, language in zip(("source", "target"), ("s", "t"), languages, strict=True):
            command += [f"--{side}", str(tmp_path / text), f"--{side}-language", language]
        assert main(command) == 0
    short, long = (
        [path.read_bytes() for path in sorted((tmp_path / name).iterdir())] for name in ("short", "long")
    )
    assert short == long
