"""Exit codes of programs, as base/error.h and docs/aoe.md have them."""

import enum


class ExitCode(enum.IntEnum):
    SUCCESS = 0
    FAILURE = 1
    USAGE = 2
    MODEL = 3
    OM = 4
    BANK = 5
    OUTPUT = 6
    DATA = 7
    OUTPUTS_DIFFER = 8
    INTERNAL = 70
    INTERRUPTED = 130
