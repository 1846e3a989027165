"""The page as one HTML file, with styles, scripts, Vega-Lite and data.

Output of a run is data, never HTML: texts go into JSON, which the page's scripts insert into the document as
text, or through Jinja2, which escapes them. The page's content security policy forbids loading anything and
running scripts other than its own.
"""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from itersel.report.baseline import baseline_and_best
from itersel.report.page.charts import charts, curves
from itersel.report.page.sentences import MOST
from itersel.report.page_table import table_view
from itersel.report.table import signatures
from itersel.run.processor_time import format_hours
from itersel.storage.json_files import as_content
from itersel.vectors.feature_names import (
    BUILT_IN_TEMPLATES,
    EXPLANATIONS,
    TEMPLATES,
    TEXT_EXPLANATIONS,
    TEXT_TEMPLATES,
    text_prefix,
    user_model_features,
)

SHARED = ("core.js", "tables.js", "draw.js")
# Templates of features of text that grammars do not have.
TEXT_ONLY = TEXT_TEMPLATES.keys() - BUILT_IN_TEMPLATES.keys()
# Parts of a document that scripts do not read, or read compressed.
UNUSED = ("answer", "test_sets", "derivations")
SCRIPTS = (*SHARED, "charts.js", "features.js", "sentences.js", "derivations.js")


def _has_text_features(repeats: Sequence[dict[str, Any]]) -> bool:
    """Return whether the page shows features of the text of n-best lists."""
    groups = [group for repeat in repeats if repeat["features"] for group in repeat["features"]["groups"]]
    names = {feature["name"] for group in groups for feature in group["largest"]}
    has_template = any(group["group"] in TEXT_ONLY for group in groups)
    return has_template or not TEXT_EXPLANATIONS.keys().isdisjoint(names)


def _explanations(repeats: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the explanations of features, by name or by the prefix of their template."""
    of_grammars = [
        (TEMPLATES[name] if name in BUILT_IN_TEMPLATES else name, text) for name, text in EXPLANATIONS.items()
    ]
    if not _has_text_features(repeats):
        return of_grammars

    prefixes = {name: text_prefix(name) for name in TEXT_TEMPLATES}
    of_text = [(prefixes.get(name, name), text) for name, text in TEXT_EXPLANATIONS.items()]
    # the names of features of the user's own models begin like these
    of_models = [(name, TEXT_EXPLANATIONS[name.removesuffix("_")]) for name in user_model_features("")]
    # before those of grammars, some of which have the same names
    return [*of_text, *of_models, *of_grammars]


def render(document: dict[str, Any], refresh: int | None = None) -> str:
    """Return the page; for an unfinished run, a browser reloads it every `refresh` seconds."""
    data = {name: value for name, value in document.items() if name not in UNUSED}
    table = document["table"]
    data["table"] = as_content(table) if table else None
    data["explanations"] = _explanations(document["repeats"])
    learning = curves(document["learned_by"])

    systems = table.test_sets[0].systems if table else ()
    known = document["repeats"], document["costs"]["repeats"], document["settings"]
    views = table_view(table, *known) if table else []

    return fill(
        "page.html",
        SCRIPTS,
        data=data,
        charts=charts(learning),
        title=document["name"],
        version=document["versions"].get("itersel"),
        document=document,
        views=views,
        baseline=baseline_and_best(table)[0] if table else None,
        signatures=signatures(table) if table else [],
        has_intervals=bool(table and table.test_sets[0].metrics_of_text),
        has_repeats=any(len(system.repeats) > 1 for system in systems),
        has_others=not all(system.is_experiment for system in systems),
        curves=learning,
        most_ngrams=MOST,
        refresh=refresh,
        texts={test_set["name"]: _packed(test_set) for test_set in document["test_sets"]},
        sentence_signature=next((test_set["signature"] for test_set in document["test_sets"]), None),
        derivations=_packed(document["derivations"]),
    )


def fill(template: str, scripts: Sequence[str], *, data: object, charts: object, **values: Any) -> str:
    """Return a page made from a template, with Vega, scripts, and their data and charts."""
    environment = Environment(
        loader=PackageLoader("itersel.report.page", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": format_number, "hours": format_hours, "breakable": breakable}

    code = [vega(), *(asset(name) for name in scripts)]
    return environment.get_template(template).render(
        policy=_policy(code),
        style=Markup(asset("page.css")),
        scripts=[Markup(one) for one in code],
        charts=_json(charts),
        data=_json(data),
        **values,
    )


def asset(name: str) -> str:
    """Return the content of a file in assets/."""
    return files("itersel.report.page").joinpath("assets", name).read_text(encoding="utf-8")


@functools.cache
def vega() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script."""
    import vl_convert

    # an end tag would end the script, even within a string
    return str(vl_convert.javascript_bundle()).replace("</script", "<\\/script")  # type: ignore[call-arg]


def _policy(scripts: list[str]) -> str:
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    # Vega writes style attributes and embeds its images
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _json(value: object) -> Markup:
    """Return JSON that is safe in a script element: nothing in it ends the element or begins another."""
    text = _compact(value)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _packed(value: object) -> str:
    """Return a value as JSON, compressed with gzip (without a time) and base64-encoded."""
    return base64.b64encode(gzip.compress(_compact(value).encode(), 9, mtime=0)).decode("ascii")


def breakable(text: str) -> Markup:
    """Return a name or a signature that may be broken between its parts, not within words or numbers."""
    return Markup(re.sub(r"([_|]|\.(?!\d))", r"\1<wbr>", str(escape(text))))


def format_number(value: float | int | None) -> str:
    """Format a number for display."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
