"""The command line as a whole: forms that scripts rely on, help, exit statuses."""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys

import pytest

import itersel
from itersel.cli.main import STEPS, main

# The fixed forms of the command line; --reference, --output and the like stand for any file.
FORMS = """\
lm estimate --order 3 --input train.en --output lm.arpa.gz
lm compile --input lm.arpa.gz --output lm.bin
lm score --model lm.bin
align --source train.de --target train.en --output train.align
grammar index --source train.de --target train.en --alignment train.align --output index
grammar extract --index index --input text --output shard.h5
grammar extract --index index --input text --output shard.h5 --leave-one-out IDS
grammar export --shard shard.h5 --output DIR
grammar import --input text --grammars DIR --output shard.h5
grammar import --input text --grammars DIR --references text --output shard.h5
decode --shard shard.h5 --model lm.bin --weights weights.txt --output FILE
decode --shard shard.h5 --model lm.bin --weights weights.txt --k-best 100 --output FILE
decode --shard shard.h5 --model lm.bin --weights w.h5 --pop-limit 200 --features dense --output FILE
bleu --reference test.en one two
compare --reference test.en baseline one two
weights show weights.h5
weights export weights.h5
translate --system DIR
train --shard shard.h5 --model lm.bin --output w.h5
mix --inputs LIST --output v.h5 --shards 4 --matrix W.h5 --algorithm itersel --epoch 1 --select 100
""".splitlines()


@pytest.mark.parametrize("form", FORMS)
def test_fixed_forms(form):
    step, *arguments = form.split()
    parser = argparse.ArgumentParser()
    importlib.import_module(f"itersel.cli.{STEPS[step][0]}").add_arguments(parser)
    assert callable(parser.parse_args(arguments).run)


@pytest.mark.parametrize("step", STEPS)
def test_help_explains_every_option(step, capsys):
    parser = argparse.ArgumentParser()
    importlib.import_module(f"itersel.cli.{STEPS[step][0]}").add_arguments(parser)
    parsers = [parser]
    for current in parsers:
        for action in current._actions:
            if isinstance(action, argparse._SubParsersAction):
                parsers += action.choices.values()
            else:
                assert action.help, f"{current.prog} {action.dest} has no help"
    assert main([step, "--help"]) == 0
    assert "usage: itersel " + step in capsys.readouterr().out


def test_main_help_lists_all_steps(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(step in out for step in STEPS)
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"itersel {itersel.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["no-such-step"], ["bleu"], ["bleu", "--no-such-option"]])
def test_usage_errors(arguments, capsys):
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("usage: itersel")


def test_known_errors_are_one_line(tmp_path, capsys):
    (tmp_path / "latin1").write_bytes(b"fine\nf\xe4hig\n")
    assert main(["bleu", "--reference", str(tmp_path / "latin1"), "x"]) == 1
    assert capsys.readouterr().err == (
        f"itersel bleu: {tmp_path}/latin1:2: not valid UTF-8; convert the file with iconv\n"
    )
    assert main(["bleu", "--reference", str(tmp_path / "missing"), "x"]) == 1
    assert capsys.readouterr().err == f"itersel bleu: {tmp_path}/missing: no such file\n"


def test_light_steps_do_not_load_numba():
    """`itersel bleu` and the reading of a config start fast: numba alone takes half a second."""
    code = "import sys, itersel.config, itersel.evaluate.bleu; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_reader_that_goes_away_is_no_error(tmp_path):
    (tmp_path / "ref").write_text("a b c d\n")
    command = f"{sys.executable} -m itersel.cli.main bleu --reference ref" + " ref" * 2000
    shell = f"set -o pipefail; {command} | head -1"
    result = subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
