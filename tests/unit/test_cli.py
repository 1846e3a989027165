"""The command line as a whole: syntax that scripts rely on, help, exit statuses."""

import argparse
import os
import re
import subprocess
import sys
from unittest.mock import Mock

import pytest
from tests.limited import limited
from tests.refusals import check_facts

import itersel
import itersel.cli.weights
from itersel.cli.commands import ListedParser, add_command
from itersel.cli.main import COMMANDS, FOR_PEOPLE, STEPS, main
from itersel.cli.parser import Parser
from itersel.code.digests import used_modules

NAMES = [*([name] for name in COMMANDS if name != "step"), *(["step", name] for name in STEPS)]


@pytest.mark.parametrize("words", NAMES, ids=" ".join)
def test_help_explains_every_option(words, capsys):
    module, _ = (STEPS if words[0] == "step" else COMMANDS)[words[-1]]
    parsers = [Parser()]
    command = add_command(parsers[0], words[-1], module)
    for current in parsers:
        for action in current._actions:
            if isinstance(action, argparse._SubParsersAction):
                parsers += action.choices.values()
            else:
                assert action.help, f"{current.prog} {action.dest} has no help"
    assert main([*words, "--help"]) == 0
    assert f"usage: itersel {' '.join(words)}" in capsys.readouterr().out
    if getattr(command, "RUNS_KERNELS", True):
        parts = [one for one in getattr(command, "PARTS", ()) if one.split()[0] == words[-1]]
        assert any("kernels" in name for one in parts or [" ".join(words)] for name in used_modules(one))


def test_help_lists_all_commands(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    people, _, workflow = out.partition("\ncommands:\n")[2].partition("\ncommands of the workflow:\n")
    assert re.findall(r"(?m)^  (\S+)", people) == list(FOR_PEOPLE)
    assert sorted([*re.findall(r"(?m)^  (\S+)", workflow), *FOR_PEOPLE]) == sorted(COMMANDS)
    assert main(["step", "--help"]) == 0
    assert re.findall(r"(?m)^    (\S+)", capsys.readouterr().out) == list(STEPS)
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"itersel {itersel.__version__}\n"


def test_parsers_that_are_initialised_late_keep_what_has_been_set():
    parser = ListedParser(prog="itersel lm", description="as it is listed")
    parser.description = "in full"
    parser.add_argument("--order")
    assert (parser.prog, parser.description) == ("itersel lm", "in full")
    assert parser.parse_args(["--order", "3"]).order == "3"
    with pytest.raises(AttributeError):
        _ = parser.no_attribute


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        ("", "COMMAND"),
        ("step", "STEP"),
        ("bleu", "--reference, SYSTEM"),
        ("bleu --reference a b --no-such-option", "--no-such-option"),
        ("translat", ("'translat'", "'translate'")),
        ("weights shwo", ("'shwo'", "'show'")),
        ("step mixx", ("'mixx'", "'mix'")),
        ("step mix --inputs a --previous b c --output d", ": c"),
        ("compare --reference a --trials x b c", ("--trials:", "'x'", 1)),
        ("weights export w.h5 --output .", ("--output:", "'.'")),
        ("weights export w.h5 --output new/", ("--output:", "'new/'")),
        ("tune --tuner pro --nbest a --output b --passes 3", "--passes 3"),
        ("tune --tuner pro --nbest a --output b --strength nan", ("--strength:", "'nan'")),
        ("tune --tuner kbest-mira --nbest a --output b --c 0", ("--c:", "'0'")),
        ("tune --tuner pro --nbest a --output b --sentence-bleu some", ("--sentence-bleu:", "'some'")),
        ("tune --tuner pro --nbest a --output b --interpolation 2", ("--interpolation:", "'2'", 1)),
        ("tune --tuner pro --nbest a --output b --strength -1", ("--strength:", "'-1'", 0)),
        (
            "decode --sentences a --language-model b --weights c --k-best 1000000000",
            ("--k-best:", "'1000000000'"),
        ),
        ("train --sentences a --weights=b --output c", ("--weights", "--start")),
        ("corpus prepare --source a --target b --task c --output d", ("--task", "--labels")),
        ("corpus references --split test --target a --output d", ("--target", "--reference")),
        ("step shard --nbest a --output b", ("shard", "divide")),
        ("train --shard a --language-model b --output c", ("--shard", "--sentences")),
        ("grammar export --shard=a --output b", ("--shard", "--sentences")),
        ("step kbest --sentences a --weights b --output c", ("--weights", "--start")),
        ("step join --task a --output b", ("--task", "--labels")),
        ("step kbest --sentences a --shard-number=1 --output b", ("--shard-number", "--file-number")),
        ("translate --system=a --jobs=2", ("--jobs", "--processes")),
        ("step lists --folder a --file-number 1 --output b", ("--folder", "--divided-lists")),
        ("step lists --divided-lists a --shard-number 1 --output b", ("--shard-number", "--file-number")),
        ("compare --reference a --scores b=c d e", ("--scores", "--user-score")),
        ("decode --sentences a --weights b --mbr none", ("--mbr:", "'none'", "--no-mbr")),
        ("tune --tuner pro --nbest a --output b --bleu lin", ("--bleu", "--sentence-bleu")),
        ("train --sentences a --language-model b --output c --epoch 1_0", ("--epoch:", "'1_0'")),
        ("align --source a --target b --output c --direction x", ("--direction:", "'x'")),
        ("lm estimate --ord 3 --input a --output b", ": --ord 3"),
        ("lm estimate --order 3 --input a --leave-out b --fold 2/2 --output c", ("--fold:", "'2/2'")),
        ("lm estimate --order 3 --input a --leave-out b --fold 0/1 --output c", ("--fold:", "'0/1'")),
        ("translate --system a --processes 0", ("--processes:", "'0'", 1, 256)),
        ("decode --sentences a --language-model b --weights c --k-best 0", ("--k-best:", "'0'", 1, 10000)),
        ("translate --system a --k-best 0", ("--k-best:", "'0'", 1, 10000)),
        ("--print-completion tcl", "'tcl'"),
    ],
)  # fmt: skip
def test_bad_arguments_are_usage_errors(arguments, facts, tmp_path, monkeypatch, misused):
    monkeypatch.chdir(tmp_path)
    misused(arguments.split(), facts)
    assert not list(tmp_path.iterdir())


