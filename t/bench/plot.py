# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the CPUs of each rank over time as an SVG: one band a rank, as high as it has CPUs."""
import html

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 800, 360, 50, 30, 40
COLORS = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f"]


def band(history, rank, end, scale_x, scale_y):
    """The outline of a rank's band: along its upper edge in time, back along its lower one."""
    upper, lower = [], []
    for index, (time, counts) in enumerate(history):
        until = history[index + 1][0] if index + 1 < len(history) else end
        below, above = sum(counts[:rank]), sum(counts[:rank + 1])
        for x in (time, until):
            upper.append(f"{scale_x(x):.1f},{scale_y(above):.1f}")
            lower.append(f"{scale_x(x):.1f},{scale_y(below):.1f}")
    return " ".join(upper + lower[::-1])


def cpus_over_time(title, history, end):
    """HISTORY as in the report's cpus_over_time, until END seconds; returns the SVG's text."""
    cpus = max(sum(counts) for _, counts in history)
    ranks = max(len(counts) for _, counts in history)
    history = [(time, counts + [0] * (ranks - len(counts))) for time, counts in history]
    end = max(end, history[-1][0] + 1e-3)

    def scale_x(time):
        return LEFT + time / end * (WIDTH - LEFT - 70)

    def scale_y(count):
        return HEIGHT - BOTTOM - count / cpus * (HEIGHT - TOP - BOTTOM)

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
             'font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             f'<text x="{LEFT}" y="18" font-size="14">{html.escape(title)}</text>']
    for rank in range(ranks):
        color = COLORS[rank % len(COLORS)]
        lines.append(f'<polygon points="{band(history, rank, end, scale_x, scale_y)}" '
                     f'fill="{color}" stroke="white"/>')
        last = history[-1][1]
        middle = scale_y(sum(last[:rank]) + last[rank] / 2)
        lines.append(f'<text x="{WIDTH - 64}" y="{middle + 4:.1f}" fill="{color}">rank {rank}: '
                     f'{last[rank]}</text>')
    for tick in range(5):
        time, count = end * tick / 4, cpus * tick / 4
        lines.append(f'<text x="{scale_x(time):.1f}" y="{HEIGHT - 20}" '
                     f'text-anchor="middle">{time:.1f} s</text>')
        lines.append(f'<text x="{LEFT - 6}" y="{scale_y(count) + 4:.1f}" '
                     f'text-anchor="end">{count:g}</text>')
    lines.append(f'<text x="{LEFT}" y="{HEIGHT - 4}">CPUs owned by each rank, stacked, over '
                 'time</text>')
    return "\n".join(lines + ["</svg>", ""])
