"""`pip install .` without a network, into a fresh virtual environment; what is installed stands alone."""
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

PROJECT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
EXAMPLE = os.path.join(PROJECT, "examples", "python", "infer.py")


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._temporary.cleanup)
        cls.folder = cls._temporary.name
        cls.venv = os.path.join(cls.folder, "venv")
        build = os.path.dirname(os.environ["AOE_BIN"])
        path = os.pathsep.join(entry for entry in os.environ["PATH"].split(os.pathsep)
                               if not entry.startswith(build))
        # Whatever pip wants to download fails.
        cls.environment = dict(os.environ, AOE_BUILD_DIR=build, PIP_INDEX_URL="http://127.0.0.1:9/",
                               PIP_CONFIG_FILE=os.devnull, PIP_RETRIES="0",
                               PATH=os.path.join(cls.venv, "bin") + os.pathsep + path)
        del cls.environment["PYTHONPATH"]
        cls.run_in(sys.executable, "-m", "venv", "--system-site-packages", cls.venv)
        cls.run_in("pip", "install", PROJECT)
        for step in (("make_model", "squeezenet", "--small", "--image=32", "--output=m.onnx"),
                     ("atc", "--framework=5", "--model=m.onnx", "--output=m")):
            cls.run_in(os.path.join(os.environ["AOE_BIN"], step[0]), *step[1:])

    @classmethod
    def run_in(cls, *command):
        program = shutil.which(command[0], path=cls.environment["PATH"]) or command[0]
        done = subprocess.run([program, *command[1:]], cwd=cls.folder, env=cls.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
        return done.stdout.strip()

    def test_packages_and_programs_are_those_installed(self):
        say = "import acl, aoe, aoe.profiler.msprof_program as m; print(acl.__file__, aoe.__file__, m.find())"
        for path in self.run_in("python", "-c", say).split():
            self.assertTrue(path.startswith(self.venv), path)
        loaded = self.run_in("python", "-c", "import acl; print(open('/proc/self/maps').read())")
        libraries = {line.split()[-1] for line in loaded.splitlines() if "libascendcl" in line}
        self.assertEqual(len(libraries), 1, libraries)
        self.assertTrue(libraries.pop().startswith(self.venv))

    def test_every_module_is_there(self):
        def modules(folder):
            return {os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder)
                    for name in names if name.endswith(".py")}
        source = os.path.join(PROJECT, "python")
        installed = self.run_in("python", "-c", "import acl, os; print(os.path.dirname(os.path.dirname(acl.__file__)))")
        for package in ("acl", "aoe"):
            self.assertEqual(modules(os.path.join(source, package)), modules(os.path.join(installed, package)))

    def test_the_sdist_is_the_sources_and_makes_the_same(self):
        make = "import sys; sys.path.insert(0, 'python'); import build_backend as b; print(b.build_sdist(sys.argv[1]))"
        name = subprocess.run([sys.executable, "-c", make, self.folder], cwd=PROJECT, check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()
        unpacked = os.path.join(self.folder, "unpacked")
        shutil.unpack_archive(os.path.join(self.folder, name), unpacked)
        sources = os.path.join(unpacked, name.removesuffix(".tar.gz"))
        for path in ("PKG-INFO", "CMakeLists.txt", "runtime/om/om.h", "python/acl/module.cpp", "scripts/packages.txt"):
            self.assertTrue(os.path.isfile(os.path.join(sources, path)), path)
        self.assertFalse(os.path.exists(os.path.join(sources, "build")))
        again = subprocess.run([sys.executable, "-c", make, unpacked], cwd=sources, check=True, text=True,
                               stdout=subprocess.PIPE).stdout.strip()
        with tarfile.open(os.path.join(self.folder, name)) as first, tarfile.open(os.path.join(unpacked, again)) as second:
            self.assertEqual(sorted(first.getnames()), sorted(second.getnames()))
        self.run_in("pip", "wheel", "--no-deps", "--wheel-dir", "wheels", os.path.join(self.folder, name))
        (wheel,) = os.listdir(os.path.join(self.folder, "wheels"))
        with zipfile.ZipFile(os.path.join(self.folder, "wheels", wheel)) as packed:
            names = packed.namelist()
        for part in ("acl/__init__.py", "acl/libascendcl.so.0", "aoe/session.py", "data/bin/msprof"):
            self.assertTrue(any(each.endswith(part) for each in names), (part, names))

    def test_what_the_wheel_does_not_bring_is_said(self):
        say = ("import os, aoe; os.environ.update(PATH=os.path.dirname(os.sys.executable), AOE_HOME='')\n"
               "for call in (lambda: aoe.InferenceSession('m.onnx'), lambda: aoe.tune('m.onnx')):\n"
               "    try: call()\n"
               "    except RuntimeError as e: print(e)\n")
        environment, self.environment = self.environment, dict(self.environment, AOE_CACHE_DIR="")
        self.addCleanup(setattr, self, "environment", environment)
        said = self.run_in("python", "-c", say)
        for program in ("atc is needed to compile ONNX models", "aoe is needed to tune models"):
            self.assertIn("the program " + program, said)
        self.assertEqual(said.count("`cmake --install` installs it"), 2)

    def test_an_example_runs(self):
        self.assertIn("output: float32", self.run_in("python", EXAMPLE, "m.om"))

    def test_msprof_profiles_it(self):
        self.run_in("msprof", "--output=profile", "python", EXAMPLE, "m.om")
        profiles = os.listdir(os.path.join(self.folder, "profile"))
        self.assertEqual(len(profiles), 1)
        outputs = os.path.join(self.folder, "profile", profiles[0], "mindstudio_profiler_output")
        self.assertTrue(any(name.startswith("op_summary") for name in os.listdir(outputs)))


if __name__ == "__main__":
    unittest.main()
