"""The report pages in a real browser: charts, tables, sentences, hostile text, narrow and wide windows."""

import json

import pytest
from tests.browser.conftest import DRAWN
from tests.made_up_run import MadeUpRun
from tests.scored import content_of, tokenized_bleu
from tests.unit.test_report_page_safety import HOSTILE, HOSTILE_NAMES
from tests.unit.test_report_runs_pairs import PAIRS, SECONDS, make_run

from itersel.cli.main import main
from itersel.config.reading import read_config
from itersel.config.values import Config
from itersel.report.description import write_run
from itersel.report.page.writing import write_page

pytestmark = pytest.mark.slow

FIRST = ".sentence:first-child"
ROOT = {"depth": 0, "source": [-1], "target": [-1], "begin": 0, "end": 2, "score": 0.0, "features": []}
RULE = {"depth": 1, "source": ["ein", "haus"], "target": ["<b>a", "house"], "begin": 0, "end": 2}
NODES = [ROOT, {**RULE, "score": -1.5, "features": [["R:1", -1.5]]}]
DERIVATION = {"nodes": NODES, "words": ["<b>a", "house"], "links": [[0, 0], [1, 1]]}
DERIVATION |= {"score": -3.5, "lm": -2.0}


@pytest.fixture
def browser(chromium):
    yield chromium
    assert chromium.complaints() == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("page of it")


@pytest.fixture(scope="module")
def run(folder):
    run = MadeUpRun(folder / "run", ["first", "second", "third"], epochs=4, repeats=3)
    sentences = [{"sentence": 5, "source": ["ein", "haus"], "derivations": [DERIVATION, DERIVATION]}]
    derivations = {"test_set": "test", "systems": ["first", "third"], "sentences": sentences}
    (run.folder / "report" / "derivations.json").write_text(json.dumps(derivations))
    return run


@pytest.fixture(scope="module")
def page(run, folder):
    write_page(run.folder, folder / "page.html")
    return folder / "page.html"


def open_sentences(browser, page, count=20, width=1440):
    browser.open(page, width)
    browser.wait(f"document.querySelectorAll('.sentence').length === {count}")


