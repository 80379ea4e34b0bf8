"""The backend of pyproject.toml: setuptools' own, found also where pip's isolation hides what the system has installed.

pip builds in an environment of its own, into which it downloads what `requires` lists. Nothing is listed: the setuptools and
wheel that Debian's python3-pip brings are taken.
"""
import sys

try:
    import setuptools.build_meta  # noqa: F401
    import wheel  # noqa: F401
except ImportError:
    sys.path.append("/usr/lib/python3/dist-packages")

from setuptools.build_meta import build_wheel, prepare_metadata_for_build_wheel  # noqa: E402,F401


def get_requires_for_build_wheel(config_settings=None):
    return []
