"""Every flag that --help of a program tells stands in the first column of a table of its page, and the other way round; and
whatever else the pages call a flag is one of some program: flags_test.py PROJECT_DIR BIN_DIR."""
import pathlib
import re
import sys

import pages
import programs

# Flags of scripts and of programs that are not ours.
OTHERS = {"browser", "cap-add", "cpus", "cpuset-cpus", "exclusive", "oversubscribe", "picture", "requeue"}
FLAG = re.compile(r"(?<![\w-])--([A-Za-z][\w-]*)")


def flags_of_page(page, program):
    """Of the program's section where the page has one, else of the page."""
    cells = list(page.first_cells())
    if any(section == program for _, section, _ in cells):
        cells = [cell for cell in cells if cell[1] == program]
    return {name: line for line, _, text in cells for name in FLAG.findall(text)}


def compare(page, program, told):
    """A short form is told with its long one."""
    listed = flags_of_page(page, program)
    for name in sorted(name for name in told if len(name) > 1 and name not in listed):
        yield f"{page.path}: --{name} of {program} stands in no table"
    for name in sorted(set(listed) - told):
        yield f"{page.path}:{listed[name]}: {program} --help does not tell --{name}"


def compare_values(page, told):
    """`told`: {flag: {"on", "off"}}; where the page has words to choose from, they are those."""
    for line, _, text in page.first_cells():
        for name, words in re.findall(FLAG.pattern + r"=([\w.-]+(?:\|[\w.-]+)+)", text.replace("\\|", "|")):
            if name in told and set(words.split("|")) != told[name]:
                yield f"{page.path}:{line}: --help says --{name}={'|'.join(sorted(told[name]))}"


def forms_of(page, program):
    """Those that a word chooses stand in a cell of their own or in a heading, as they are called."""
    text = page.path.read_text(encoding="utf-8")
    for form in programs.FORMS.get(program, []):
        if form and not re.search(rf"`[^`\n]*\b{' '.join([program, *form])}\b", text):
            yield f"{page.path}: {program} {' '.join(form)} stands nowhere"


def mentions(page, known):
    for line, text in page.prose:
        for code in re.findall(r"`(--[^`]*)`", text):
            for name in FLAG.findall(code):
                if name not in known | OTHERS:
                    yield f"{page.path}:{line}: no program has --{name}"


def main():
    root, run = pathlib.Path(sys.argv[1]).resolve(), programs.Programs(sys.argv[2])
    by_name = {page.path.name: page for page in pages.all_pages(root)}
    faults = []
    for program, name in programs.PAGES.items():
        faults += compare(by_name[name], program, run.flags(program))
        faults += compare_values(by_name[name], run.values(program))
        faults += forms_of(by_name[name], program)
    known = run.all_flags()
    for page in by_name.values():
        faults += mentions(page, known)
    print("\n".join(faults))
    print(f"{len(programs.PAGES)} programs, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
