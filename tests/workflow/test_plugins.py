"""A run with the learner and the template of docs/plugins.md."""

from tests.plugins import install_toy, python_path

from itersel.vectors.weights import read_itersel_weights

WEIGHTS = "results/tiny/experiments/selected/epoch-2/weights.h5"


def test_run_with_a_plugin(copy, root, tmp_path):
    """Texts and models are those of the run before; an edit of the package repeats what depends on it."""
    site = tmp_path / "site"
    install_toy(root, site)
    settings = {"PYTHONPATH": python_path(site), "PYTHONDONTWRITEBYTECODE": "1"}
    content = copy.config()
    content["experiments"]["selected"]["learner"] = {"name": "oracle", "learning_rate": 0.1}
    copy.configure(grammar={"templates": ["R", "Growth"]}, experiments=content["experiments"])

    def planned():
        output = copy.run("--quiet", "rules", "--dry-run", WEIGHTS, environment=settings, is_forked=False)
        lines = output.partition("Job stats:")[2].partition("\n\n")[0].splitlines()[3:]
        return {line.split()[0] for line in lines}

    copy.run("--cores", "2", WEIGHTS, environment=settings, is_forked=False)
    names = read_itersel_weights(copy.folder / WEIGHTS).to_dict()
    assert any(name.startswith("Growth:") for name in names)
    assert planned() == set()
    with (site / "toy/learner.py").open("a") as stream:
        stream.write("# edited\n")
    again = {"manifest_of_sentences", "extract_grammars", "manifest_of_trained_shards", "train_shard", "mix"}
    assert planned() == {*again, "total"}
