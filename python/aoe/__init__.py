"""aoe: models and profiles of this engine, from Python.

    from aoe import Session             runs an om
    from aoe.profiler import Profiler   profiles the program
"""

from .session import Session

__all__ = ["Session"]
