"""Drawings in SVG. What is drawn of data has the class `mark`, and a <title> that says its figures.

Colours and fonts stand in page.STYLE, by class, so that a report follows light and dark.
"""

import html
import math

from ..tables import shortened

WIDTH = 860
_LABEL = 300  # room for names at the left
_FIGURE = 110  # and for figures at the right
_ROW = 22
MOST_LETTERS = 42  # of a name, that fit beside a bar
_MOST_LETTERS_OF_NOTE = 26  # behind it
_LETTER = 6.7  # how wide one is


def intervals(rows, unit, reference=None):
    """A line each: (label, class, value, low, high). `reference`: (value, words)."""
    ends = [end for _, _, value, low, high in rows for end in (value, low, high)]
    if reference:
        ends.append(reference[0])
    at = _linear(min(ends), max(ends), _LABEL, WIDTH - _FIGURE, margin=0.08)
    parts = []
    for number, (label, kind, value, low, high) in enumerate(rows):
        y = 20 + number * 30
        words = f"{label}: {_number(value)} {unit}, {_number(low)} to {_number(high)}"
        parts.append(_text(_LABEL - 12, y + 4, label, "end", "label"))
        parts.append(
            f'<g class="mark interval {kind}">{_title(words)}'
            f'<line x1="{at(low):.1f}" y1="{y}" x2="{at(high):.1f}" y2="{y}"/>'
            f'<line x1="{at(low):.1f}" y1="{y - 6}" x2="{at(low):.1f}" y2="{y + 6}"/>'
            f'<line x1="{at(high):.1f}" y1="{y - 6}" x2="{at(high):.1f}" y2="{y + 6}"/>'
            f'<circle cx="{at(value):.1f}" cy="{y}" r="5"/></g>'
        )
        parts.append(_text(WIDTH, y + 4, f"{_number(value)} {unit}", "end", "figure"))
    height = 30 * len(rows) + 10
    if reference:
        x = at(reference[0])
        parts.insert(
            0, f'<line class="reference" x1="{x:.1f}" y1="4" x2="{x:.1f}" y2="{height - 8}"/>'
        )
        parts.append(_text(x, height + 6, reference[1], "middle", "note"))
        height += 12
    return _svg(height, parts)


def bars(rows, unit):
    """Rows of one or more bars: (label, note, [(class, value, words)]); all bars have one scale.
    The note stands behind the bars, which leave it room."""
    notes = [shortened(note, _MOST_LETTERS_OF_NOTE) for _, note, _ in rows]
    largest = max((value for _, _, several in rows for _, value, _ in several), default=0) or 1
    room = WIDTH - _FIGURE - _LABEL - 18 - _LETTER * max(map(len, notes), default=0)
    parts, y = [], 6
    for (label, whole_note, several), note in zip(rows, notes):
        height = _ROW - 6 if len(several) == 1 else 9
        middle = y + (height + 2) * len(several) / 2 + 3
        parts.append(
            _text(_LABEL - 12, middle, shortened(label, MOST_LETTERS), "end", "label", label)
        )
        for kind, value, words in several:
            long = max(room * value / largest, 0.5)
            parts.append(
                f'<rect class="mark bar {kind}" x="{_LABEL}" y="{y}" width="{long:.1f}"'
                f' height="{height}" rx="2">{_title(f"{label}: {words}")}</rect>'
            )
            y += height + 2
        if note:
            longest = max(value for _, value, _ in several) * room / largest
            parts.append(_text(_LABEL + longest + 6, middle, note, "start", "note", whole_note))
        shown = " \u2192 ".join(_number(value) for _, value, _ in several)
        parts.append(_text(WIDTH, middle, f"{shown} {unit}", "end", "figure"))
        y += 6
    return _svg(y, parts)


def stack(segments, unit):
    """One bar of several parts: (class, words, value)."""
    total = sum(value for _, _, value in segments) or 1
    parts, x, legend_x = [], 0.0, 0
    for kind, words, value in segments:
        if value <= 0:
            continue
        long = WIDTH * value / total
        parts.append(
            f'<rect class="mark bar {kind}" x="{x:.1f}" y="2" width="{long:.1f}" height="22">'
            f'{_title(f"{words}: {_number(value)} {unit}".strip())}</rect>'
        )
        legend = f"{words}: {_number(value)} {unit}".strip()
        parts.append(
            f'<rect class="bar {kind}" x="{legend_x}" y="36" width="10" height="10" rx="2"/>'
        )
        parts.append(_text(legend_x + 15, 45, legend))
        legend_x += 34 + int(6.8 * len(legend))
        x += long
    return _svg(54, parts)


