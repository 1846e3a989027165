"""Memory and time that jobs request."""

import gzip
import re
from pathlib import Path

import pytest

from itersel.config.reading import load_config, read_config
from itersel.plan import requests
from itersel.plan.requests import TextSizes, list_sizes, rules_per_word, text_sizes

# 1.66 million pairs, and one of 2,290 shards; 100 MB of lists; 10 lists of the 100 best translations of 1,029
# sentences; 2,000 sentences translated by 700 systems
PAPER = TextSizes(47e6, 47e6, 20.5e3, 1e8, 1.029e6, 1.4e6)
# peak memory in MB, as in docs/scale.md
MEASURED = {"prepare_train": 5860, "align_direction": 3020, "index_corpus": 3460, "divide_corpus": 1220}
MEASURED |= {"estimate_language_model": 640, "compile_language_model": 1360, "estimate_fold_model": 1730}
MEASURED |= {"extract_grammars": 4370, "train_shard": 4380, "tune": 3700, "compare_systems": 1360}


def config_of(folder, train=None, **more):
    """Return a config whose texts are files of 1,000 pairs of three words."""
    text = {side: str(folder / f"{side}.txt") for side in ("source", "target")}
    for path in text.values():
        Path(path).write_text("abcde abcde abcde\n" * 1000)
    data = {"kind": "files", **dict.fromkeys(("dev", "devtest", "test"), text), "train": train or text}
    data |= {"source_language": "de", "target_language": "en", **more.pop("data", {})}
    experiment = {
        "algorithm": "itersel",
        "tasks": {"name": "random", "shards": 2},
        "retune": {"tuner": {"name": "none"}},
    }
    return read_config({"name": "x", "data": data, "experiments": {"x": experiment}} | more)


def requests_of_rules(root, text):
    """Return what rules request, as their source says."""
    source = "\n".join(path.read_text() for path in sorted((root / "workflow/rules").glob("*.smk")))
    _, *parts = re.split(r"^ *(?:use )?rule .*?(\w+)(?: with)?:$", source, flags=re.MULTILINE)
    found = zip(parts[::2], parts[1::2], strict=True)
    written = {name: re.search(r"\*\*(SIZES\..*),$", body, re.MULTILINE) for name, body in found}
    assert sum(map(bool, written.values())) == source.count("**SIZES.")
    names = {"SIZES": text, "SYSTEMS": 1, "PIECES": 1}
    return {name: eval(match[1], names) for name, match in written.items() if match}


def test_requests_cover_what_was_measured(root):
    asked = requests_of_rules(root, PAPER)
    assert asked.keys() >= {"mix", "tune", "describe_selection", "compare_tasks", "write_page"}
    for name, memory in MEASURED.items():
        assert 1.25 * memory <= asked[name]["mem_mb"] <= 5 * memory, name


@pytest.mark.parametrize("field", TextSizes._fields)
def test_requests_grow_with_each_size(root, field):
    before = requests_of_rules(root, PAPER)
    after = requests_of_rules(root, PAPER._replace(**{field: 10 * getattr(PAPER, field)}))
    assert all(after[name]["mem_mb"] >= before[name]["mem_mb"] for name in before)
    grown = {name for name in before if after[name] != before[name]}
    models = {"estimate_language_model", "compile_language_model", "estimate_fold_model"}
    readers = {"train_shard", "write_tuning_files", "decode_piece", "choose_scale"}
    if field == "train":
        assert {"extract_grammars", *readers, "align_direction", "index_corpus", "divide_corpus"} <= grown
        assert not models & grown
    else:
        grammars, lists = {"extract_grammars", *readers}, {"import_lists", *readers}
        tables = {"compare_systems", "compare_tasks"}
        expected = {
            # those of the user, with lists, are among them
            "language_model": {*models, "compile_user_language_model", "import_lists"},
            "grammars": grammars,
            "lists": lists,
            "compared": tables,
            "tuned": {"tune"},
        }
        assert grown == expected[field]


def test_sizes_follow_from_files(tmp_path):
    assert text_sizes(config_of(tmp_path), "") == TextSizes(3000, 3000, 3000, compared=120)
    assert text_sizes(config_of(tmp_path, decoder={"pieces": 6}), "") == TextSizes(
        3000, 3000, 1500, compared=120
    )
    limited = config_of(tmp_path, data={"max_train": 40, "max_held_out": 20})
    assert text_sizes(limited, "") == TextSizes(1000, 1000, 500, compared=20)
    packed = tmp_path / "packed.gz"
    packed.write_bytes(gzip.compress(b"".join(b"%d hello\n" % number for number in range(30_000))))
    sizes = text_sizes(config_of(tmp_path, {"source": str(packed), "target": str(packed)}), "")
    assert 30_000 < sizes.train < 90_000
    assert sizes.grammars == sizes.train / 2


