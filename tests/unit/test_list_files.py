"""Files of lists: their two writers, and damage."""

import re

import numpy as np
import pytest
from tests.given_lists import divide, import_file, write_given
from tests.text_grammars import write
from tests.tuning import make_table, random_sentences, write_file

from itersel.bleu.bleu_kernels import Statistics
from itersel.errors import InputError
from itersel.lists.files import read_dense, read_list_table, read_sparse, write_list_table, write_lists
from itersel.lists.headers import header_attributes
from itersel.lists.table import ListTable
from itersel.storage.strings import string_table
from itersel.vectors.sparse_rows import sparse_rows
from itersel.vectors.weights import make_weights, write_itersel_weights


def test_appended_sentences_are_the_lists_of_a_whole_table(tmp_path):
    """Dense features of lists for tuners are rounded; the hashes are those of the table."""
    sentences = random_sentences(3)
    table = make_table(sentences)
    unrounded = table.dense + 1e-12
    write_list_table(tmp_path / "whole.h5", table._replace(dense=unrounded))
    attributes = header_attributes("lists", 0, 1, {}, "", table.dense_names)
    features = table.feature_key, table.feature_name
    with write_lists(tmp_path / "parts.h5", len(table.dense_names), attributes, *features) as writer:
        for begin, end in ((0, 1), (1, 4), (4, 5)):
            part = make_table(sentences[begin:end])
            writer.append(part._replace(dense=part.dense + 1e-12))

    (whole, hashes), (parts, same) = (read_dense(tmp_path / f"{name}.h5") for name in ("whole", "parts"))
    assert (hashes == same).all()
    assert np.array_equal(whole.dense, unrounded)
    assert np.array_equal(parts.dense, table.dense)
    expected = table.sparse_rows
    for found, name in ((whole, "whole"), (parts, "parts")):
        for part in ("offset", "reference_length", "sentence_reference_offset"):
            assert np.array_equal(getattr(found, part), getattr(table, part))
        assert all(map(np.array_equal, found.statistics, table.statistics))
        sparse = read_sparse(tmp_path / f"{name}.h5")
        assert np.array_equal(sparse.value, expected.value)
        assert np.array_equal(sparse.offset, expected.offset)
        assert np.array_equal(sparse.key[sparse.feature], expected.key[expected.feature])
        named = [one.name.take(one.feature).to_list() for one in (sparse, expected)]
        assert named[0] == named[1]


def test_a_part_of_a_table():
    """All columns are those of the chosen translations; what is unknown stays so."""
    sparse = sparse_rows(
        np.array([1, 0, 1]),
        np.array([1.0, 2.0, 3.0]),
        np.array([0, 1, 2, 2, 3]),
        np.array([5, 9], np.uint64),
        string_table("xy"),
    )
    numbers = np.arange(4, dtype=np.int32)
    table = ListTable(
        np.array([0, 2, 4]),
        np.arange(8.0).reshape(4, 2),
        ("a", "b"),
        sparse,
        string_table("klmn"),
        np.array([7, 8, 9]),
        np.array([0, 2, 3]),
        Statistics(np.arange(16, dtype=np.int32).reshape(4, 4), numbers, numbers + 10),
        np.arange(4) / 4,
    )
    found = table.take(np.array([1, 2, 3]))
    assert found.offset.tolist() == [0, 1, 3]
    assert found.dense.tolist() == [[2, 3], [4, 5], [6, 7]]
    assert (found.sparse_rows.feature.tolist(), found.sparse_rows.value.tolist()) == ([0, 1], [2, 3])
    assert found.text.to_list() == ["l", "m", "n"]
    assert [column.tolist()[0] for column in found.statistics] == [[4, 5, 6, 7], 1, 11]
    assert found.quality.tolist() == [0.25, 0.5, 0.75]
    assert found.reference_length.tolist() == [7, 8, 9]

    # translations in the order of files, of which each has some of every sentence
    mixed = table.take(np.array([2, 0, 1]), np.array([1, 1, 0, 0]))
    assert (mixed.offset.tolist(), mixed.text.to_list()) == ([0, 1, 3], ["m", "k", "l"])

    unknown = ListTable(table.offset, table.dense, table.dense_names, sparse).take(np.array([0, 3]))
    assert unknown.text.count == 0
    assert {column.shape[0] for column in (*unknown.statistics, unknown.quality)} == {0}


def test_damage(tmp_path):
    folder = write_given(tmp_path)
    divide(folder)
    table = read_list_table(import_file(folder), has_text=True)
    wrong = table.statistics._replace(length=np.zeros(5, np.int32))
    one = table.sparse_rows
    twice = one._replace(feature=np.zeros(3, np.int32), offset=np.array([0, 2, 2, 2, 2, 3]))
    same_keys = one._replace(key=np.repeat(one.key[:1], 2), name=one.name.take(np.zeros(2, np.int64)))
    for change, message in (
        ({"offset": np.array([0, 2, 2, 4, 5])}, "a sentence has no translations"),
        ({"dense_names": ("LM", "LM")}, "'dense_names' does not name the dense features"),
        ({"reference_length": table.reference_length[:3]}, "has 3 references for 4 sentences"),
        ({"statistics": wrong}, "more matches than n-grams"),
        ({"sparse": twice}, "'feature' contains a feature twice in a translation"),
        ({"sparse": same_keys}, "'feature_key' contains a key twice"),
    ):
        write_list_table(folder / "damaged.h5", table._replace(**change))
        with pytest.raises(InputError, match=message):
            read_list_table(folder / "damaged.h5")


def test_lists_for_tuners_have_no_text(tmp_path, refused):
    lists = write_file(tmp_path / "lists.h5", random_sentences(1))
    weights = write(tmp_path / "weights", "LanguageModel 1")
    refused(["decode", "--sentences", lists, "--weights", weights], "lists.h5:")


def test_another_kind_of_file(tmp_path):
    """The error names all commands that write lists."""
    write_itersel_weights(tmp_path / "weights.h5", make_weights({"LM": 1.0}))
    with pytest.raises(InputError) as raised:
        read_list_table(tmp_path / "weights.h5")
    assert re.findall("'(.+?)'", str(raised.value)) == ["itersel step kbest", "itersel step lists"]
