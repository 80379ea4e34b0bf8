"""The backend of pyproject.toml: setuptools' own, found also where pip's isolation hides what the system has installed.

pip builds in an environment of its own, into which it downloads what `requires` lists. Nothing is listed: the setuptools and
wheel that Debian's python3-pip brings are taken.
"""
import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile

try:
    import setuptools.build_meta  # noqa: F401
    import wheel  # noqa: F401
except ImportError:
    sys.path.append("/usr/lib/python3/dist-packages")

from setuptools.build_meta import build_wheel, prepare_metadata_for_build_wheel  # noqa: E402,F401


PROJECT = pathlib.Path(__file__).resolve().parent.parent


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_sdist(sdist_directory, config_settings=None):
    """All sources: what is built is C++ for the most part, of which setuptools knows nothing."""
    cmake = (PROJECT / "CMakeLists.txt").read_text(encoding="utf-8")
    version = re.search(r"project\(aoe VERSION ([\d.]+)", cmake).group(1)
    name = f"aoe-{version}"
    facts = f"Metadata-Version: 2.1\nName: aoe\nVersion: {version}\n".encode()
    with tarfile.open(os.path.join(sdist_directory, name + ".tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        about = tarfile.TarInfo(f"{name}/PKG-INFO")
        about.size = len(facts)
        archive.addfile(about, io.BytesIO(facts))
        for path in _sources():
            if path != "PKG-INFO":
                archive.add(PROJECT / path, f"{name}/{path}", recursive=False)
    return name + ".tar.gz"


def _sources():
    """What git tracks; of an unpacked sdist everything but what a build has made."""
    if (PROJECT / ".git").exists():
        listed = subprocess.run(["git", "-C", PROJECT, "ls-files", "-z"], check=True, stdout=subprocess.PIPE).stdout
        return [path for path in listed.decode().split("\0") if (PROJECT / path).is_file()]
    found = []
    for folder, folders, files in os.walk(PROJECT):
        folders[:] = sorted(each for each in folders if each not in ("build", "__pycache__"))
        found += [os.path.relpath(os.path.join(folder, each), PROJECT) for each in sorted(files)]
    return found
