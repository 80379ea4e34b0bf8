"""Every command line of the documentation could run: the program is there and knows the flags. commands_test.py PROJECT_DIR BIN_DIR.

A command line is what stands in a block ```sh. Which pages' commands really run, runs_test.py says."""
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pages
import programs

# Programs of others that the pages use; none of their flags is checked.
OTHERS = {"cmake", "ctest", "npm", "pip", "python3", "sqlite3", "cat", "mkdir", "cd", "export", "for", "done", ".", "bash", "perf"}
BEGINS_COMMAND = {"do", "then", "else", "!", "{", "if", "while"}


def simple_commands(text):
    """Lists of words, one for each simple command, without redirections and assignments before it."""
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"(?m)(^|\s)#(\s.*)?$", "", text)
    lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t", "", True
    words, skips_next = [], False
    for token in [*lexer, "\n"]:
        if set(token) <= set("<>&") and set(token) & set("<>"):
            skips_next = True
        elif set(token) <= set("();|&\n"):
            if words:
                yield words
            words = []
        elif skips_next:
            skips_next = False
        elif not words and (token in BEGINS_COMMAND or re.match(r"\w+=", token)):
            continue
        else:
            words.append(token)


class Checker:
    def __init__(self, root, binaries):
        self.root, self.programs = root, programs.Programs(binaries)

    def faults(self, words):
        """Of one simple command. `msprof flags PROGRAM arguments` is two."""
        name = os.path.basename(words[0])
        if "/" in words[0] and not words[0].startswith("build/"):
            if not (self.root / words[0]).exists():
                yield f"there is no {words[0]}"
        elif name in programs.PAGES:
            yield from self.flag_faults(name, words[1:])
        elif words[0] not in OTHERS and not words[0].startswith("build/"):
            yield f"'{words[0]}' is no program of ours, and not among those of others"

    def flag_faults(self, program, words):
        if program == "aoe" and words[:1] == ["report"]:
            program = "aoe_report"
        for i, word in enumerate(words):
            if program == "msprof" and not word.startswith("-"):
                if os.path.basename(word) in programs.PAGES:
                    yield from self.faults(words[i:])
                    return
            flag = word.lstrip("-").partition("=")[0]
            if word.startswith("-") and not re.fullmatch(r"-\d.*", word) and flag not in self.programs.flags(program):
                yield f"{program} has no flag {word.partition('=')[0]}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    checker = Checker(root, sys.argv[2])
    faults, count = [], 0
    for page in pages.all_pages(root):
        for block in page.blocks:
            if block.language != "sh":
                continue
            where = f"{page.path}:{block.line}"
            syntax = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True)
            if syntax.returncode != 0:
                faults.append(f"{where}: {syntax.stderr.strip()}")
                continue
            for words in simple_commands(block.text):
                count += 1
                faults += [f"{where}: {fault}: {' '.join(words)}" for fault in checker.faults(words)]
    print("\n".join(faults))
    print(f"{count} commands, {len(faults)} faults")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