def fits(browser):
    """Return whether only elements that scroll are wider than the window."""
    return browser.run("return document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_looks(browser, page, width, theme):
    browser.open(page, width, theme)
    assert fits(browser)
    if width > 1000:
        assert browser.run(
            "const box = document.querySelector('#table .wide'); return box.scrollWidth <= box.clientWidth"
        )
    assert browser.count("#curves .chart svg") == 7
    assert browser.count("#settings details:not([open]) .settings") == 2
    browser.run("document.querySelector('#settings details').open = true")
    assert fits(browser)
    assert browser.run("return document.documentElement.dataset.theme") == theme
    paper = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (theme == "light")
    # the user's choice overrides that of the system
    browser.choose("#theme", "light" if theme == "dark" else "dark")
    assert browser.run("return getComputedStyle(document.body).backgroundColor") != paper
    browser.choose("#theme", "")


def test_paper_is_white(browser, page):
    browser.open(page, theme="dark")
    colour = "return getComputedStyle(document.body).backgroundColor"
    dark = browser.run(colour)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run(colour) == "rgb(255, 255, 255)" != dark
    assert browser.run("return !document.querySelector('details:not([open], .derivations)')")
    browser.wait(DRAWN)
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run(colour) == dark


def test_charts_have_marks_and_text(browser, run, page):
    browser.open(page)
    # 3 repeats of 3 experiments: a line for each, a point for each epoch, a ring for each chosen epoch
    chart = "[data-chart=devtest_tokenized_bleu] svg"
    assert browser.count(f"{chart} .mark-line path") == 9
    assert browser.count(f"{chart} .layer_1_marks path") == 9
    best = max(max(system.devtest_tokenized_bleu) for systems in run.systems.values() for system in systems)
    assert f"highest: {best:.2f}" in browser.texts("[data-caption=devtest_tokenized_bleu]")[0]
    assert browser.count("[data-chart=boxes] svg .mark-rect path") >= 3
    assert len(browser.texts("#variance li")) == 3
    browser.choose("#group", "learner")
    assert browser.texts("#variance li")[0].startswith("perceptron: 9 repeats")


def test_chooser_of_experiments(browser, page):
    browser.open(page)
    browser.run("document.querySelector('#chooser input').click()")
    browser.wait(
        "document.querySelectorAll('[data-chart=devtest_tokenized_bleu] .layer_1_marks path').length === 6"
    )
    # one of the three experiments, with its three repeats, is gone
    assert browser.count("[data-chart=devtest_tokenized_bleu] svg .layer_1_marks path") == 6


def test_table_sorts(browser, run, page):
    browser.open(page)
    scores = {one.name: one.scores["tokenized-bleu"].mean for one in run.table.test_sets[0].systems}
    headings = browser.texts(".systems thead th")
    column = headings.index("test tokenized BLEU") + 1
    button = f"document.querySelector('.systems thead th:nth-child({column}) button').click()"
    for reverse, sort in ((True, "descending"), (False, "ascending")):
        browser.run(button)
        assert browser.texts(".systems tbody th") == sorted(scores, key=scores.get, reverse=reverse)
        state = f"return document.querySelector('.systems thead th:nth-child({column})').ariaSort"
        assert browser.run(state) == sort
    assert [float(text.split(" ")[0]) for text in browser.texts(f".systems td:nth-child({column})")] == [
        pytest.approx(score, abs=0.005) for score in sorted(scores.values())
    ]


def test_sentences(browser, run, page):
    open_sentences(browser, page)
    for name, value in (("a", "first"), ("b", "third"), ("sort", "order")):
        browser.choose(f"select[name={name}]", value)
    shown = {
        name: (run.folder / "experiments" / name / "best" / "test.txt").read_text().splitlines()
        for name in ("first", "third", "second.repeat-2")
    }
    assert browser.texts(f"{FIRST} .pair dd") == [shown["first"][0], shown["third"][0]]
    browser.choose("select[name=b]", "second.repeat-2")
    assert browser.texts(f"{FIRST} .pair dd") == [shown["first"][0], shown["second.repeat-2"][0]]
    browser.run("document.getElementById('next').click()")
    assert browser.texts("#sentence-count")[0].startswith("21 to 30 of 30")
    longest = max(run.references, key=len)
    browser.choose("select[name=sort]", "long")
    assert browser.texts(f"{FIRST} dd")[0] == longest
    browser.choose("input[type=search]", f"  {longest.upper()} ")
    browser.wait("document.querySelectorAll('.sentence').length === 1")
    browser.choose("input[type=search]", "no such text")
    said = "document.getElementById('sentence-count').textContent"
    browser.wait(f"{said} === 'There is no such sentence.'")


def test_folded_columns(browser, page):
    browser.open(page)
    shown = (
        "return [...document.querySelectorAll('.systems thead th')].filter((one) => one.offsetWidth).length"
    )
    before = browser.run(shown)
    browser.run("document.getElementById('all-columns').click()")
    # memory, and the score on devtest
    assert browser.run(shown) == before + 2


def test_groups_of_sentences(browser, run, page):
    """The means of a group are those of the sentences that it lists."""
    open_sentences(browser, page)
    table = "#differences .wide:first-child"
    label, count, first, second, gain = browser.texts(f"{table} tbody tr:first-child > *")
    assert float(gain) == pytest.approx(float(second) - float(first), abs=0.11)
    assert sum(map(int, browser.texts(f"{table} td:nth-child(2)"))) == len(run.references)
    browser.choose("select[name=group]", "0 0")
    assert label == "1 to 10"
    assert all(len(text.split()) <= 10 for text in browser.texts(".sentence dl > dd:first-of-type"))
    scores = [float(text.split("chrF ")[1][:-1]) for text in browser.texts(".pair div:first-child dt")]
    assert len(scores) == int(count)
    assert sum(scores) / len(scores) == pytest.approx(float(first), abs=0.1)
    browser.choose("select[name=group]", "")
    browser.wait("document.querySelectorAll('.sentence').length === 20")


def test_ngrams(browser, run, page):
    """Those of each system are ahead in its column."""
    open_sentences(browser, page)
    captions = browser.texts("#differences caption")
    assert captions[-2:] == [f"N-grams that {one} gets right more often" for one in "AB"]
    for place, sign in ((-2, 1), (-1, -1)):
        table = f"[...document.querySelectorAll('#differences table')].at({place})"
        cells = browser.run(f"return [...{table}.querySelectorAll('td')].map((td) => Number(td.textContent))")
        pairs = list(zip(cells[::2], cells[1::2], strict=True))
        assert 0 < len(pairs) <= 10
        assert all(sign * (a - b) > 1 for a, b in pairs)
        ratios = [((a + 1) / (b + 1)) ** sign for a, b in pairs]
        assert ratios == sorted(ratios, reverse=True)


@pytest.mark.parametrize("width", [390, 1440])
def test_other_systems_from_right_to_left(browser, tmp_path, width):
    hebrew = [f"הבית {word} קטן מאוד, אבל הגן {word} גדול." for word in ("הלבן", "הישן", "החדש", "היפה")]
    run = MadeUpRun(tmp_path / "run", ["one", "two"], sentences=hebrew, others=["online"])
    write_page(run.folder, tmp_path / "page.html")
    open_sentences(browser, tmp_path / "page.html", 4, width)
    browser.choose("select[name=b]", "online")
    assert "online" in browser.texts(".systems tbody th")
    shown = f"document.querySelector('{FIRST} dd')"
    assert browser.run(f"return getComputedStyle({shown}).direction") == "rtl"
    assert fits(browser)


def test_order_by_gain(browser, page):
    open_sentences(browser, page)
    gains = [float(text.split()[1]) for text in browser.texts(".sentence h3 span")]
    assert gains == sorted(gains, reverse=True)
    browser.choose("select[name=sort]", "loss")
    assert float(browser.texts(".sentence h3 span")[0].split()[1]) <= gains[-1]


def test_marked_words(browser, page):
    browser.open(page)
    same = "return page.differing(arguments[0].split(' '), arguments[1].split(' ')).map(Number).join('')"
    for a, b, marks in (
        ("a b c", "a b c", "000"),
        ("a b c", "a x c", "010"),
        ("a b", "b a b", "100"),
        ("", "a", "1"),
        ("the small house is red", "the house is very red", "00010"),
    ):
        assert browser.run(same, a, b) == marks


@pytest.mark.parametrize(
    "names",
    [
        ["a", "b"],
        [
            f"a-long-name-of-a-grid-rate-{rate}-k_best-{k}-select-1000"
            for rate in (0.1, 0.3)
            for k in (50, 100)
        ],
        [f"{'an unusually long name ' * 3}{end}" for end in ("1000", "10000")],
        [f"{begin}{' an unusually long name' * 3}{begin}" for begin in ("x", "y", "x-y")],
        [f"{'x' * 40}{middle}{'y' * 40}" for middle in "abc"],
        ["short", "a-name-with-many-parts-of-which-none-is-shared-by-all"],
        [f"results/{'deep/' * 9}{name}-en" for name in ("de", "fr", "pt")],
    ],
)
def test_labels_differ(browser, page, names):
    browser.open(page)
    labels = browser.run("return [...page.labels(arguments[0])]", names)
    assert [name for name, _ in labels] == names
    assert len({label for _, label in labels}) == len(names)
    assert all(0 < len(label) <= 26 for _, label in labels)
    assert all(label == name for name, label in labels) == (max(map(len, names)) <= 22)


def test_charts_show_labels_in_full(browser, tmp_path):
    """Also for a grid of experiments, in a narrow window."""
    rates, sizes = (1, 3, 5, 7), (1, 10, 100)
    names = [
        f"a-long-name-of-a-grid-rate-0.000{rate}-select-{size}0000-k_best-{rate}00"
        for rate in rates
        for size in sizes
    ]
    run = MadeUpRun(tmp_path / "run", names, epochs=1, repeats=2)
    write_page(run.folder, tmp_path / "page.html")
    browser.open(tmp_path / "page.html", 390)
    shown = browser.texts("[data-chart=boxes] .role-axis-label text")
    labels = browser.run("return [...page.labels(arguments[0]).values()]", names)
    assert {*labels} <= {*shown}
    assert browser.texts("#chooser bdi") == labels
    # the boxes are the legend of the charts
    assert browser.run(
        "const box = document.querySelector('#chooser .boxes'); return box.scrollHeight <= box.clientHeight"
    )
    assert fits(browser)


def test_features_are_written_like_rules(browser, page):
    browser.open(page)
    assert "haus → house" in browser.texts("#largest .rule")
    written = "return page.rule(...page.sides(arguments[0])).map((one) => one.textContent ?? one).join('')"
    for name, rule in (
        ("R:X:das_NX_doch_haus:the_N1_house", "das X1 doch haus → the X1 house"),
        ("R:X:NX_und_NX:N2_and_N1", "X1 und X2 → X2 and X1"),
    ):
        assert browser.run(written, name) == rule
    # words may contain what separates the parts, or look like gaps
    words = ("R:X:__:x", "R:X:a:b:c", "R:X:NX:x", "R:X:NX_a_NX:N1_b_N1", "R:X:x:N1", "R:X:NX:N2")
    for name in (*words, "RBS:das_haus", "R:1", "LanguageModel"):
        assert browser.run("return page.sides(arguments[0])", name) is None


def with_superscripts(run):
    """Write a table in which all systems differ significantly."""
    table = content_of(run.table)
    systems = table["test_sets"][0]["systems"]
    for one in systems:
        tokenized_bleu(one)["better_than"] = [
            other["number"]
            for other in systems
            if tokenized_bleu(other)["mean"] < tokenized_bleu(one)["mean"]
        ]
    (run.folder / "report" / "table.json").write_text(json.dumps(table))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_the_table_at_a_glance(browser, tmp_path, width, theme):
    """The answer's experiment is marked, and scores are aligned, with and without superscripts."""
    run = MadeUpRun(tmp_path / "run", ["one", "two", "three", "four"], epochs=1, repeats=2)
    with_superscripts(run)
    write_page(run.folder, tmp_path / "page.html")
    browser.open(tmp_path / "page.html", width, theme)
    [best] = browser.texts(".systems .best th")
    assert browser.texts(".answer strong")[0] == best
    shade = "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor"
    for cell in ("th", "td"):
        assert browser.run(shade, f".best {cell}") != browser.run(shade, f".systems tr:not(.best) {cell}")
    # where the scores end, of which all but the lowest have superscripts
    left = (
        "return [...document.querySelectorAll('.systems sup')].map((one) => one.getBoundingClientRect().left)"
    )
    ends = browser.run(left)
    assert (len(ends), len({round(end) for end in ends})) == (4, 1)
    assert len([text for text in browser.texts(".systems sup") if text]) == 3
    assert fits(browser)


def test_narrow_table(browser, tmp_path):
    """Name, score and difference are visible without scrolling, and the settings with all columns."""
    rates = ("0.1", "0.03", "0.01", "0.003")
    names = [f"a-long-name-of-an-experiment-with-{rate}" for rate in rates]
    run = MadeUpRun(tmp_path / "run", names, epochs=1, repeats=2)
    with_superscripts(run)
    write_page(run.folder, tmp_path / "page.html")
    browser.open(tmp_path / "page.html", 390)
    headings = browser.texts(".systems thead th")
    for title in ("experiment", "test tokenized BLEU", "difference"):
        cell = f".systems tbody tr > :nth-child({headings.index(title) + 1})"
        right = "return document.querySelector(arguments[0]).getBoundingClientRect().right"
        assert 0 < browser.run(right, cell) <= 390
    setting = "return document.querySelector('.systems th.setting').offsetWidth > 0"
    assert not browser.run(setting)
    browser.run("document.getElementById('all-columns').click()")
    assert browser.run(setting)


def test_settings_of_many_experiments(browser, tmp_path):
    """Each experiment is a row, and nothing is hidden."""
    names = [f"a-long-name-of-an-experiment-with-0.0{rate}" for rate in range(1, 10)]
    run = MadeUpRun(tmp_path / "run", names, epochs=1)
    experiments = {name: {"learner": {"name": "mira", "c": float(name[-4:])}} for name in names}
    config = {"name": "run", "experiments": experiments}
    write_run(run.folder, config, read_config(config))
    write_page(run.folder, tmp_path / "page.html")
    for width in (390, 1440):
        browser.open(tmp_path / "page.html", width)
        assert browser.texts("#settings > .wide thead th") == ["experiment", "learner.c"]
        assert browser.texts("#settings > .wide tbody th") == names
        assert browser.texts("#settings > .wide tbody td") == [name[-4:] for name in names]
        assert browser.run(
            "const box = document.querySelector('#settings .wide'); return box.scrollWidth <= box.clientWidth"
        )


def test_axes_of_counts(browser, page):
    """Numbers of things are whole, and zero has no unit."""
    browser.open(page)
    for chart in ("updates", "active_features", "distribution"):
        labels = browser.texts(f"[data-chart={chart}] svg [aria-label^=Y-axis] .role-axis-label text")
        assert labels
        assert all(label.isdigit() for label in labels)


def test_p_values_on_request(browser, page):
    browser.open(page)
    shown = "return [...document.querySelectorAll('.systems .p')].filter((one) => one.offsetWidth).length"
    assert browser.run(shown) == 0
    browser.run("document.getElementById('p-values').click()")
    # of three experiments, one is the baseline
    assert browser.run(shown) == 2
    assert fits(browser)


def test_derivation(browser, page):
    open_sentences(browser, page)
    for name, value in (("a", "first"), ("b", "third"), ("sort", "derivation")):
        browser.choose(f"select[name={name}]", value)
    assert browser.texts(f"{FIRST} h3")[0].startswith("Sentence 6")
    browser.run(f"document.querySelector('{FIRST} .derivations').open = true")
    browser.wait("document.querySelectorAll('.tree').length === 2")
    assert "ein haus → <b>a house  -1.500" in browser.texts(".tree .rule")[1]
    assert "Score -3.50: rules -1.50, language model -2.00" in browser.texts(f"{FIRST} .derivations p")[0]
    assert browser.count(".alignment td.linked") == 4


@pytest.mark.parametrize("width", [390, 1440])
def test_hostile(browser, tmp_path, width):
    run = MadeUpRun(tmp_path / "<b>run", HOSTILE_NAMES, epochs=1, sentences=HOSTILE)
    (run.folder / "report" / "run.json").unlink()
    write_page(run.folder, tmp_path / "page.html")
    open_sentences(browser, tmp_path / "page.html", len(HOSTILE), width)
    browser.choose("select[name=sort]", "order")
    sources = browser.texts(".sentence dl > dd:nth-of-type(1)")
    assert sources == [line.strip() for line in HOSTILE]
    assert set(browser.texts(".systems tbody th")) == set(HOSTILE_NAMES)
    assert browser.run("return window.hacked") is None
    hebrew = "document.querySelector('.sentence:nth-child(3) dd')"
    assert browser.run(f"return getComputedStyle({hebrew}).direction") == "rtl"
    assert fits(browser)


def test_forty_experiments(browser, tmp_path):
    names = [f"experiment-{number}" for number in range(1, 41)]
    run = MadeUpRun(tmp_path / "run", names, epochs=2, sentences=25)
    write_page(run.folder, tmp_path / "page.html")
    browser.open(tmp_path / "page.html", 390)
    assert browser.count(".systems tbody tr") == 40
    assert browser.count("#chooser input:checked") == 8
    assert browser.count("#chooser input:disabled") == 32
    assert browser.count("[data-chart=devtest_tokenized_bleu] .mark-line path") == 40
    assert fits(browser)


@pytest.mark.parametrize("unfinished", [[], ["one"]], ids=["one experiment and epoch", "failed"])
def test_small_runs(browser, tmp_path, unfinished):
    run = MadeUpRun(tmp_path / "run", ["one"], epochs=1, sentences=1, unfinished=unfinished)
    write_page(run.folder, tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    assert browser.count(".error") == len(unfinished)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_several_runs(browser, tmp_path, width, theme):
    names = ["first", "second", "third"]
    folders = [tmp_path / one / "<b>run" for one in ("de", "fr", "<img src=x onerror=window.hacked=1>")]
    for seed, folder in enumerate(folders):
        run = MadeUpRun(folder, names, epochs=1, seed=seed)
        write_run(folder, run.config() | {"name": "run"}, Config(experiments={}))
    command = ["report", "runs", *map(str, folders), "--baselines", "second", "--metric", "tokenized-bleu"]
    assert main([*command, "--trials", "50", "--output", str(tmp_path / "runs.html")]) == 0
    browser.open(tmp_path / "runs.html", width, theme)
    assert fits(browser)
    assert browser.run("return document.documentElement.dataset.theme") == theme
    assert browser.run("return window.hacked") is None
    assert browser.texts("figure h3") == ["first", "third"]
    # a point and an interval for each run, and for the mean
    for chart in ("difference-1", "difference-3"):
        for layer in ("layer_1", "layer_2"):
            marks = f"[data-chart={chart}] svg .{layer}_marks > *"
            assert browser.count(marks) == 4
    (mean,) = {text for text in browser.texts("tbody tr:first-child td:nth-child(3)") if "[" in text}
    assert browser.texts("[data-caption=difference-1]")[0].startswith(f"Mean: {mean.split('[')[0]} [")
    assert browser.texts("thead th bdi")[3] == str(folders[0])
    assert browser.count(".answer") == 1
    # the means come first, so that they are visible in a narrow window
    assert (
        browser.run("return document.querySelector('thead th:nth-child(3)').getBoundingClientRect().right")
        < 390
    )
    # redrawn in the other colours
    line = "[data-chart=difference-1] .layer_1_marks line"
    color = f"return document.querySelector('{line}')?.getAttribute('stroke')"
    before = browser.run(color)
    browser.choose("#theme", "light" if theme == "dark" else "dark")
    browser.wait(f"(() => {{ {color} }})() !== '{before}'")
    browser.choose("#theme", "")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_runs_that_differ_in_a_number(browser, tmp_path, width, theme):
    names = [f"a-long-name-of-a-grid-learning_rate-{rate}" for rate in ("0.001", "0.01", "0.1")]
    rates = dict(zip(names, (0.001, 0.01, 0.1), strict=True))
    experiments = {name: {"learner": {"name": "mira", "c": rate}} for name, rate in rates.items()}
    for seed, order in enumerate((3, 4)):
        run = MadeUpRun(tmp_path / str(order), names, epochs=1, seed=seed)
        config = {"name": str(order), "language_model": {"order": order}, "experiments": experiments}
        write_run(run.folder, config, read_config(config))
    command = ["report", "runs", str(tmp_path / "3"), str(tmp_path / "4"), "--baselines", names[0]]
    page = tmp_path / "runs.html"
    assert main([*command, "--metric", "tokenized-bleu", "--trials", "50", "--output", str(page)]) == 0

    browser.open(page, width, theme)
    assert fits(browser)
    assert browser.texts("#settings > .wide tr > *") == ["key", "3", "4", "language_model.order", "3", "4"]
    browser.run("document.querySelector('#settings details:not(.how)').open = true")
    assert fits(browser)
    # a line for each of three experiments, then one for each of two runs
    assert browser.texts("#varied h3") == ["language_model.order", "learner.c"]
    for number, lines, points in ((0, 3, 6), (1, 2, 6)):
        chart = f"[data-chart=varied-{number}] svg"
        assert browser.count(f"{chart} .mark-line path") == lines
        assert browser.count(f"{chart} .mark-symbol path") == points
        assert browser.count(f"[data-keys=varied-{number}] .key") == lines
        assert browser.count(f"[data-points=varied-{number}] li") == lines
    labels = browser.texts("[data-chart=varied-1] svg .role-axis-label text")
    assert [label for label in labels if label.startswith("0.")] == ["0.001", "0.01", "0.1"]


def test_runs_that_differ_in_training_pairs(browser, tmp_path):
    folders = [make_run(tmp_path / name, pairs, SECONDS[name]).folder for name, pairs in PAIRS.items()]
    command = ["report", "runs", *map(str, folders), "--baselines", "small,large", "--trials", "50"]
    page = tmp_path / "runs.html"
    assert main([*command, "--metric", "tokenized-bleu", "--output", str(page)]) == 0

    browser.open(page, 390, "dark")
    assert fits(browser)
    assert browser.count("#pairs figure") == 2
    differences, times = ("[data-chart=differences-by-pairs-0]", "[data-chart=times-by-pairs-0]")
    for chart, lines in ((differences, 1), (times, 2)):
        assert browser.count(f"{chart} svg .mark-line path") == lines
        assert browser.count(f"{chart} svg .mark-symbol path") == lines * len(PAIRS)
        labels = browser.texts(f"{chart} svg .role-axis-label text")
        assert labels[: len(PAIRS)] == [f"{pairs:,}" for pairs in sorted(PAIRS.values())]
    # an interval for each run, and the line of no difference
    for layer, lines in (("layer_0", len(PAIRS)), ("layer_1", 1)):
        assert browser.count(f"{differences} svg .{layer}_marks > *") == lines
    assert browser.texts("[data-keys=times-by-pairs-0] bdi") == ["ours", "baseline"]
