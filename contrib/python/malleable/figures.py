# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the page of a trace shows: its sums, and pictures of bounded size."""
from __future__ import annotations

import html
import math
from dataclasses import dataclass

import numpy
import pandas
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from .trace import Trace

# Of a picture: rows of ranks, columns of windows, and cells, which bound a page's size.
ROWS, COLUMNS, CELLS = 128, 400, 20000
CPU_COLUMNS, CPU_CELLS = 2000, 100000
# Okabe and Ito's, for ranks: one after the other.
RANK_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442",
                "#7f7f7f")
LINES = (("parallel", "parallel efficiency", "#2a8fd8", "solid"),
         ("load_balance", "load balance", "#d9700f", "dash"),
         ("communication", "communication", "#0f9d76", "dot"))
GREY = "#808080"
# So many shades of a rank's colour tell how busy a CPU was for it, from none to all of the time; up
# to so many CPUs have a lane of their own below for those who borrowed them.
SHADES, TWO_LANES = 6, 64
NAMED = 4  # so many ranks that used a CPU are named where the pointer is


def cpu_seconds(trace: Trace) -> pandas.DataFrame:
    """By window: the seconds of CPUs, each part of the one before it, but for noise
    (policies/model/efficiency.c)."""
    samples = trace.samples
    owned = (trace.owners >= 0).sum(axis=1).clip(lower=1)
    outside = samples.work_s + samples.barrier_s
    by_rank = pandas.DataFrame({
        "window": samples.window,
        "useful_s": samples.work_s + samples.serial_s,
        "threads_s": outside + samples.serial_s,
        "computing_s": outside + samples.serial_s * samples.cpus.clip(lower=1)})
    sums = by_rank.groupby("window").sum().reindex(trace.windows.index, fill_value=0.0)
    of_window = samples.groupby("window")
    elapsed_s = of_window.elapsed_s.max().reindex(trace.windows.index, fill_value=0.0)
    waited_s = of_window.mpi_s.min().reindex(trace.windows.index, fill_value=0.0)
    reachable_s = (elapsed_s - waited_s) * owned
    # Teams with more threads than CPUs count time that no CPU had.
    computing_s = numpy.maximum(sums.useful_s, numpy.minimum(sums.computing_s, reachable_s))
    return pandas.DataFrame({
        "all_s": elapsed_s * owned, "reachable_s": reachable_s, "computing_s": computing_s,
        "threads_s": numpy.minimum(sums.threads_s, computing_s), "useful_s": sums.useful_s})


def efficiencies(seconds: pandas.Series) -> dict[str, float]:
    """Those of the POP project (malleable-report(5)); NaN: nothing was measured."""
    def part(of: str, whole: str) -> float:
        return seconds[of] / seconds[whole] if seconds[whole] > 0 else math.nan
    return {"parallel": part("useful_s", "all_s"), "mpi": part("computing_s", "all_s"),
            "load_balance": part("computing_s", "reachable_s"),
            "communication": part("reachable_s", "all_s"),
            "openmp": part("useful_s", "computing_s"), "serial": part("threads_s", "computing_s"),
            "regions": part("useful_s", "threads_s")}


def rank_sums(trace: Trace) -> pandas.DataFrame:
    """By rank: the CPUs that it had at first and in the end, and seconds of all windows."""
    by_rank = trace.samples.groupby("rank")
    sums = by_rank[["work_s", "serial_s", "mpi_s", "barrier_s"]].sum()
    with_cpus = trace.samples[trace.samples.cpus > 0]
    sums.insert(0, "first", with_cpus.groupby("rank").cpus.first())
    sums.insert(1, "last", by_rank.cpus.last())
    sums = sums.reindex(range(trace.ranks)).fillna(0)
    return sums.astype({"first": int, "last": int})


