"""The page as HTML: template, styles, scripts, Vega-Lite and data in one file.

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
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from itersel.report.page.charts import CURVES, charts
from itersel.report.page.table import table_view

SCRIPTS = ("core.js", "tables.js", "charts.js", "features.js", "sentences.js", "derivations.js")


def render(document: dict[str, Any], refresh: int | None = None) -> str:
    """Return the page.

    Parameters
    ----------
    document
        See `itersel.report.page.document.read_document`.
    refresh
        Seconds after which a browser reloads the file, for an unfinished run.
    """
    scripts = [vega(), *(asset(name) for name in SCRIPTS)]
    environment = Environment(
        loader=PackageLoader("itersel.report.page", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = format_number
    texts = {one["name"]: _packed(one) for one in document["test_sets"]}
    small = {name: value for name, value in document.items() if name not in ("test_sets", "derivations")}
    table = []
    if document["table"]:
        table = table_view(document["table"], document["runs"], document["costs"]["runs"])
    return environment.get_template("page.html").render(
        document=document,
        table=table,
        has_intervals=any(cell.note for view in table for row in view.rows for cell in row),
        curves=CURVES,
        refresh=refresh,
        policy=_policy(scripts),
        style=Markup(asset("page.css")),
        scripts=[Markup(script) for script in scripts],
        charts=_json(charts()),
        data=_json(small),
        texts=texts,
        derivations=_packed(document["derivations"]),
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


def _json(value: object) -> Markup:
    """Return JSON that is safe in a script element: nothing in it ends the element or begins another."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _packed(value: object) -> str:
    """Return a value as JSON, compressed with gzip (without a time) and base64-encoded."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode("ascii")


def format_number(value: float | int | None) -> str:
    """Format a number for display."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
