"""The benchmark's picture, written as SVG by hand: no plotting library is needed."""

import math
from html import escape

WIDTH, HEIGHT = 900, 470
LEFT, RIGHT, TOP, BOTTOM = 90, 240, 20, 50
FASTEST, SLOWEST = 1e-4, 1e2  # CPU seconds
LEAST, MOST = 1e-5, 3.0  # arena / bound − 1; points at the bound lie on the lowest line

# Drawn in this order, so that the ones that matter lie on top.
SERIES = [
    ("greedy allocators (omnimalloc)", "#b8b8b8", "circle"),
    ("HillClimb (Vela)", "#e08b2c", "square"),
    ("SuperMalloc, six threads", "#3f6fbf", "square"),
    ("arenaut: exact", "#6fbf8f", "circle"),
    ("arenaut: auto", "#0f7a3d", "circle"),
]


def series_of(contestant):
    names = {"hillclimb": 1, "supermalloc-6": 2, "exact": 3, "auto": 4}
    greedy = contestant in ("greedy", "best_fit", "omni") or contestant.startswith("greedy_by_")
    return 0 if greedy else names.get(contestant)


def x_of(cpu):
    part = math.log(min(max(cpu, FASTEST), SLOWEST) / FASTEST) / math.log(SLOWEST / FASTEST)
    return LEFT + part * (WIDTH - LEFT - RIGHT)


def y_of(ratio):
    bottom = HEIGHT - BOTTOM
    if ratio <= 1:
        return bottom
    above = min(max(ratio - 1, LEAST), MOST)
    part = math.log(above / LEAST) / math.log(MOST / LEAST)
    return bottom - 30 - part * (bottom - 30 - TOP)


def text(x, y, words, anchor="middle"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def mark(x, y, colour, shape):
    if shape == "square":
        return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{colour}"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>'


def axes():
    parts = []
    for power in range(-4, 3):
        x = x_of(10.0 ** power)
        parts.append(f'<path class="grid" d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
        parts.append(text(x, HEIGHT - BOTTOM + 18, f"{10.0 ** power:g} s"))
    rows = [(1, "at the bound")] + [(1 + part, f"+{100 * part:g} %")
                                    for part in (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)]
    for ratio, words in rows:
        y = y_of(ratio)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(text(LEFT - 8, y + 4, words, "end"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "CPU time of the solve"))
    return parts


def scatter(points):
    """One mark per contestant and problem: CPU time to the right, waste upwards."""
    marks = [[] for _ in SERIES]
    for contestant, cpu, ratio in points:
        series = series_of(contestant)
        if series is not None:
            marks[series].append(mark(x_of(cpu), y_of(ratio), *SERIES[series][1:]))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
             f'width="{WIDTH}" height="{HEIGHT}">',
             "<title>Arena above the lower bound against CPU time</title>",
             "<style>text{font:12px sans-serif;fill:#333}.grid{stroke:#e4e4e4;fill:none}"
             "circle,rect{fill-opacity:.85}</style>",
             f'<path d="M0 0H{WIDTH}V{HEIGHT}H0Z" fill="#fff"/>', *axes()]
    for group in marks:
        parts += group
    for i, (name, colour, shape) in enumerate(reversed(SERIES)):
        y = TOP + 20 + 22 * i
        parts.append(mark(WIDTH - RIGHT + 20, y, colour, shape))
        parts.append(text(WIDTH - RIGHT + 32, y + 4, name, "start"))
    return "\n".join(parts) + "\n</svg>\n"