def test_sizes_of_lists(tmp_path):
    """Of the largest shard: here half of train, and one of the two files of devtest."""
    (tmp_path / "0").write_bytes(bytes(3000))
    (tmp_path / "1.gz").write_bytes(bytes(2000))
    small, large = ({"lists": str(path), "target": "x"} for path in (tmp_path / "0", tmp_path))
    for devtest, size in (small, 1500), (large, (3000 + 10 * 2000) / 3):
        texts = dict.fromkeys(("train", "dev", "test"), small) | {"devtest": devtest}
        experiments = {"x": {"tasks": {"name": "random", "shards": 2}, "learner": {"name": "mira"}}}
        content = {"data": {"kind": "lists", **texts}, "experiments": experiments, "decoder": {"pieces": 3}}
        sizes = list_sizes(read_config(content))
        assert sizes._replace(compared=0, tuned=0) == TextSizes(0, 0, 0, size)
        # the experiment and the decoder's own first entries
        assert sizes.compared == pytest.approx(2 * 3000 / 300 / 100)
    assert TextSizes(0, 0, 0, 1e9).request_to_decode(60)["mem_mb"] > 2000


def test_translations_that_tuners_read(tmp_path):
    """All lists of all iterations, those of the tuner that has most."""

    def sizes(**experiment):
        content = {
            "tasks": {"name": "random", "shards": 2},
            "retune": {"tuner": {"name": "none"}},
        } | experiment
        return text_sizes(config_of(tmp_path, decoder={"k_best": 50}, experiments={"x": content}), "")

    assert sizes(learner={"name": "mira"}).tuned == 0
    pro = {
        "learner": {"name": "pro"},
        "tune_on": "dev",
        "tasks": {"name": "random", "shards": 1},
        "epochs": 4,
    }
    assert sizes(**pro).tuned == 120 * 50 * 4
    assert sizes(**pro, k_best=100).tuned == 2 * sizes(**pro).tuned
    assert sizes(**pro, features="dense").tuned < sizes(**pro).tuned
    retune = {"tuner": {"name": "kbest-mira"}, "iterations": 3}
    assert sizes(learner={"name": "mira"}, retune=retune).tuned == pytest.approx(0.1 * 120 * 50 * 3)


def test_text_of_the_language_model(tmp_path):
    (tmp_path / "more").write_text("abcde\n" * 5000)
    config = config_of(tmp_path, data={"monolingual": [str(tmp_path / "more")]})
    assert text_sizes(config, "").language_model == 3000 + 5000
    arpa = tmp_path / "lm.arpa"
    arpa.write_bytes(bytes(1_000_000))
    assert text_sizes(config_of(tmp_path, language_model={"arpa": str(arpa)}), "").language_model == 50_000


def test_downloads_count_as_large_until_they_are_there(root, tmp_path):
    config = config_of(tmp_path, {"mtdata": "Statmt-europarl-7-deu-eng"})
    sizes = text_sizes(config, str(tmp_path))
    assert sizes.train == requests.DOWNLOAD_WORDS
    asked = requests_of_rules(root, sizes._replace(tuned=PAPER.tuned))
    for name, memory in MEASURED.items():
        assert 1.25 * memory <= asked[name]["mem_mb"] <= 9000, name
    (tmp_path / "train").mkdir()
    for side in ("source", "target"):
        (tmp_path / f"train/{side}.gz").write_bytes(gzip.compress(b"a b c\n", 0))
    assert 0 < text_sizes(config, str(tmp_path)).train < 100


def test_large_text_to_translate_in_one_piece(tmp_path):
    """The grammars of a held-out text can be larger than those of any shard."""
    config = config_of(tmp_path, data={"cut": {"devtest": 3000}, "devtest": {}})
    assert text_sizes(config, "").grammars == requests.HELD_OUT_WORDS
    rules = rules_per_word(3000 / 25) * requests.HELD_OUT_WORDS / 1e6
    assert rules_per_word(1.66e6) > 5 * rules_per_word(30_000)
    assert text_sizes(config, "").request_to_decode(60)["mem_mb"] >= max(2000, 150 * rules)


@pytest.mark.parametrize("name", ["config.yaml", "experiments/europarl.yaml"])
def test_configs_of_the_project(root, name):
    asked = requests_of_rules(root, text_sizes(load_config(root / name), ""))
    assert all(2000 <= one["mem_mb"] <= 10_000 for one in asked.values())
