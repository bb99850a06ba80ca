# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which rank used each CPU, as a picture (SVG) that is light or dark as its reader has it."""
from __future__ import annotations

import math
from typing import Iterator

from .files import Failure
from .trace import Trace

BEGIN = '<svg xmlns="http://www.w3.org/2000/svg" data-by="malleable-convert"'
# Of each picture: a browser that shows it alone, or in a page, has no dark paper behind it.
LIGHT = ":root{background:#fff}text{fill:#1a1a1a}"
DARK = ":root{background:#161616}text{fill:#e8e8e8}"
LEFT, WIDTH, TOP, OWNED, BORROWED, GAP = 62, 640, 34, 14, 8, 4
LEGEND = 16  # so many ranks at most are named


def _height(lane: int) -> int:
    return BORROWED if lane else OWNED


def _cells(part, row: int, shades: int, pixel_s: float) -> Iterator[tuple[int, int, float, float]]:
    """Colour of the rank, shade, and times of a lane: columns that look alike are one cell."""
    from .figures import RANK_COLOURS
    columns, last = part.columns, None
    for column, (rank, busy) in enumerate(zip(part.rank[row], part.part[row])):
        shade = min(math.ceil(busy * (shades - 1)), shades - 1)
        if not shade:
            continue
        look = (int(rank) % len(RANK_COLOURS), shade)
        begin_s, end_s = columns.begin_s[column], columns.end_s[column]
        if last and last[:2] == look and begin_s - last[3] < pixel_s:
            last = (*look, last[2], end_s)
            continue
        if last:
            yield last
        last = (*look, begin_s, end_s)
    if last:
        yield last


def _ticks(end_s: float) -> Iterator[float]:
    step = 10 ** math.floor(math.log10(end_s / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if end_s / (step * factor) <= 6)
    yield from (step * index for index in range(int(end_s / step) + 1))


def _lanes(trace: Trace, parts: list, scale: float) -> Iterator[str]:
    """The CPUs' names, and a path for each colour and shade."""
    from .figures import RANK_COLOURS, SHADES
    paths: dict[tuple[int, int], list[str]] = {}
    y = TOP
    for row, cpu in enumerate(trace.cpus):
        yield f'<text x="{LEFT - 6}" y="{y + 11}" text-anchor="end">CPU {cpu}</text>\n'
        for lane, part in enumerate(parts):
            for colour, shade, begin_s, end_s in _cells(part, row, SHADES, 1 / scale):
                left, right = LEFT + begin_s * scale, LEFT + end_s * scale
                paths.setdefault((colour, shade), []).append(
                    f"M{left:.1f} {y}H{right:.1f}v{_height(lane)}H{left:.1f}z")
            y += _height(lane)
        y += GAP
    for (colour, shade), found in sorted(paths.items()):
        yield (f'<path fill="{RANK_COLOURS[colour]}" fill-opacity="{shade / (SHADES - 1):.1f}" '
               f'd="{"".join(found)}"/>\n')


def to_svg(trace: Trace) -> Iterator[str]:
    """A lane for each CPU: the colour of the rank, the stronger the longer it was busy there; and a
    narrow one below it for ranks that borrowed it, where CPUs are few."""
    from .figures import RANK_COLOURS, use
    end_s = float(trace.windows.end_s.max())
    if not trace.tells_use() or end_s <= 0:
        raise Failure(f"{trace.path}: it does not tell how long CPUs were busy")
    parts = use(trace)
    scale = WIDTH / end_s
    bottom = TOP + len(trace.cpus) * (sum(map(_height, range(len(parts)))) + GAP)
    yield (f'{BEGIN} viewBox="0 0 {LEFT + WIDTH + 24} {bottom + 24}" '
           'font-family="system-ui,sans-serif" font-size="12">\n<title>Which rank used each CPU'
           f"</title>\n<style>{LIGHT}.rule{{stroke:#d0d0d0}}"
           f"@media(prefers-color-scheme:dark){{{DARK}.rule{{stroke:#444}}}}</style>\n")
    for index in range(trace.ranks if trace.ranks <= LEGEND else 0):
        x, y = LEFT + 78 * (index % 8), 6 + 13 * (index // 8)
        yield (f'<rect x="{x}" y="{y}" width="10" height="10" '
               f'fill="{RANK_COLOURS[index % len(RANK_COLOURS)]}"/>'
               f'<text x="{x + 14}" y="{y + 9}">rank {index}</text>\n')
    for tick in _ticks(end_s):
        x = LEFT + tick * scale
        yield (f'<path class="rule" d="M{x:.1f} {TOP - 3}V{bottom}"/>'
               f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{tick:g} s</text>\n')
    yield from _lanes(trace, parts, scale)
    yield "</svg>\n"
