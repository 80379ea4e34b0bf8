"""What the parts of a page are made of."""

import html

from .style import STYLE

MOST_BARS = 24  # in one drawing


def list_of(rows):
    """Of (name, value), without those that have none."""
    cells = (f"<dt>{name}</dt><dd>{escaped(value)}</dd>" for name, value in rows if value)
    return f"<dl>{''.join(cells)}</dl>"


def alone(content):
    return f"<style>{STYLE}</style><div class=aoe>{content}</div>"


def escaped(text):
    return html.escape(str(text))
