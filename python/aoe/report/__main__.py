"""The program aoe_report, which `aoe report` starts."""

import argparse
import sys

from .. import programs, results
from . import page, sources

_USAGE = 2
_FAILURE, _OUTPUT = 1, 6
_HELP = """usage: aoe report RESULT|BANK|PROF... [flags]

Draws what tuning won, how it searched and where the time goes, into one HTML
file that needs no network. RESULT is a file of aoe --result or of aoe_run
--profile --json, BANK a bank's directory (the one that a result names is taken
by itself), PROF a directory of msprof.

Flags:
  -o [ --output ] FILE (=report.html)   the page
  --version                             of this program and the engine
  -h [ --help ]                         this text

Examples:
  aoe -j 2 -m m.onnx --result=m.json && aoe report m.json
  msprof --output=prof aoe_run --model=m.om && aoe report m.json prof -o m.html
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        print(f"aoe_report: error: {message}; see --help", file=sys.stderr)
        sys.exit(_USAGE)


def main(arguments=None):
    """The exit code: docs/aoe.md."""
    parser = _Parser(prog="aoe_report", add_help=False, allow_abbrev=False)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("-o", "--output", default="report.html")
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--version", action="store_true")
    given = parser.parse_args(arguments)
    if given.help:
        print(_HELP, end="")
        return 0
    try:
        if given.version:
            print(
                programs.run("aoe_bank", "--version")[0].replace("aoe_bank", "aoe_report", 1),
                end="",
            )
            return 0
        if not given.paths:
            parser.error("nothing to report on: give a result, a bank or a profile")
        found = sources.read(given.paths)
    except (results.BadResult, programs.ProgramError, RuntimeError) as error:
        print(f"aoe_report: error: {error}", file=sys.stderr)
        return getattr(error, "exit_code", _FAILURE)
    except OSError as error:
        print(f"aoe_report: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return _FAILURE
    try:
        print(page.write(found, given.output))
    except OSError as error:
        print(f"aoe_report: error: {given.output}: {error.strerror}", file=sys.stderr)
        return _OUTPUT
    return 0


if __name__ == "__main__":
    sys.exit(main())
