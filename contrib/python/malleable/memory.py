# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where the ranks' memory is beside where they compute, by NUMA node: before CPUs moved, and after
that (pages=yes). tests/test_memory.py fails without."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from .figures import GREY, RANK_COLOURS, ROWS
from .trace import Trace


@dataclass
class Memory:
    """Rows of ranks, columns of nodes."""

    ranks: list[str]
    nodes: list[int]
    parts: dict[str, numpy.ndarray]  # of a row's pages, or CPU time, on each node; NaN: not known


def _pages(trace: Trace, shape: tuple[int, int], place: dict[int, int], last: int) -> numpy.ndarray:
    """What each rank found when it looked last, up to window LAST."""
    found = numpy.zeros(shape)
    looks = trace.pages[trace.pages.window <= last]
    looks = looks[looks.window == looks.groupby("rank").window.transform("max")]
    numpy.add.at(found, (looks["rank"].to_numpy(int), looks.node.map(place).to_numpy(int)),
                 looks.pages.to_numpy(float))
    return found


def _seconds(trace: Trace, shape: tuple[int, int], column: numpy.ndarray, first: int,
             last: int) -> numpy.ndarray:
    """For how long CPUs of each node, by COLUMN, were busy for each rank in these windows."""
    found = numpy.zeros(shape)
    busy, owners = (table.loc[first:last].to_numpy() for table in (trace.busy, trace.owners))
    window, cpu = numpy.nonzero(numpy.nan_to_num(busy) * (owners >= 0))
    numpy.add.at(found, (owners[window, cpu], column[cpu]), busy[window, cpu])
    lent = trace.borrowed[trace.borrowed.window.between(first, last)]
    numpy.add.at(found, (lent["rank"].to_numpy(int), column[lent.cpu.to_numpy(int)]),
                 lent.busy_s.to_numpy(float))
    return found


def _rows(values: numpy.ndarray, each: int) -> numpy.ndarray:
    """Of EACH ranks together: the parts."""
    sums = numpy.add.reduceat(values, numpy.arange(0, len(values), each))
    whole = sums.sum(axis=1, keepdims=True)
    return numpy.divide(sums, whole, out=numpy.full_like(sums, numpy.nan), where=whole > 0)


def memory(trace: Trace) -> Optional[Memory]:
    """None: no rank looked."""
    if trace.pages.empty:
        return None
    numa = trace.places["numa"]
    nodes = sorted({*numa, *trace.pages.node.tolist()})
    place = {node: index for index, node in enumerate(nodes)}
    column = numpy.array([place[node] for node in numa])
    each = -(-trace.ranks // ROWS)
    owners = trace.owners.to_numpy()
    moved = numpy.flatnonzero((owners[1:] != owners[:-1]).any(axis=1)) + 1
    end = len(trace.windows)
    # A move is between a window and the next.
    spans = {" at first": (1, moved[0]), " in the end": (moved[-1] + 1, end)} \
        if len(moved) else {"": (1, end)}
    parts = {}
    for name, (first, last) in spans.items():
        shape = (trace.ranks, len(nodes))
        parts["pages" + name] = _rows(_pages(trace, shape, place, last), each)
        parts["CPU time" + name] = _rows(_seconds(trace, shape, column, first, last), each)
    names = [f"rank {rank}" if each == 1 else f"ranks {rank}-{min(rank + each, trace.ranks) - 1}"
             for rank in range(0, trace.ranks, each)]
    return Memory(names, nodes, parts)


def _values(parts: numpy.ndarray) -> list:
    return [None if numpy.isnan(part) else round(float(part), 4) for part in parts]


def draw_memory(found: Memory) -> go.Figure:
    """Bars of the nodes' parts by rank, and the same as a matrix: pages beside CPU time."""
    count = len(found.parts)
    # Two lines, and small: four of them fit beside each other on a phone, 60 pixels each.
    titles = [(name[0].upper() + name[1:]).replace(" at", "<br>at").replace(" in", "<br>in")
              for name in found.parts]
    figure = make_subplots(rows=2, cols=count, subplot_titles=titles, shared_yaxes=True,
                           horizontal_spacing=0.03, vertical_spacing=0.16)
    for col, parts in enumerate(found.parts.values(), 1):
        for index, node in enumerate(found.nodes):
            name = f"NUMA node {node}"
            figure.add_bar(y=found.ranks, x=_values(parts[:, index]), orientation="h", name=name,
                           legendgroup=name, showlegend=col == 1, row=1, col=col,
                           marker={"color": RANK_COLOURS[index % len(RANK_COLOURS)]},
                           hovertemplate="%{y}: %{x:.0%}<extra>" + name + "</extra>")
        figure.add_heatmap(y=found.ranks, x=[str(node) for node in found.nodes],
                           z=[_values(row) for row in parts], coloraxis="coloraxis", row=2,
                           col=col, hovertemplate="%{y}, NUMA node %{x}: %{z:.0%}<extra></extra>")
    figure.update_yaxes(type="category", autorange="reversed", fixedrange=True, gridcolor=GREY)
    figure.update_xaxes(range=[0, 1], tickvals=[0, 0.5, 1], ticktext=["0", "50 %", ""],
                        gridcolor=GREY, row=1)
    figure.update_xaxes(type="category", title={"text": "node", "standoff": 4}, row=2)
    figure.update_xaxes(fixedrange=True, zeroline=False)
    figure.update_annotations(font={"size": 11 if count > 2 else 13})
    figure.update_layout(
        template="none", barmode="stack", height=2 * max(90, min(len(found.ranks) * 18, 560)) + 250,
        margin={"l": 80, "r": 20, "t": 60, "b": 80}, paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 12, "color": GREY},
        coloraxis={"colorscale": "Cividis", "cmin": 0, "cmax": 1, "showscale": False},
        hoverlabel={"bgcolor": "#1a1a1a", "font": {"color": "#ffffff"}},
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": GREY, "activecolor": "#2a8fd8"},
        legend={"orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom"})
    return figure
