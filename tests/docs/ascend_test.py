"""docs/ascend.md says of every flag of atc and aoe what the program says of it: ascend_test.py PROJECT_DIR BIN_DIR.

What is idle or refused comes from one table in the programs, which --help shows: "accepted, without effect: ..", "known, but refused: ..".
"""
import pathlib
import re
import subprocess
import sys

import pages

STATES = (
    ("known, but refused", "refused"),
    ("accepted, without effect", "idle"),
    ("accepted", "idle"),
)


def told(binaries, program):
    """{flag: (state, reason)} of --help: ("same", ""), ("idle", why), ("refused", why)."""
    text = subprocess.run(
        [binaries / program, "--help"], capture_output=True, text=True, check=True
    ).stdout
    entries = re.split(r"\n(?=  -)", text.split("Flags:", 1)[1].split("\n\n", 1)[0])
    flags = {}
    for entry in entries:
        name = re.search(r"--([\w-]+)", entry)
        if name:
            words = " ".join(entry.split())
            found = [
                (state, words.split(begin, 1)[1].lstrip(": "))
                for begin, state in STATES
                if begin in words
            ]
            flags[name.group(1)] = found[0] if found else ("same", "")
    return flags


def rows(page):
    """(line, flags, programs, state, reason) of the tables of flags."""
    for number, line in page.prose:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
        if len(cells) == 4 and cells[0].startswith("`--"):
            yield number, re.findall(r"`--([\w-]+)", cells[0]), cells[1].split(", "), cells[
                2
            ], cells[3].replace("`", "")


def main():
    root, binaries = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    page = pages.Page(root / "docs" / "ascend.md")
    truth = {program: told(binaries, program) for program in ("atc", "aoe")}
    seen, faults = {"atc": set(), "aoe": set()}, []
    for line, flags, programs, state, reason in rows(page):
        word = "same" if state in ("same", "ours", "differs") else state
        for program in programs:
            for flag in flags:
                seen[program].add(flag)
                found, why = truth[program].get(flag, ("unknown", ""))
                if found != word:
                    faults.append(
                        f"{page.path}:{line}: --{flag} of {program} is '{state}' here, in --help '{found}'"
                    )
                elif word != "same" and reason != why:
                    faults.append(
                        f"{page.path}:{line}: --{flag} of {program} is {word} because '{why}'"
                    )
    for program, flags in truth.items():
        faults += [
            f"{page.path}: --{flag} of {program} is missing"
            for flag in sorted(set(flags) - seen[program])
        ]
    print("\n".join(faults))
    print(f"{sum(map(len, seen.values()))} flags, {len(faults)} faults")
    return 1 if faults or not seen["atc"] else 0


if __name__ == "__main__":
    sys.exit(main())
