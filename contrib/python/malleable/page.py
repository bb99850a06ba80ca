# SPDX-License-Identifier: LGPL-2.1-or-later
"""A page of HTML that needs nothing beside itself: no network, nothing but its own scripts."""
from __future__ import annotations

import base64
import gzip
import hashlib
import html
import math
from typing import Iterable, Iterator, Optional

from plotly.offline import get_plotlyjs

from .figures import cpu_seconds, draw, efficiencies, rank_sums
from .files import counted, printable
from .memory import draw_memory, memory
from .trace import Trace

STYLE = """\
:root{color-scheme:light dark;--paper:#fff;--ink:#1a1a1a;--faint:#767676;--rule:#d0d0d0}
@media(prefers-color-scheme:dark){:root{--paper:#161616;--ink:#e8e8e8;--faint:#a0a0a0;--rule:#444}}
body{font:15px/1.45 system-ui,sans-serif;background:var(--paper);color:var(--ink);
max-width:72rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.25rem;margin-top:2.5rem}h3{font-size:1rem}
table{border-collapse:collapse}
.wide{overflow-x:auto;margin:.5rem 0}
p,h1,h2{overflow-wrap:anywhere}
th,td{padding:.15rem .8rem .15rem 0;text-align:right;border-bottom:1px solid var(--rule);
font-variant-numeric:tabular-nums}
th:first-child,td:first-child{text-align:left}
p.note,figcaption{color:var(--faint);max-width:46rem;margin:.3rem 0}
figure{margin:1rem 0}.plot{overflow-x:auto}
.infolayer text,.cartesianlayer text{fill:var(--ink)!important}
.gridlayer path{stroke:var(--rule)!important}
ul.tree{list-style:none;padding-left:1.4rem;margin:.2rem 0}
ul.tree b{display:inline-block;min-width:4.5rem;font-variant-numeric:tabular-nums}
@media print{:root{--paper:#fff;--ink:#000;--faint:#444;--rule:#bbb}body{max-width:none;margin:0}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}.modebar{display:none}
h2{break-before:page}h2:first-of-type{break-before:auto}}
"""

# The library is packed, which makes the page less than half as large.
# Its buttons are named: what plotly 7 has by itself sends a picture's data to a site, if pressed.
SCRIPT = """\
(async () => {
const text = id => document.getElementById(id).textContent
const plots = document.querySelectorAll(".plot")
try {
const bytes = atob(text("library"))
// Faster than Uint8Array.from() with a function.
const packed = new Uint8Array(bytes.length)
for (let i = 0; i < bytes.length; i++) packed[i] = bytes.charCodeAt(i)
const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))
const script = document.createElement("script")
script.textContent = await new Response(stream).text()
document.head.append(script)
const figures = JSON.parse(text("figures"))
plots.forEach((plot, i) => Plotly.newPlot(plot, figures[i].data, figures[i].layout,
{responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: "",
modeBarButtons: [["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]]}))
addEventListener("beforeprint", () => plots.forEach(plot => Plotly.relayout(plot, {width: 680})))
addEventListener("afterprint", () => plots.forEach(plot =>
Plotly.relayout(plot, {width: null, autosize: true})))
} catch (error) {
plots.forEach(plot => plot.textContent = "The pictures need a newer browser: " + error)
}
})()
"""

TREE = (
    ("parallel", "parallel efficiency: useful work", (
        ("mpi", "MPI: not lost while ranks are in MPI", (
            ("load_balance", "load balance: not lost to waiting for other ranks", ()),
            ("communication", "communication: not lost to exchange between all", ()))),
        ("openmp", "OpenMP: not lost inside the ranks", (
            ("serial", "serial parts: not lost while one thread works alone", ()),
            ("regions", "regions: not lost at barriers and in uneven loops", ()))))),
)


def _percent(share: float) -> str:
    """A little more than all of it is noise."""
    return "-" if math.isnan(share) else f"{100 * min(share, 1):.1f} %"


def _fixed(value: Optional[float], digits: int) -> str:
    return f"{value:.{digits}f}" if value is not None and math.isfinite(value) else "-"


