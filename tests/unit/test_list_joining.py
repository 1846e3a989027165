"""Files of lists, joined for tuners."""

import shutil

import numpy as np
import pytest
from tests.given_lists import LISTS, divide, import_file, write_given
from tests.refusals import input_error
from tests.steps import settings
from tests.systems import itersel
from tests.text_grammars import write
from tests.tuning import random_sentences, write_file

from itersel.lists.files import read_list_table, write_list_table
from itersel.lists.joining import find_tuning_files, join_files
from itersel.tune.problem import ListProblem
from itersel.vectors.weights import make_weights, read_itersel_weights


@pytest.fixture
def folder(tmp_path):
    return write_given(tmp_path)


def test_files_are_joined(folder):
    """By file; for tuners, dense features that differ by the order of a sum are equal."""
    unrounded = '{"id": 3, "text": "no ?", "features": {"LM": 0.1000000000001}}'
    write(folder / "lists/1.gz", *LISTS[1][:2], unrounded)
    divide(folder, "--quality", write(folder / "quality", *"123456"), files=2, seed=7)
    table = join_files(find_tuning_files([import_file(folder, number) for number in (1, 0)], 2, range(4, 6)))
    parts = [read_list_table(folder / f"{number}.h5") for number in range(2)]
    dense = [value for part in parts for value in part.dense[:, 0].tolist()]
    assert table.dense[:, 0].tolist() == dense
    problem = ListProblem.of_table(table, make_weights({}))
    assert problem.table.dense[:, 0].tolist() == [round(value, 9) for value in dense] != dense
    assert table.quality.tolist() == [value for part in parts for value in part.quality.tolist()]
    assert table.sentence_count == 4


@pytest.mark.parametrize(
    "change",
    [{"quality": np.zeros(0)}, {"reference_length": np.zeros(0, int)}, {}],
    ids=["quality", "references", "settings"],
)
def test_files_that_do_not_belong_together(folder, change):
    divide(folder, "--quality", write(folder / "quality", *"123456"), files=2)
    paths = [import_file(folder, number) for number in range(2)]
    settings_of = {"language": None if change else "en", "protected": []}
    write_list_table(paths[1], read_list_table(paths[1], has_text=True)._replace(**change), 1, settings_of)
    with input_error("1.h5:", "0.h5"):
        join_files(find_tuning_files(paths, 2, range(1, 2)))


def test_lists_of_a_decoder_and_of_another_are_not_mixed(folder):
    divide(folder)
    paths = [import_file(folder), write_file(folder / "1.h5", random_sentences(1), number=1)]
    with input_error(0, 1, 2):
        find_tuning_files(paths, 2, range(1, 2))


def test_tuners_read_some_files_of_a_text(folder, refused):
    """Such as those of one task; their number is known."""
    divide(folder, "--quality", write(folder / "quality", *"123456"), files=4)
    paths = [str(import_file(folder, number)) for number in (3, 1)]
    lists = write(folder / "lists.txt", *paths)
    tune = ["step", "tune", "--inputs", lists, "--output", folder / "w"]
    itersel(*tune, *settings(tuner={"name": "kbest-mira"}, files=2))
    assert read_itersel_weights(folder / "w").value.shape[0]
    refused([*tune, *settings(tuner={"name": "kbest-mira"}, files=3)], (3, 1))
    write(folder / "lists.txt", paths[0], paths[0])
    refused([*tune, *settings(tuner={"name": "kbest-mira"}, files=2)], "3.h5:")


@pytest.mark.parametrize(
    "tuner", [{"name": "kbest-mira"}, {"name": "pro", "interpolation": 1.0}, {"name": "mert"}], ids=str
)
def test_tuners_read_whole_lists(folder, tuner):
    """In all iterations; with `quality`, it is tuned for, also where there are references."""
    good, bad = "the cat sat on it now", "the cat sat on now it"
    write(folder / "lists/0.gz", *(f"{n} ||| {good} ||| LM= 1 TM= 1 x=1" for n in range(4)))
    write(folder / "lists/1.gz", *(f"{n} ||| {bad} ||| LM= 2 TM= 1 y=1" for n in range(4)))
    write(folder / "references", *[good] * 4)
    how = settings(tuner=tuner, files=2, features="dense" if tuner["name"] == "mert" else "all")
    tune = ["step", "tune", *how, "--inputs", folder / "lists.txt", "--output", folder / "w"]
    tune += ["--start", write(folder / "start", "LM 1")]
    for quality, sign in (([], -1), (["--quality", write(folder / "quality", *"00001111")], 1)):
        shutil.rmtree(folder / "cut", ignore_errors=True)
        divide(folder, *quality, files=2)
        paths = [str(import_file(folder, number)) for number in range(2)]
        write(folder / "lists.txt", *reversed(paths))
        for iteration in (1, 7):
            itersel(*tune, "--iteration", iteration)
            found = read_itersel_weights(folder / "w").to_dict()
            lead = found["LM"] + found.get("y", 0.0) - found.get("x", 0.0)
            assert lead * sign > 0
