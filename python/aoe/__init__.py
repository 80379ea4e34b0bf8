"""aoe: models and profiles of this engine, from Python.

    from aoe import Session             runs an om
    from aoe.profiler import Profiler   profiles the program
"""

__all__ = []
