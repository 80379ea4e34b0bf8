"""One analysis as a program: python -m aoe.profiler RUN_DIRECTORY [JSON of analyse()'s keywords]"""

import json
import sqlite3
import sys

from .analysis import analyse


def main(arguments):
    if len(arguments) not in (1, 2):
        print("usage: python -m aoe.profiler RUN_DIRECTORY [JSON]", file=sys.stderr)
        return 2
    try:
        analyse(arguments[0], **(json.loads(arguments[1]) if len(arguments) == 2 else {}))
    except (OSError, RuntimeError, TypeError, ValueError, sqlite3.Error) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
