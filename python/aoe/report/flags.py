"""The flags of aoe_report, refused in the words of the other programs (tools/common/tool.cpp)."""

import difflib

_SHORT = {"-o": "--output", "-h": "--help"}
_WITH_VALUE = ("--output",)
_SWITCHES = ("--help", "--version")


class WrongFlag(ValueError):
    """What the user has to be told."""


def parsed(arguments):
    """{"--output": "page.html", "--help": True} of those that were given, and the other words."""
    given, words = {}, []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            return given, [*words, *rest]
        if not argument.startswith("-") or argument == "-":
            words.append(argument)
            continue
        flag, value = _split(argument)
        if flag in given:
            raise WrongFlag(f"option '{flag}' cannot be specified more than once; see --help")
        if flag in _SWITCHES and value is not None:
            raise WrongFlag(f"option '{flag}' does not take any arguments; see --help")
        given[flag] = True if flag in _SWITCHES else _value(flag, value, rest)
    return given, words


def _split(argument):
    """--output=X, -oX, -o and --output: the long name, and what stands beside it."""
    if argument.startswith("--"):
        flag, equals, value = argument.partition("=")
        value = value if equals else None
    else:
        flag, value = _SHORT.get(argument[:2], argument), argument[2:] or None
    if flag not in _WITH_VALUE + _SWITCHES:
        raise WrongFlag(f"unknown flag '{flag}'; {_advice(flag)}")
    return flag, value


def _value(flag, beside, rest):
    value = next(rest, None) if beside is None else beside
    if not value or (beside is None and value.startswith("-")):
        raise WrongFlag(f"the required argument for option '{flag}' is missing; write {flag}=VALUE")
    return value


def _advice(flag):
    near = difflib.get_close_matches(flag, _WITH_VALUE + _SWITCHES, 1)
    return f"did you mean {near[0]}?" if near else "see --help"
