"""Reports: results, banks and profiles as one HTML file. docs/aoe_report.md.

    sources.py     what is drawn, read from files
    figures.py     drawings in SVG
    fragments.py   the parts of a page, of one result, task or profile each
    page.py        the page
"""


def write(paths, output):
    """A report of these results, banks, profiles and runs; the path of the file."""
    from . import page, sources

    return page.write(sources.read(paths), output)
