"""The graph of the workflow's rules, in layers (Sugiyama et al. 1981)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any, TypeVar

SWEEPS = 8
# In pixels: height of a box, gaps between boxes, width of a letter, horizontal padding of a box.
HEIGHT, GAP_X, GAP_Y, LETTER, MARGIN = 26, 18, 34, 7, 18

Job = TypeVar("Job", bound=Hashable)
Edge = tuple[str, str]


def summarize_jobs(jobs: Mapping[Job, Iterable[Job]], names: Mapping[Job, str]) -> dict[str, Any]:
    """Return the graph of the rules of some jobs.

    Parameters
    ----------
    jobs
        For each job, the jobs whose files it needs.
    names
        Rule of each job.

    Returns
    -------
    dict
        ``depths``: by rule, the length of the longest path to its first job, which orders even rules that
        alternate from epoch to epoch. ``edges``: pairs of rules; the second one needs files of the first one.
    """
    depth: dict[Job, int] = {}
    depths: dict[str, int] = {}
    edges: set[Edge] = set()
    for job in TopologicalSorter(jobs).static_order():
        needs = list(jobs.get(job, ()))
        depth[job] = max((depth[one] + 1 for one in needs), default=0)
        name = names[job]
        depths[name] = min(depths.get(name, depth[job]), depth[job])
        edges |= {(names[one], name) for one in needs if names[one] != name}
    return {"depths": dict(sorted(depths.items())), "edges": sorted(edges)}


def lay_out(graph: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the layout of a graph of rules; None without rules.

    Parameters
    ----------
    graph
        See `summarize_jobs`.

    Returns
    -------
    dict
        ``width``, ``height``; ``box``: height of a box; ``rules``: name, left, top and width of each box;
        ``edges``: downward edges, without those implied by others; ``back``: edges to an earlier rule, for
        its next epoch.
    """
    depths: Mapping[str, int] = graph.get("depths", {})
    if not depths:
        return None
    edges = [(one, other) for one, other in graph["edges"]]
    down = reduce_edges([edge for edge in edges if depths[edge[0]] < depths[edge[1]]])
    back = [edge for edge in edges if depths[edge[0]] >= depths[edge[1]]]
    layers = [[name for name in depths if depths[name] == depth] for depth in sorted(set(depths.values()))]
    layers = _order(layers, down)
    width = max(map(_width, layers))
    boxes = []
    for depth, layer in enumerate(layers):
        left = (width - _width(layer)) / 2
        for name in layer:
            boxes.append({"name": name, "left": left, "top": depth * (HEIGHT + GAP_Y), "width": _box(name)})
            left += _box(name) + GAP_X
    height = len(layers) * (HEIGHT + GAP_Y) - GAP_Y
    return {"width": width, "height": height, "box": HEIGHT, "rules": boxes, "edges": down, "back": back}


def reduce_edges(edges: Sequence[Edge]) -> list[Edge]:
    """Return the edges of an acyclic graph that are not implied by others (transitive reduction)."""
    below: dict[str, set[str]] = {}
    for one, other in edges:
        below.setdefault(one, set()).add(other)
    after: dict[str, set[str]] = {}
    for name in TopologicalSorter(below).static_order():
        needs = below.get(name, set())
        after[name] = needs.union(*(after[one] for one in needs))
    return [
        (one, other)
        for one, other in edges
        if not any(other in after[third] for third in below[one] - {other})
    ]


def _box(name: str) -> int:
    return LETTER * len(name) + MARGIN


def _width(layer: Sequence[str]) -> int:
    return sum(_box(name) + GAP_X for name in layer) - GAP_X


def _order(layers: list[list[str]], edges: Sequence[Edge]) -> list[list[str]]:
    """Place each rule near the mean position of its neighbours, in alternating downward and upward sweeps."""
    for sweep in range(SWEEPS):
        place = {name: (i + 0.5) / len(layer) for layer in layers for i, name in enumerate(layer)}
        neighbours: dict[str, list[float]] = {name: [] for name in place}
        for one, other in edges:
            if sweep % 2 == 0:
                neighbours[other].append(place[one])
            else:
                neighbours[one].append(place[other])
        middle = {
            name: sum(found) / len(found) if found else place[name] for name, found in neighbours.items()
        }
        layers = [[name for _, name in sorted((middle[name], name) for name in layer)] for layer in layers]
    return layers
