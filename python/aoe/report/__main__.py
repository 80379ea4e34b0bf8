"""The program aoe_report, which `aoe report` starts."""

import sys

from .. import programs, results
from ..exit_codes import ExitCode
from . import flags, page, sources

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


def main(arguments=None):
    """The exit code: docs/aoe.md."""
    try:
        given, paths = flags.parsed(sys.argv[1:] if arguments is None else arguments)
        if "--help" in given:
            print(_HELP, end="")
            return 0
        if "--version" in given:
            said, _ = programs.run("aoe_bank", "--version")
            print(said.replace("aoe_bank", "aoe_report", 1), end="")
            return 0
        if not paths:
            raise flags.WrongFlag("nothing to report on; give a result, a bank or a profile")
        found = sources.read(paths)
    except flags.WrongFlag as error:
        return _failed(error, ExitCode.USAGE)
    except results.BadResult as error:
        return _failed(error, ExitCode.DATA)
    except OSError as error:
        return _failed(f"{error.filename}: {error.strerror}", ExitCode.DATA)
    except RuntimeError as error:  # a program's, or that there is none
        return _failed(error, getattr(error, "exit_code", ExitCode.FAILURE))
    output = given.get("--output", "report.html")
    try:
        print(page.write(found, output))
    except OSError as error:
        return _failed(f"{output}: {error.strerror}", ExitCode.OUTPUT)
    return 0


def _failed(error, code):
    print(f"aoe_report: error: {error}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
