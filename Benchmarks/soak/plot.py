#!/usr/bin/env python3
"""Draws a file of samples over time as SVG, and prints it as a table of ten rows.

    plot.py soak.csv soak.svg

Nothing but Python's standard library is needed.
"""

import csv
import math
import statistics
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900, 170, 70, 170, 26, 24
COLORS = ["#1f5fa8", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#0e7490", "#be123c", "#475569"]
X_COLUMNS = ("updates", "documents", "seconds")
MEGA = 1e6

# title, columns, divisor, logarithmic
PANELS = [
    ("Memory, MB", ["residentBytes", "anonymousBytes", "indexMemoryBytes"], MEGA, False),
    ("Disk, MB", ["diskBytes", "logBytes", "deadBytes", "indexFileBytes"], MEGA, False),
    ("Writes, microseconds", ["writeP50us", "writeP99us", "writeP999us", "writeMaxUs"], 1, True),
    ("Reads, microseconds", ["readP50us", "readP99us", "readP999us", "readMaxUs"], 1, True),
    ("Calls a second", ["writesPerSecond", "readsPerSecond"], 1, False),
    ("Open descriptors, log segments", ["descriptors", "logSegments"], 1, False),
]
# Not worth a panel of their own: they only grow, or are one number, or are drawn as a shade.
LEFT_OUT = {"sequence", "checkpointSequence", "format", "readOnly", "peakBytes", "snapshotHeld", *X_COLUMNS}

# heading, column, divisor, how the samples of a row are put together
TABLE = [
    ("writes/s", "writesPerSecond", 1, statistics.mean),
    ("p50 us", "writeP50us", 1, statistics.median),
    ("p99 us", "writeP99us", 1, statistics.median),
    ("p99.9 us", "writeP999us", 1, max),
    ("longest ms", "writeMaxUs", 1000, max),
    ("reads/s", "readsPerSecond", 1, statistics.mean),
    ("p50 us", "readP50us", 1, statistics.median),
    ("p99.9 us", "readP999us", 1, max),
    ("anonymous MB", "anonymousBytes", MEGA, max),
    ("resident MB", "residentBytes", MEGA, max),
    ("disk MB", "diskBytes", MEGA, max),
    ("descriptors", "descriptors", 1, max),
]


def read(path):
    """The columns by name; what is missing in a line is NaN."""
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    names = list(rows[0]) if rows else []
    return {name: [float(row[name]) if row[name] else math.nan for row in rows] for name in names}


def short(value):
    """A number for an axis."""
    for limit, suffix in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            return f"{value / (1000 if suffix == 'k' else limit):g}{suffix}"
    return f"{value:g}"


def ticks(low, high, logarithmic):
    """Round numbers between two, and the two ends that they give the axis."""
    if logarithmic:
        first = math.floor(math.log10(max(low, 0.1)))
        last = max(first + 1, math.ceil(math.log10(max(high, 1))))
        return [10.0**e for e in range(first, last + 1)]
    if high <= 0:
        return [0, 1]
    step = 10 ** math.floor(math.log10(high))
    step = next(s for s in (step / 5, step / 2, step, step * 2) if high / s <= 5)
    return [i * step for i in range(math.ceil(high / step) + 1)]


class Panel:
    """One diagram: lines over the same x."""

    def __init__(self, x, lines, logarithmic, top):
        self.x, self.top, self.logarithmic = x, top, logarithmic
        values = [v for _, ys in lines for v in ys if not math.isnan(v)]
        self.ticks = ticks(min(values), max(values), logarithmic)
        self.span = (min(x), max(x) if max(x) > min(x) else min(x) + 1)

    def at_x(self, value):
        low, high = self.span
        return LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def at_y(self, value):
        low, high = self.ticks[0], self.ticks[-1]
        if self.logarithmic:
            value, low, high = (math.log10(max(v, self.ticks[0])) for v in (value, low, high))
        return self.top + TOP + (1 - (value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM)


def text(x, y, content, anchor="start", color="#334155", weight="normal"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}" font-weight="{weight}">{content}</text>'


def draw_panel(out, title, x, lines, logarithmic, top, held):
    p = Panel(x, lines, logarithmic, top)
    out.append(text(LEFT, top + 16, title, weight="bold"))
    for i, on in enumerate(held[:-1]):
        if on:
            begin, end = p.at_x(x[i]), p.at_x(x[i + 1])
            out.append(f'<rect x="{begin:.1f}" y="{top + TOP}" width="{end - begin + 0.5:.1f}" '
                       f'height="{HEIGHT - TOP - BOTTOM}" fill="#fde68a" fill-opacity="0.45"/>')
    for tick in p.ticks:
        y = p.at_y(tick)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#e2e8f0"/>')
        out.append(text(LEFT - 6, y + 4, short(tick), "end"))
    for i in range(5):
        value = p.span[0] + (p.span[1] - p.span[0]) * i / 4
        out.append(text(p.at_x(value), top + HEIGHT - 8, short(round(value)), "middle"))
    for number, (name, ys) in enumerate(lines):
        color = COLORS[number % len(COLORS)]
        points = " ".join(f"{p.at_x(a):.1f},{p.at_y(b):.1f}" for a, b in zip(x, ys) if not math.isnan(b))
        out.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.3"/>')
        out.append(text(WIDTH - RIGHT + 10, top + TOP + 12 + 16 * number, name, color=color))


def panels_of(columns):
    """What is to be drawn: (title, [(name, values)], logarithmic)."""
    used = set()
    for title, names, divisor, logarithmic in PANELS:
        lines = [(n, [v / divisor for v in columns[n]]) for n in names if n in columns]
        used.update(names)
        if any(not math.isnan(v) for _, ys in lines for v in ys):
            yield title, lines, logarithmic
    for name, values in columns.items():
        if name not in used and name not in LEFT_OUT and any(not math.isnan(v) for v in values):
            divisor = MEGA if name.endswith("Bytes") else 1
            yield name + (", MB" if divisor == MEGA else ""), [(name, [v / divisor for v in values])], False


def svg(columns, path):
    x_name = next(n for n in X_COLUMNS if n in columns)
    x = columns[x_name]
    held = columns.get("snapshotHeld", [0] * len(x))
    panels = list(panels_of(columns))
    height = HEIGHT * len(panels) + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
           f'height="{height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>']
    for number, (title, lines, logarithmic) in enumerate(panels):
        draw_panel(out, title, x, lines, logarithmic, number * HEIGHT, held)
    note = x_name + ("; yellow: a snapshot is held" if any(held) else "")
    out += [text((WIDTH - RIGHT + LEFT) / 2, height - 10, note, "middle"), "</svg>"]
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")


def table(columns, rows=10):
    """Prints the samples in so many rows, as Markdown."""
    x_name = next(n for n in X_COLUMNS if n in columns)
    shown = [t for t in TABLE if t[1] in columns]
    print("| " + " | ".join([x_name] + [heading for heading, *_ in shown]) + " |")
    print("| " + " | ".join(["---:"] * (len(shown) + 1)) + " |")
    count = len(columns[x_name])
    for row in range(min(rows, count)):
        first, last = row * count // min(rows, count), (row + 1) * count // min(rows, count)
        cells = [short(round(columns[x_name][last - 1]))]
        for _, name, divisor, together in shown:
            values = [v / divisor for v in columns[name][first:last] if not math.isnan(v)]
            value = together(values) if values else math.nan
            cells.append(f"{value:.1f}" if value < 100 else f"{value:.0f}")
        print("| " + " | ".join(cells) + " |")


def main():
    if len(sys.argv) != 3:
        print("usage: plot.py SAMPLES.csv DIAGRAM.svg", file=sys.stderr)
        return 64
    columns = read(sys.argv[1])
    if not columns:
        print(f"{sys.argv[1]} has no samples", file=sys.stderr)
        return 1
    svg(columns, sys.argv[2])
    table(columns)
    return 0


if __name__ == "__main__":
    sys.exit(main())
