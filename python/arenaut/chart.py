"""The picture of a sweep: a bar for each combination, and the arena that all of them can share."""

from __future__ import annotations

LABEL, BAR, FIGURE, STEP, TOP = 220, 420, 120, 24, 56
MOST = 100  # bars; a note counts those left out
STYLE = """text{font:12px system-ui,sans-serif;fill:#24292f}.title{font-weight:600}.quiet{fill:#57606a}
.bar{fill:#9ec5e8}.most{fill:#d9822b}.line{stroke:#d9822b;stroke-width:1.5;stroke-dasharray:4 3}
.bound{stroke:#24292f;stroke-width:2}.ground{fill:#fff}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.quiet{fill:#9198a1}.bar{fill:#2f6f9f}.ground{fill:#0d1117}
.bound{stroke:#e6edf3}}"""


def svg(results):
    """The rows of a sweep as SVG, in the order of the work."""
    rows, deciding, shared = results.rows, results.deciding, results.shared
    shown = rows[:MOST]
    scale = BAR / shared if shared else 0
    lines = [line(k, row, row is deciding, scale) for k, row in enumerate(shown)]
    height = TOP + STEP * len(shown) + 12
    title = f"One arena for all {len(rows)}: {shared:,} bytes"
    if deciding:
        title += f", decided by {label(deciding)}"
    if len(rows) > MOST:
        title += f" (the first {MOST} are shown)"
    width, right = LABEL + BAR + FIGURE, LABEL + BAR
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img">', f"<title>{escaped(title)}</title>",
        f"<style>{STYLE}</style>", f'<rect class="ground" width="{width}" height="{height}"/>',
        f'<text class="title" x="12" y="22">{escaped(title)}</text>',
        '<text class="quiet" x="12" y="41">bars: bytes planned; marks: lower bounds of all plans</text>',
        *lines, f'<path class="line" d="M{right} {TOP - 6}V{height - 8}"/>', "</svg>"]) + "\n"


def line(number, row, most, scale):
    top = TOP + STEP * number
    text = f'<text x="{LABEL - 10}" y="{top + 15}" text-anchor="end">{escaped(label(row))}</text>'
    if row.error is not None:
        return text + f'<text class="quiet" x="{LABEL}" y="{top + 15}">failed: {escaped(row.error[:70])}</text>'
    end = LABEL + row.planned * scale
    bound = LABEL + row.bound * scale
    return (text + f'<rect class="{"most" if most else "bar"}" x="{LABEL}" y="{top + 3}" rx="2" '
            f'width="{max(1, end - LABEL):.1f}" height="{STEP - 7}"/>'
            f'<path class="bound" d="M{bound:.1f} {top + 1}v{STEP - 3}"/>'
            f'<text class="quiet" x="{LABEL + BAR + 8}" y="{top + 15}">{row.planned:,}</text>')


def label(row):
    """The label of a row: its own options, or its name."""
    own = {**row.options, **row.options.get("dims", {})}
    text = ", ".join(f"{name} {value}" for name, value in own.items() if name != "dims") or row.name
    return text if len(text) <= 34 else f"…{text[-33:]}"


def escaped(text):
    for sign, name in ("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"):
        text = text.replace(sign, name)
    return text