@dataclass
class Columns:
    """Windows, several in one column where there are many."""

    each: int
    begin_s: numpy.ndarray
    end_s: numpy.ndarray

    @classmethod
    def of(cls, trace: Trace, most: int) -> "Columns":
        each = -(-len(trace.windows) // most)
        return cls(each, trace.windows.begin_s.to_numpy()[::each],
                   trace.windows.end_s.groupby((trace.windows.index - 1) // each).last().to_numpy())

    def number(self, windows):
        return (windows - 1) // self.each

    def edges(self) -> tuple[list[float], list[int]]:
        """Where cells begin and the last one ends, and the column of each cell; -1: a gap."""
        edges, cells = [], []
        for column, (begin_s, end_s) in enumerate(zip(self.begin_s, self.end_s)):
            if edges and begin_s - edges[-1] > self.end_s[-1] * 1e-6:
                cells.append(-1)
                edges.append(begin_s)
            if not edges:
                edges.append(begin_s)
            cells.append(column)
            edges.append(max(end_s, edges[-1]))
        return [round(float(edge), 9) for edge in edges], cells


def lanes(trace: Trace) -> tuple[Columns, list[str], dict[str, numpy.ndarray]]:
    """Rows of ranks: the CPUs that worked for one, and those that it owned, on average."""
    per_row = -(-trace.ranks // ROWS)
    rows = -(-trace.ranks // per_row)
    columns = Columns.of(trace, min(CELLS // rows, COLUMNS))
    samples = trace.samples
    elapsed_s = trace.windows.elapsed_s
    column = columns.number(samples.window.to_numpy())
    time_s = elapsed_s.groupby(columns.number(trace.windows.index)).sum().to_numpy()
    in_row = numpy.minimum(trace.ranks - numpy.arange(rows) * per_row, per_row)
    whole = time_s[None, :] * in_row[:, None]
    found = {}
    for name, values in (
            ("work", samples.work_s + samples.serial_s),
            ("cpus", samples.cpus * elapsed_s.reindex(samples.window).to_numpy())):
        cells = numpy.zeros((rows, len(columns.begin_s)))
        numpy.add.at(cells, (samples["rank"].to_numpy() // per_row, column), values.to_numpy())
        found[name] = numpy.divide(cells, whole, out=numpy.zeros_like(cells), where=whole > 0)
    names = [f"rank {row}" if per_row == 1 else
             f"ranks {row * per_row}-{min((row + 1) * per_row, trace.ranks) - 1}"
             for row in range(rows)]
    return columns, names, found


def named(trace: Trace) -> tuple[Columns, list[str], numpy.ndarray]:
    """Rows of named regions, the longest ones first: the part of the ranks' time in each."""
    longest = trace.regions.groupby("name").elapsed_s.sum().sort_values(ascending=False)[:ROWS]
    rows = {name: row for row, name in enumerate(longest.index)}
    columns = Columns.of(trace, min(CELLS // max(len(rows), 1), COLUMNS))
    kept = trace.regions[trace.regions.name.isin(rows)]
    cells = numpy.zeros((len(rows), len(columns.begin_s)))
    numpy.add.at(cells, (kept.name.map(rows).to_numpy(int), columns.number(kept.window.to_numpy())),
                 kept.elapsed_s.to_numpy())
    time_s = numpy.zeros(len(columns.begin_s))
    numpy.add.at(time_s, columns.number(trace.samples.window.to_numpy()),
                 trace.samples.elapsed_s.to_numpy())
    parts = numpy.divide(cells, time_s, out=numpy.zeros_like(cells), where=time_s > 0)
    return columns, list(rows), numpy.minimum(parts, 1)


def owners(trace: Trace) -> tuple[Columns, numpy.ndarray]:
    """Rows of CPUs: who owned each, in the longest window of a column."""
    columns = Columns.of(trace, min(CPU_CELLS // len(trace.cpus), CPU_COLUMNS))
    longest = trace.windows.elapsed_s.groupby(columns.number(trace.windows.index)).idxmax()
    return columns, trace.owners.loc[longest].to_numpy().T


@dataclass
class Use:
    """Rows of CPUs: who used each in a column most, and for which part of the time all did; -1:
    nobody. SHARED has the cells that several used: by row and column, their ranks and parts."""

    columns: Columns
    rank: numpy.ndarray
    part: numpy.ndarray
    shared: dict[tuple[int, int], list[tuple[int, float]]]


def _most_of(borrowed: pandas.DataFrame, shape: tuple[int, int]) -> numpy.ndarray:
    """By row and column, the rank that borrowed for longest."""
    most = numpy.full(shape, -1)
    longest = borrowed.sort_values("busy_s")
    most[longest.cpu.to_numpy(int), longest.column.to_numpy(int)] = longest["rank"]
    return most


def _by_owner(trace: Trace, number: numpy.ndarray) -> pandas.DataFrame:
    """For how long each CPU was busy for its owners, by the NUMBER of each window's column."""
    busy = trace.busy.fillna(0).to_numpy()
    window, cpu = numpy.nonzero(busy)
    return pandas.DataFrame({"cpu": cpu, "rank": trace.owners.to_numpy()[window, cpu],
                             "column": number[window], "busy_s": busy[window, cpu]})


def _shared(used: pandas.DataFrame, time_s: numpy.ndarray) -> dict:
    """As in Use, whoever had most first."""
    found: dict[tuple[int, int], list[tuple[int, float]]] = {}
    used = used.groupby(["cpu", "column", "rank"], as_index=False).busy_s.sum()
    used = used[used.duplicated(["cpu", "column"], keep=False) & (used.busy_s > 0)]
    used = used.sort_values("busy_s", ascending=False, kind="stable")
    for cpu, column, rank, busy_s in zip(*(used[name].tolist() for name in (
            "cpu", "column", "rank", "busy_s"))):
        found.setdefault((cpu, column), []).append((rank, busy_s / time_s[column]))
    return found


def use(trace: Trace) -> list[Use]:
    """By the owners, and by others; of many CPUs by whoever used it most, alone."""
    cpus = len(trace.cpus)
    split = cpus <= TWO_LANES
    columns = Columns.of(trace, min(CPU_CELLS // cpus // (1 + split), CPU_COLUMNS))
    number = columns.number(trace.windows.index.to_numpy())
    time_s = numpy.bincount(number, trace.windows.elapsed_s)
    shape = (cpus, len(time_s))
    owned = numpy.zeros(shape[::-1])
    numpy.add.at(owned, number, trace.busy.fillna(0).to_numpy())
    longest = trace.windows.elapsed_s.groupby(number).idxmax()
    owner = trace.owners.loc[longest].to_numpy().T
    found = trace.borrowed.assign(column=columns.number(trace.borrowed.window.to_numpy()))
    found = found.groupby(["cpu", "rank", "column"], as_index=False).busy_s.sum()
    borrowed = numpy.zeros(shape)
    numpy.add.at(borrowed, (found.cpu.to_numpy(int), found.column.to_numpy(int)),
                 found.busy_s.to_numpy(float))
    most = _most_of(found, shape)

    def part(busy_s):
        return numpy.minimum(numpy.divide(busy_s, time_s, out=numpy.zeros(shape),
                                          where=time_s > 0), 1)
    by_owner = _by_owner(trace, number)
    if split:
        return [Use(columns, owner, part(owned.T), _shared(by_owner, time_s)),
                Use(columns, most, part(borrowed), _shared(found, time_s))]
    return [Use(columns, numpy.where(borrowed > owned.T, most, owner), part(owned.T + borrowed),
                _shared(pandas.concat([by_owner, found]), time_s))]


def _shades() -> list[tuple[float, str]]:
    """The colours of ranks, each from pale to full."""
    count = len(RANK_COLOURS) * SHADES
    scale = []
    for index in range(count):
        colour = RANK_COLOURS[index // SHADES]
        red, green, blue = (int(colour[at:at + 2], 16) for at in (1, 3, 5))
        shade = f"rgba({red},{green},{blue},{0.1 + 0.9 * (index % SHADES) / (SHADES - 1):.2f})"
        scale += [(index / count, shade), ((index + 1) / count, shade)]
    return scale


def _who(part: Use, cpu: int, cell: int) -> str:
    """Who used a CPU in a column, for the pointer."""
    ranks = part.shared.get((cpu, cell)) or [(part.rank[cpu, cell], part.part[cpu, cell])]
    more = f", and {len(ranks) - NAMED} more" if len(ranks) > NAMED else ""
    return ", ".join(f"rank {rank} {100 * busy:.0f} %" for rank, busy in ranks[:NAMED]) + more


def _add_use(figure: go.Figure, trace: Trace, row: int) -> None:
    parts = use(trace)
    edges, cells = parts[0].columns.edges()
    rows, said, names = [], [], []
    for cpu in range(len(trace.cpus)):
        for lane, part in enumerate(parts):
            rows.append([None if cell < 0 or part.rank[cpu, cell] < 0 or
                         (lane and not part.part[cpu, cell]) else
                         (int(part.rank[cpu, cell]), part.part[cpu, cell].item())
                         for cell in cells])
            said.append([at and _who(part, cpu, cell) for at, cell in zip(rows[-1], cells)])
            names.append(f"CPU {trace.cpus[cpu]}" + (", borrowed" if lane else ""))
    shade = [[cell and cell[0] % len(RANK_COLOURS) * SHADES +
              min(math.ceil(cell[1] * (SHADES - 1)), SHADES - 1) for cell in line]
             for line in rows]
    each = -(-len(trace.cpus) // 40)
    lanes_each = len(parts)
    figure.add_heatmap(
        x=edges, y=list(range(len(rows))), z=shade, text=said, name="use of CPUs",
        colorscale=_shades(), zmin=-0.5, zmax=len(RANK_COLOURS) * SHADES - 0.5, showscale=False,
        row=row, col=1, hoverongaps=False,
        hovertemplate="%{text} of the time, at %{x:.4~f} s<extra></extra>")
    figure.update_yaxes(
        tickvals=list(range(0, len(rows), each * lanes_each)),
        ticktext=names[::each * lanes_each], autorange="reversed", fixedrange=True,
        showgrid=False, row=row, col=1)


def _cells(values: numpy.ndarray, cells: list[int], digits: int) -> list[list]:
    return [[None if cell < 0 or value[cell] < 0 else round(value[cell].item(), digits)
             for cell in cells] for value in values]


def _rank_scale(ranks: int) -> list[tuple[float, str]]:
    """A colour for each rank, without anything between them."""
    return [(edge / ranks, RANK_COLOURS[rank % len(RANK_COLOURS)])
            for rank in range(ranks) for edge in (rank, rank + 1)]


def _height(rows: int) -> int:
    return max(60, min(rows * 18, 560))


def _bar(figure: go.Figure, first: str, last: str, **more) -> dict:
    """A scale of colours beside the pictures from FIRST to LAST."""
    top, bottom = figure.layout[first].domain[1], figure.layout[last].domain[0]
    return {"y": (top + bottom) / 2, "len": top - bottom, "thickness": 12, "outlinewidth": 0,
            **more}


def _axis(row: int) -> str:
    return f"yaxis{row}" if row > 1 else "yaxis"


def _add_lanes(figure: go.Figure, trace: Trace, first: int) -> None:
    """From row FIRST on."""
    columns, held = owners(trace)
    edges, cells = columns.edges()
    figure.add_heatmap(x=edges, y=[f"CPU {cpu}" for cpu in trace.cpus], z=_cells(held, cells, 0),
                       name="owners", coloraxis="coloraxis", row=first, col=1,
                       hovertemplate="%{y}: rank %{z}, at %{x:.4~f} s<extra></extra>")
    columns, names, found = lanes(trace)
    edges, cells = columns.edges()
    for row, name in enumerate(("work", "cpus"), first + 1):
        figure.add_heatmap(x=edges, y=names, z=_cells(found[name], cells, 4), name=name,
                           coloraxis="coloraxis2", row=row, col=1,
                           hovertemplate="%{y}: %{z:.2f} CPUs, at %{x:.4~f} s<extra></extra>")
    most = max(float(values.max()) for values in found.values())
    few = trace.ranks <= 16
    figure.update_layout(
        coloraxis={"colorscale": _rank_scale(trace.ranks), "cmin": -0.5,
                   "cmax": trace.ranks - 0.5, "showscale": few,
                   "colorbar": _bar(figure, _axis(first), _axis(first), title={"text": "rank"},
                                    dtick=1 if few else None)},
        coloraxis2={"colorscale": "Cividis", "cmin": 0, "cmax": most or 1,
                    "colorbar": _bar(figure, _axis(first + 1), _axis(first + 2),
                                     title={"text": "CPUs"})})


def _short(name: str) -> str:
    """What fits beside a picture; the rest is said where the pointer is."""
    return name if len(name) <= 10 else f"{name[:5]}\u2026{name[-4:]}"


def _add_named(figure: go.Figure, trace: Trace, in_row: int) -> None:
    columns, names, parts = named(trace)
    edges, cells = columns.edges()
    # Plotly takes some tags of HTML.
    whole = [html.escape(name) for name in names]
    figure.add_heatmap(x=edges, y=whole,
                       z=_cells(parts, cells, 4), name="named regions",
                       colorscale="Cividis", zmin=0, zmax=1, showscale=False, row=in_row, col=1,
                       hovertemplate="%{y}: %{z:.0%} of the time, at %{x:.4~f} s<extra></extra>")
    each = -(-len(names) // 40)
    figure.update_yaxes(
        type="category", tickvals=whole[::each],
        ticktext=[html.escape(_short(name)) for name in names[::each]],
        autorange="reversed", fixedrange=True, row=in_row, col=1)


def _add_lines(figure: go.Figure, trace: Trace, seconds: pandas.DataFrame, in_row: int) -> None:
    columns = Columns.of(trace, COLUMNS)
    sums = seconds.groupby(columns.number(seconds.index)).sum()
    parts = [efficiencies(row) for _, row in sums.iterrows()]
    edges, cells = columns.edges()
    for key, name, colour, dash in LINES:
        values = [None if cell < 0 else 0.0 if math.isnan(parts[cell][key]) else
                  round(100 * min(parts[cell][key], 1), 2) for cell in cells]
        figure.add_scatter(x=edges, y=values + values[-1:], name=name, mode="lines",
                           row=in_row, col=1,
                           line={"shape": "hv", "color": colour, "dash": dash, "width": 1.8},
                           hovertemplate="%{y:.1f} %<extra>" + name + "</extra>")


def draw(trace: Trace, seconds: pandas.DataFrame) -> go.Figure:
    """All pictures of a trace, one below the other: what is zoomed in one is in all."""
    lane_rows = min(trace.ranks, ROWS)
    heights = [_height(len(trace.cpus)), _height(lane_rows), _height(lane_rows), 160]
    titles = ["Who has which CPU", "CPUs at work for each rank", "CPUs of each rank",
              "Efficiencies"]
    known = trace.tells_use()
    if known:
        heights.insert(0, _height(len(trace.cpus) * (1 + (len(trace.cpus) <= TWO_LANES))))
        titles.insert(0, "Use of each CPU")
    first = 1 + known
    regions = min(trace.regions.name.nunique(), ROWS)
    if regions:
        heights.append(_height(regions))
        titles.append("Part of the ranks' time in named regions")
    spaces, margins = (len(heights) - 1) * 64, 120
    whole = sum(heights) + spaces
    figure = make_subplots(
        rows=len(heights), cols=1, shared_xaxes=True, row_heights=heights,
        vertical_spacing=64 / whole, subplot_titles=titles)
    if known:
        _add_use(figure, trace, 1)
    _add_lanes(figure, trace, first)
    _add_lines(figure, trace, seconds, first + 3)
    if regions:
        _add_named(figure, trace, first + 4)
    for row in range(first, first + 3):
        figure.update_yaxes(type="category", autorange="reversed", fixedrange=True, row=row, col=1)
    # Below 0, so that it is not written over the time.
    figure.update_yaxes(range=[-8, 103], ticksuffix=" %", fixedrange=True, row=first + 3, col=1)
    figure.update_xaxes(ticksuffix=" s", showticklabels=True, gridcolor=GREY, zeroline=False)
    figure.update_yaxes(gridcolor=GREY, zeroline=False)
    figure.update_annotations(x=0, xanchor="left", font={"size": 14})
    figure.update_layout(
        template="none", height=whole + margins, margin={"l": 80, "r": 20, "t": 40, "b": 80},
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 12, "color": GREY},
        hoverlabel={"bgcolor": "#1a1a1a", "font": {"color": "#ffffff"}},
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": GREY, "activecolor": "#2a8fd8"},
        legend={"orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom"})
    return figure
