"""Every relative link of the documentation leads somewhere, anchors included, no table explains a name twice, and the front page fits: links_test.py PROJECT_DIR."""
import pathlib
import sys

import pages

FRONT_PAGE_LINES = 120


def broken_links(page, by_path):
    for line, target in page.links():
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        path = (page.path.parent / name).resolve() if name else page.path
        if not path.exists():
            yield f"{page.path}:{line}: {target}: there is no such file"
        elif anchor and path.suffix == ".md":
            other = by_path.get(path) or pages.Page(path)
            if anchor not in other.anchors():
                yield f"{page.path}:{line}: {target}: no heading makes this anchor"


def unreachable(by_path, root):
    """Pages to which no link leads, from the front page on: nobody would find them."""
    seen, new = set(), [root / "README.md", root / "CHANGELOG.md"]
    while new:
        page = by_path.get(new.pop())
        if page is None or page.path in seen:
            continue
        seen.add(page.path)
        new += [(page.path.parent / t.partition("#")[0]).resolve() for _, t in page.links()]
    for path in sorted(set(by_path) - seen):
        if path.parent == root / "docs":
            yield f"{path}: no link leads to it from README.md"


def explained_twice(page):
    """Names in tables of variables, flags or keys: two rows of one name may say two things."""
    names = None
    for line, _, cell in page.first_cells():
        if not cell.startswith("`"):
            names = set() if cell in ("variable", "flag", "key") else None
        elif names is not None and cell in names:
            yield f"{page.path}:{line}: {cell} stands in this table already"
        elif names is not None:
            names.add(cell)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    by_path = {page.path: page for page in pages.all_pages(root)}
    faults = [fault for page in by_path.values() for fault in broken_links(page, by_path)]
    faults += unreachable(by_path, root)
    faults += [fault for page in by_path.values() for fault in explained_twice(page)]
    front = len(by_path[root / "README.md"].lines) - 1
    if front > FRONT_PAGE_LINES:
        faults.append(f"README.md has {front} lines, a front page at most {FRONT_PAGE_LINES}")
    print("\n".join(faults))
    print(f"{len(by_path)} pages, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
