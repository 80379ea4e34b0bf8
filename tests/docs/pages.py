"""What a Markdown page of the project has: headings, links, fenced blocks, tables."""
import pathlib
import re
from typing import NamedTuple


class Block(NamedTuple):
    language: str
    line: int  # of its first line, from 1
    text: str


class Page:
    def __init__(self, path: pathlib.Path):
        self.path = path
        self.lines = path.read_text(encoding="utf-8").split("\n")
        self.blocks = []
        self.prose = []  # (line number, text) outside of fenced blocks
        self._split()

    def _split(self):
        fence = None
        for number, line in enumerate(self.lines, 1):
            match = re.match(r"\s*```(\w*)\s*$", line)
            if fence is None and match:
                fence = (match.group(1), number + 1, [])
            elif fence is not None and match and not match.group(1):
                self.blocks.append(Block(fence[0], fence[1], "\n".join(fence[2])))
                fence = None
            elif fence is not None:
                fence[2].append(line)
            else:
                self.prose.append((number, line))
        if fence is not None:
            raise SystemExit(f"{self.path}:{fence[1] - 1}: this block does not end")

    def anchors(self):
        """As GitHub makes them of headings; a second one of a name gets -1."""
        made = set()
        for _, line in self.prose:
            heading = re.match(r"#{1,6}\s+(.*?)\s*$", line)
            if not heading:
                continue
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
            slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            name, count = slug, 0
            while name in made:
                count += 1
                name = f"{slug}-{count}"
            made.add(name)
        return made

    def links(self):
        """(line, target) of [text](target) and ![text](target), code spans left out."""
        for number, line in self.prose:
            for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
                yield number, target

    def first_cells(self):
        """(line, section, text) of the first column of every table."""
        section = ""
        for number, line in self.prose:
            if line.startswith("#"):
                section = line.lstrip("#").strip()
            if line.startswith("|") and not re.match(r"\|[\s\-:|]+\|?$", line):
                yield number, section, re.split(r"(?<!\\)\|", line)[1].strip()


def all_pages(root: pathlib.Path):
    """The pages that people read: those at the root, in docs/, and beside the configurations."""
    paths = [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("configs/**/*.md")]
    return [Page(path) for path in sorted(paths)]
