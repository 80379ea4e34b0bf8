"""The Python packages: CMake builds the extension, libascendcl and the programs, setuptools packs them.

The build is kept in build/pip, so that a second `pip install .` is quick. AOE_BUILD_DIR=DIR takes what is configured there
instead, for example build/release; CMAKE_ARGS adds arguments where CMake configures.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

PROJECT = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("AOE_BUILD_DIR") or PROJECT / "build" / "pip")
STAGE = pathlib.Path("build/pip/stage")  # what setuptools packs has to be relative to this file
SCRATCH = pathlib.Path("build/pip/setuptools")
PROGRAMS = ["msprof"]  # those that the packages call


def version():
    return re.search(r"project\(aoe VERSION ([\d.]+)", (PROJECT / "CMakeLists.txt").read_text()).group(1)


class CMakeBuild(build_ext):
    """The component `python` of the CMake build: acl/_acl*.so, acl/libascendcl.so.*, bin/*."""

    def run(self):
        if not os.environ.get("AOE_BUILD_DIR"):
            self._cmake("--preset", "release", "-B", BUILD, "-DBUILD_TESTING=OFF", "-DAOE_PYTHON=ON",
                        f"-DPython_EXECUTABLE={os.path.realpath(sys.executable)}",
                        *shlex.split(os.environ.get("CMAKE_ARGS", "")))
        self._cmake("--build", BUILD, "--target", "aoe_python")
        shutil.rmtree(STAGE, ignore_errors=True)
        self._cmake("--install", BUILD, "--component", "python", "--prefix", STAGE)
        shutil.copytree(STAGE / "acl", pathlib.Path(self.build_lib) / "acl", dirs_exist_ok=True)

    def _cmake(self, *arguments):
        subprocess.run(["cmake", *map(str, arguments)], cwd=PROJECT, check=True)

    def get_source_files(self):
        return []


shutil.rmtree(SCRATCH, ignore_errors=True)  # what it packed last time may be gone now
SCRATCH.mkdir(parents=True)
setup(
    version=version(),
    package_dir={"": "python"},
    packages=find_packages("python"),
    ext_modules=[Extension("acl._acl", sources=[])],
    data_files=[("bin", [str(STAGE / "bin" / program) for program in PROGRAMS])],
    cmdclass={"build_ext": CMakeBuild},
    options={"build": {"build_base": str(SCRATCH)}, "egg_info": {"egg_base": str(SCRATCH)}},
    zip_safe=False,
)
