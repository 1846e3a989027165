"""Text from a run never becomes HTML or a script on its page."""

import base64
import gzip
import json

import lxml.html
from tests.made_up_run import MadeUpRun

from itersel.report.page.document import read_document
from itersel.report.page.render import _json, breakable, render

HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "\"quotes\" 'and' `more` & <b>bold</b> <!-- <script> -->",
    "שלום עולם \u202eoverride\u202c مرحبا",
    "{{ 7 * 7 }} {% raw %} \\u003c \u2028 \u0001 \ufffd",
    "long " * 2000,
    "",
]
HOSTILE_NAMES = ["<script>window.hacked = 1", "\"'><img src=x onerror=window.hacked=1>"]
HOSTILE_NAMES += ["עברית & <b>", "a|b_c%d$"]


class Page:
    """The tags of a page, and the content of its data scripts by ID."""

    def __init__(self, text):
        elements = list(lxml.html.document_fromstring(text).iter("*"))
        self.tags = [one.tag for one in elements]
        scripts = [one for one in elements if one.tag == "script"]
        self.scripts = {one.get("id") or one.get("data-name"): one.text for one in scripts}


def test_keys_break_between_words():
    assert breakable("experiments.<b>.learning_rate") == "experiments.<wbr>&lt;b&gt;.<wbr>learning_<wbr>rate"
    # but not within numbers
    assert breakable("grid-learning_rate-0.001") == "grid-learning_<wbr>rate-0.001"


def test_hostile_names_and_texts(tmp_path):
    folder = tmp_path / "<i>run"
    run = MadeUpRun(folder, HOSTILE_NAMES, epochs=1, sentences=HOSTILE)
    # no file could contain such a config
    (run.folder / "report" / "run.json").unlink()
    document = read_document(run.folder)
    page = Page(render(document))
    plain = Page(render({**document, "test_sets": [], "repeats": [], "table": None, "compared": []}))
    # one script for each test set, and no other tags from the texts
    assert page.tags.count("script") == plain.tags.count("script") + 1
    assert not {"b", "i", "img"} & set(page.tags)
    packed = json.loads(gzip.decompress(base64.b64decode(page.scripts["test"])))
    assert [row[0] for row in packed["rows"]] == HOSTILE
    assert [one["name"] for one in json.loads(page.scripts["data"])["repeats"]] == HOSTILE_NAMES


def test_json_cannot_close_its_element():
    assert not set("<>&\u2028") & set(_json(HOSTILE + HOSTILE_NAMES))
    assert json.loads(_json(HOSTILE)) == HOSTILE