def test_a_run_in_an_empty_folder(tmp_path):
    done = limited("run", cwd=tmp_path)
    assert done.returncode == 1
    check_facts(done.stderr, "itersel run:", "config.yaml", "'itersel init DIR'")


def test_known_errors_are_one_line(tmp_path, refused):
    (tmp_path / "latin1").write_bytes(b"fine\nf\xe4hig\n")
    for name, place in (
        ("latin1", "latin1:2:"),
        ("missing", "missing:"),
        ("a\nb\x1b[31m\u2028c", "a\\nb\\x1b[31m\\u2028c:"),
    ):
        refused(["bleu", "--reference", tmp_path / name, "x"], f"itersel bleu: {tmp_path}/{place}")


def test_closed_pipe_is_no_error(tmp_path):
    (tmp_path / "ref").write_text("a b c d\n")
    command = f"{sys.executable} -m itersel.cli.main bleu --reference ref" + " ref" * 2000
    shell = f"set -o pipefail; {command} | head -1"
    result = subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_outputs_do_not_depend_on_the_locale(tmp_path):
    (tmp_path / "weights").write_text("häuser\u3042 1.5\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = limited("weights", "show", tmp_path / "weights", env=environment, text=False)
    assert done.stdout.decode("utf-8").splitlines()[-1] == "häuser\u3042\t1.5"


def test_names_of_files_do_not_depend_on_the_locale(tmp_path):
    """Nor do the messages about them."""
    environment = {**os.environ, "LC_ALL": "C"}
    folder = tmp_path / "prüfung あ"
    folder.mkdir()
    (folder / "wörter").write_text("häuser 1.5\n", encoding="utf-8")
    command = [sys.executable, "-m", "itersel.cli.main", "weights", "show"]
    for name, status, stream in (("wörter", 0, "stdout"), ("fehlt é", 1, "stderr")):
        words = [*command, f"{folder.name}/{name}"]
        found = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, check=False)
        assert found.returncode == status
        assert ("häuser" if status == 0 else f"{folder.name}/{name}") in getattr(found, stream).decode()


def test_out_of_memory_is_one_line(monkeypatch, refused):
    monkeypatch.setattr(itersel.cli.weights, "_show", Mock(side_effect=MemoryError))
    refused(["weights", "show", "x"], "itersel weights:")