def _row(cells: Iterable, tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + \
        "</tr>\n"


def _table(kind: str, head: Iterable[str], rows: Iterable[str]) -> str:
    return (f'<div class="wide"><table class="{kind}">\n{_row(head, "th")}{"".join(rows)}'
            "</table></div>\n")


class Part:
    """What the page says of one trace. REPLAY: what malleable replay says, or None."""

    def __init__(self, trace: Trace, replay: Optional[dict]):
        self.trace = trace
        self.policies = replay["policies"] if replay else []
        self.no_estimate = replay.get("no_estimate") if replay else None
        self.off_s = self.policies[0]["unbalanced_s"] if replay else None
        self.ideal_s = self.policies[0]["ideal_s"] if replay else None
        self.recorded_s = float(trace.windows.elapsed_s.sum())
        self.seconds = cpu_seconds(trace)
        self.parts = efficiencies(self.seconds.sum())
        self.memory = memory(trace)

    def figures(self) -> Iterator[str]:
        """As JSON that ends no script: plotly escapes what could."""
        yield draw(self.trace, self.seconds).to_json()
        if self.memory and len(self.memory.nodes) > 1:
            yield draw_memory(self.memory).to_json()

    def row(self) -> str:
        trace = self.trace
        return _row((printable(trace.path), trace.step, trace.node, trace.policy, trace.ranks,
                     len(trace.cpus), _fixed(self.recorded_s, 3), _fixed(self.off_s, 3),
                     _fixed(self.ideal_s, 3), _percent(self.parts["parallel"]),
                     _percent(self.parts["load_balance"])))

    def verdict(self) -> str:
        """In words: was it worth it, could it be?"""
        off_s, ideal_s, recorded_s = self.off_s, self.ideal_s, self.recorded_s
        if self.no_estimate:
            return (f"There is no estimate of what balancing brought: {self.no_estimate}. Record "
                    "it on a quiet node.")
        if off_s is None:
            return (f"Load balance {_percent(self.parts['load_balance'])}, parallel efficiency "
                    f"{_percent(self.parts['parallel'])}; what balancing gained is left out, as "
                    "there is no malleable replay here.")
        if off_s <= 0 or off_s - ideal_s < off_s / 100:
            return "The step is balanced as it is: there is nothing to gain."
        if self.trace.policy in ("observe", "off"):
            return (f"Nothing was balanced. At best it would be {off_s / ideal_s:.2f} times as "
                    f"fast: {ideal_s:.3f} s.")
        if recorded_s > 0 and off_s / recorded_s > 1:
            return (f"That is {off_s / recorded_s:.2f} times as fast as without balancing, by the "
                    f"model: {off_s:.3f} s unbalanced, {ideal_s:.3f} s at best.")
        return (f"Nothing was gained: the model says {off_s:.3f} s unbalanced, {ideal_s:.3f} s at "
                "best.")

    def tree(self, factors=TREE) -> str:
        items = (f'<li><b class="{key}">{_percent(self.parts[key])}</b> {text}'
                 f'{self.tree(below) if below else ""}</li>\n' for key, text, below in factors)
        return f'\n<ul class="tree">\n{"".join(items)}</ul>\n'

    def table_of_policies(self) -> str:
        if not self.policies:
            return ('<p class="note">Left out: there is no command <code>malleable</code> here. '
                    "Make the page where it is installed.</p>\n")
        rows = []
        for policy in self.policies:
            off_s, predicted_s = policy["unbalanced_s"], policy["predicted_s"]
            rows.append(_row((policy["policy"], _fixed(predicted_s, 3),
                              _fixed(predicted_s / off_s if off_s else None, 4),
                              _fixed(policy["share_of_attainable"], 3), policy["moves"])))
            if policy.get("rejected"):
                rows.append(f'<tr><td colspan="5">rejected: {html.escape(policy["rejected"])}'
                            "</td></tr>\n")
        return _table("policies", ("policy", "predicted s", "to off", "attained", "moves"), rows)

    def table_of_ranks(self) -> str:
        rows = (_row((sums.Index, sums.first, sums.last, *(
            f"{seconds:.3f}" for seconds in sums[3:])))
            for sums in rank_sums(self.trace).itertuples())
        return _table("ranks", ("rank", "CPUs at first", "in the end", "work s", "serial s",
                                "in MPI s", "idle in regions s"), rows)

    def where_memory_is(self) -> Iterator[str]:
        if not self.memory:
            return
        yield "<h3>Where the memory is</h3>\n"
        if len(self.memory.nodes) == 1:
            yield '<p class="note">All of it, and of the CPUs, is on one NUMA node.</p>\n'
            return
        yield ("<figure>\n<figcaption>The parts of each rank's pages that are on each NUMA node, "
               "beside the parts of its CPU time there: before CPUs moved between ranks for the "
               "first time, and after the last time. Where they differ the rank computes on memory "
               'of another node.</figcaption>\n<div class="plot"></div>\n</figure>\n')

    def html(self) -> Iterator[str]:
        trace = self.trace
        cut = " (the last line is not finished)" if trace.cut else ""
        path = html.escape(printable(trace.path))
        yield (f"<h2>Step {html.escape(trace.step)} on {html.escape(trace.node)}</h2>\n"
               f"<p>Policy {html.escape(trace.policy)}, {counted(trace.ranks, 'rank')}, "
               f"{counted(len(trace.cpus), 'CPU')}, {counted(len(trace.windows), 'window')}{cut}; "
               f"from {path}</p>\n"
               f'<p class="verdict">{self.recorded_s:.3f} s were recorded. {self.verdict()}</p>\n')
        yield ('<figure>\n<figcaption>Drag to zoom in, in all pictures; a double click zooms out. '
               "Use of each CPU: the colour of the rank, the stronger the longer it was busy "
               "there; below each CPU, where there are 64 at most, ranks that borrowed it. Who has "
               "which CPU: the rank that owns it; CPUs that are lent for a moment stay with their "
               "owner. CPUs at work: dark where a rank waits; ranks that differ are "
               "out of balance. Efficiencies: 100 % means that nothing is lost; load balance is "
               "lost where ranks wait for others.</figcaption>\n"
               '<div class="plot"></div>\n</figure>\n')
        yield from self.where_memory_is()
        yield ("<h3>Where the CPUs' time went</h3>\n"
               '<p class="note">Each is the product of those below it; 100 % means that nothing is '
               f"lost there (malleable-report(5)).</p>{self.tree()}")
        yield ('<h3>What each policy would make of it</h3>\n<p class="note">Predicted by '
               "<code>malleable replay</code>: the time, that time over the one without "
               "balancing, and the part of the possible gain.</p>\n" + self.table_of_policies())
        yield ('<h3>The ranks</h3>\n<p class="note">Seconds, all recorded windows together. Work '
               "and idle count each thread; serial is one thread alone, in MPI its waiting "
               "too.</p>\n" + self.table_of_ranks())


BEGIN = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="malleable-report">"""


def _hash(script: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"


def page(parts: list[Part]) -> Iterator[str]:
    """All of the page. Whatever names are in traces, no script runs but those of these hashes."""
    title = "Balance report"
    library = get_plotlyjs()
    packed = base64.b64encode(gzip.compress(library.encode(), 6, mtime=0)).decode()
    yield (f'{BEGIN}\n'
           '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
           f"style-src 'unsafe-inline'; img-src data:; script-src {_hash(SCRIPT)} "
           f'{_hash(library)}">\n'
           '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
           f"<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
           f"<h1>{title}</h1>\n<noscript><p>The pictures need scripts.</p></noscript>\n")
    if len(parts) > 1:
        yield "<h2>Runs compared</h2>\n" + _table("runs", (
            "trace", "step", "node", "policy", "ranks", "CPUs", "recorded s", "unbalanced s",
            "at best s", "efficiency", "load balance"), (part.row() for part in parts))
    for part in parts:
        yield from part.html()
    figures = ",\n".join(figure for part in parts for figure in part.figures())
    yield (f'<script type="application/json" id="figures">[{figures}]</script>\n'
           f'<script type="text/plain" id="library">{packed}</script>\n'
           f"<script>{SCRIPT}</script>\n</body>\n</html>\n")
