"""Reports: results, banks and profiles as one HTML file. docs/aoe_report.md.

    sources.py     what is drawn, read from files
    figures.py     drawings in SVG
    of_*.py        the parts of a page, of a result, a bank, a profile
    page.py        the page
"""

import os


def write(paths, output):
    """A report of these results, banks, profiles and runs, or of a single one; the path of the file."""
    from . import page, sources

    paths = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not paths:
        raise ValueError("nothing to report on: give a result, a bank or a profile")
    return page.write(sources.read(paths), output)
