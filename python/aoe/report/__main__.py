"""The program aoe_report, which `aoe report` starts."""

import errno
import os
import signal
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
            return _say(_HELP)
        if "--version" in given:
            said, _ = programs.run("aoe_bank", "--version")
            return _say(said.replace("aoe_bank", "aoe_report", 1))
        if not paths:
            raise flags.WrongFlag("nothing to report on; give a result, a bank or a profile")
        output = given.get("--output", "report.html")
        _require_another_file(output, paths)
        found = sources.read(paths)
    except flags.WrongFlag as error:
        return _failed(error, ExitCode.USAGE)
    except results.BadResult as error:
        return _failed(error, ExitCode.DATA)
    except OSError as error:
        return _failed(f"{error.filename}: {error.strerror}", ExitCode.DATA)
    except RuntimeError as error:  # a program's, or that there is none
        return _failed(error, getattr(error, "exit_code", ExitCode.FAILURE))
    try:
        written = page.write(found, output)
    except OSError as error:
        return _failed(
            f"{output}: cannot be written: {error.strerror};"
            " choose a writable place with enough space",
            ExitCode.OUTPUT,
        )
    return _say(f"{written}\n")


def program():
    """main() in a process of its own: signals end it as they end the other programs."""
    for each in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(each) == signal.SIG_DFL:
            signal.signal(each, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        return main()
    except KeyboardInterrupt:
        print("aoe_report: interrupted", file=sys.stderr)
        return ExitCode.INTERRUPTED


def _require_another_file(output, paths):
    """A page that replaces what it tells of is a slip of the keyboard."""
    for path in paths:
        if os.path.isfile(output) and os.path.exists(path) and os.path.samefile(output, path):
            raise flags.WrongFlag(f"--output {output}: is what is reported on; choose another name")


def _say(text):
    try:
        if sys.stdout is None:  # closed by whoever started this
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        print(text, end="", flush=True)
    except OSError as error:
        sys.stdout = None  # else Python tries again at the end
        return _failed(
            f"standard output: cannot be written: {error.strerror};"
            " send it to a program that reads it, or to a file where there is space",
            ExitCode.OUTPUT,
        )
    return ExitCode.SUCCESS


def _failed(error, code):
    print(f"aoe_report: error: {error}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(program())