def steps(values, reference, unit):
    """The best so far after each trial, as a small drawing; `reference`: the default's value."""
    width, height = 270, 84
    everything = [*values, *([reference] if reference else [])]
    at_y = _linear(min(everything), max(everything), height - 8, 8, margin=0.05)
    at_x = _linear(0, max(len(values) - 1, 1), 4, width - 4)
    points = [f"M{at_x(0):.1f} {at_y(values[0]):.1f}"]
    points += [f"H{at_x(i):.1f}V{at_y(value):.1f}" for i, value in enumerate(values) if i]
    words = f"{len(values)} trials, from {_number(values[0])} to {_number(values[-1])} {unit}"
    parts = []
    if reference:
        y = at_y(reference)
        parts.append(
            f'<line class="reference" x1="4" y1="{y:.1f}" x2="{width - 4}" y2="{y:.1f}">'
            f'{_title(f"default {_number(reference)} {unit}")}</line>'
        )
    parts.append(f'<path class="mark line" d="{"".join(points)}">{_title(words)}</path>')
    parts.append(
        f'<circle class="end" cx="{at_x(len(values) - 1):.1f}" cy="{at_y(values[-1]):.1f}" r="3"/>'
    )
    return _svg(height, parts, width)


def roofline(points, peak_gflops, memory_gb_s):
    """Points: (words, flops per byte, gigaflops per second, share of the model's time). Both axes
    are logarithmic; the area of a point is its share. Roofs that are not known are None."""
    height, left, bottom = 420, 60, 370
    low_x, high_x = _decades([x for _, x, _, _ in points])
    low_y, high_y = _decades([y for _, _, y, _ in points] + [v for v in (peak_gflops,) if v])
    at_x = _logarithmic(low_x, high_x, left, WIDTH - 12)
    at_y = _logarithmic(low_y, high_y, bottom, 14)
    parts = []
    for power in range(round(math.log10(low_x)), round(math.log10(high_x)) + 1):
        x = at_x(10.0**power)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="14" x2="{x:.1f}" y2="{bottom}"/>')
        parts.append(_text(x, bottom + 16, _number(10.0**power), "middle", "note"))
    for power in range(round(math.log10(low_y)), round(math.log10(high_y)) + 1):
        y = at_y(10.0**power)
        parts.append(
            f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{WIDTH - 12}" y2="{y:.1f}"/>'
        )
        parts.append(_text(left - 8, y + 4, _number(10.0**power), "end", "note"))
    parts.append(
        _text((left + WIDTH) / 2, bottom + 36, "operations per byte of memory traffic", "middle")
    )
    parts.append(_text(left + 6, 24, "GFLOP/s", "start", "note"))
    roof = _roof(peak_gflops, memory_gb_s, low_x, high_x, low_y)
    if roof:
        path = "L".join(f"{at_x(x):.1f} {at_y(y):.1f}" for x, y in roof)
        words = ", ".join(
            text
            for value, text in (
                (peak_gflops, f"{peak_gflops} GFLOP/s"),
                (memory_gb_s, f"{memory_gb_s} GB/s"),
            )
            if value
        )
        parts.append(
            '<path class="roof"'
            f' d="M{path}">{_title(f"what the om takes the machine for: {words}")}</path>'
        )
    for words, x, y, share in sorted(points, key=lambda point: -point[3]):
        radius = 3 + 22 * math.sqrt(max(share, 0))
        parts.append(
            f'<circle class="mark point" cx="{at_x(x):.1f}" cy="{at_y(y):.1f}"'
            f' r="{radius:.1f}">{_title(words)}</circle>'
        )
    return _svg(height, parts)


def _roof(peak, memory, low_x, high_x, low_y):
    """Corners from left to right, in what is drawn."""
    if not memory:
        return [(low_x, peak), (high_x, peak)] if peak else []
    begin = max(low_x, low_y / memory)
    if not peak:
        return [(begin, begin * memory), (high_x, high_x * memory)]
    ridge = min(max(peak / memory, low_x), high_x)
    corners = [(ridge, min(peak, ridge * memory))]
    if begin < ridge:
        corners.insert(0, (begin, begin * memory))
    return [*corners, (high_x, corners[-1][1])] if ridge < high_x else corners


def _linear(low, high, begin, end, margin=0.0):
    room = (high - low) * margin or abs(low) * 0.01 or 1.0 if margin else 0.0
    low, high = low - room, high + room
    width = high - low or 1.0
    return lambda value: begin + (end - begin) * (value - low) / width


def _logarithmic(low, high, begin, end):
    inner = _linear(math.log10(low), math.log10(high), begin, end)
    return lambda value: inner(math.log10(min(max(value, low), high * 10)))


def _decades(values):
    """Powers of ten around them."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return 10.0**low, 10.0 ** max(high, low + 1)


def _number(value):
    if value == 0:
        return "0"
    if abs(value) >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.1f}"


def _title(words):
    return f"<title>{html.escape(words)}</title>"


def _text(x, y, text, anchor="start", kind="", words=""):
    inner = _title(words) if words and words != text else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
        f' class="{kind}">{inner}{html.escape(text)}</text>'
    )


def _svg(height, parts, width=WIDTH):
    body = "\n".join(parts)
    drawing = f'<svg viewBox="0 0 {width} {height:.0f}" width="{width}" role="img">\n{body}\n</svg>'
    return f"<div class=wide>{drawing}</div>" if width == WIDTH else drawing
