"""Files generated from the declared options: schema, documentation, commented YAML."""

import dataclasses

import yaml
from tests.configs import PAIR, files, schema
from tests.limited import limited

from itersel.cli.main import main
from itersel.config.generate import commented_config
from itersel.config.reading import load_config, read_config
from itersel.config.rendering import commented_yaml, documentation
from itersel.config.values import Config, Experiment

SCHEMA = "workflow/schemas/config.schema.json"


def test_generated_files_are_up_to_date(root):
    files = {"docs/config.md": documentation(), "config.yaml": commented_config()}
    for path, text in files.items():
        assert (root / path).read_text() == text, f"make {path} anew with `make generated`"


def test_documentation_names_every_key():
    text = documentation()
    for item in (*dataclasses.fields(Config), *dataclasses.fields(Experiment)):
        if item.default is not dataclasses.MISSING:
            assert f"| `{item.name}` |" in text
    assert "## `data.train`" in text


def test_configs_of_the_project(root):
    paths = [root / "config.yaml", *(root / "experiments").glob("*.yaml")]
    assert len(paths) >= 3
    for path in paths:
        schema().validate(yaml.safe_load(path.read_text()))
        config = load_config(path)
        assert yaml.safe_load(commented_yaml(config, SCHEMA))["name"] == config.name


def test_language_pairs_differ_in_nothing_else(root):
    base, *pairs = sorted((root / "experiments/language-pairs").glob("*.yaml"))
    settings = yaml.safe_load(base.read_text())
    assert len(pairs) == 6
    for path in pairs:
        pair = yaml.safe_load(path.read_text())
        assert pair == {"name": f"{path.stem}-en", "data": {"source_language": path.stem}}
        whole = {**settings, "name": pair["name"], "data": {**settings["data"], **pair["data"]}}
        schema().validate(whole)
        assert load_config(base, path) == read_config(whole)
        assert len(read_config(whole).experiments) == 6


def test_commented_yaml_keeps_all_values():
    own = {"source": "s", "target": ["t", "u"], "devtest": {"source": "v", "target": "w"}}
    several = {
        "a": {"learner": {"name": "mira", "c": 1e-7}},
        "yes": {"mixing": {"name": "selection", "threshold": 0.25}},
        "c": {"algorithm": "sgd", "learner": {"name": "adagrad"}},
    }
    outputs = {"evaluation": {"outputs": {"online": "a b", "no": ["c"]}}}
    for content in (
        files(test={"home": PAIR, "news": own}),
        files(test=PAIR),
        files(compound_splitting=True) | outputs | {"name": "x", "experiments": several},
    ):
        config = read_config(content)
        written = yaml.safe_load(commented_yaml(config, SCHEMA))
        assert read_config(written) == config
        schema().validate(written)


def test_commands_print(tmp_path, capsys, root):
    assert main(["config", "schema"]) == 0
    made = (root / SCHEMA).read_text()
    assert capsys.readouterr().out == made, f"make {SCHEMA} anew with `make generated`"
    assert main(["config", "documentation", "--output", str(tmp_path / "doc.md")]) == 0
    assert (tmp_path / "doc.md").read_text() == documentation()


def test_forms_load_neither_numpy_nor_kernels():
    """Commands that only read a config would take twice as long."""
    code = "import sys; from itersel.config.tuners import ALL_TUNERS; "
    code += "from itersel.config.values import ALL_LEARNERS; dict(ALL_LEARNERS), dict(ALL_TUNERS)"
    loaded = limited(program=["-c", f"{code}; print(*sys.modules)"]).stdout.split()
    assert "itersel.learn.learners.mira" in loaded
    assert "itersel.tune.tuners.pro" in loaded
    assert not {"numpy", "numba", "scipy"} & set(loaded)
