"""docs/other-decoders.md: its first example, on recorded lists. The run is only planned."""

import re
import textwrap

from itersel.cli.main import main
from itersel.storage.files import read_lines, write_lines

# names of the page, and of the recorded text
SPLITS = {"train": "train", "dev": "dev", "devtest": "devtest", "test": "devtest"}


def test_first_example(root, parity, make_project, monkeypatch, capsys):
    project = make_project()
    page = (root / "docs/other-decoders.md").read_text()
    example = page.partition("A neural system and a corpus")[2]
    config, command = re.findall(r"\n\n((?:    .*\n)+)", example)[:2]
    (project.folder / "config.yaml").write_text(textwrap.dedent(config))
    for split, recorded in SPLITS.items():
        for ending in ("pt", "en", "nbest"):
            write_lines(
                project.folder / f"{split}.{ending}", read_lines(parity / f"neural/{recorded}.{ending}.gz")
            )

    monkeypatch.chdir(project.folder)
    assert main(["config", "check", "config.yaml"]) == 0
    found = re.findall(r"(\w+): (\d+) sentences, ([\d,]+) translations", capsys.readouterr().out)
    assert [split for split, *_ in found] == list(SPLITS)
    assert {sentences for _, sentences, _ in found} == {"300", "600"}

    # the command after the run names a system that the run makes
    system = re.search(r"--system (\S+)", command)[1]
    assert project.planned(f"{system}/system.json")["train_shard"] == 4 * 3
