"""InferenceSession's cache on disk: what is compiled once, and what is in the way of it."""

import os
import pathlib
import pwd
import subprocess
import sys
import unittest
import unittest.mock
import warnings

import numpy
from session_case import SessionTest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import onnx_writer

from aoe import bank_places, om_cache, programs


class CacheTest(SessionTest):
    X = numpy.ones((2, 3), numpy.float32)

    def test_the_second_session_compiles_nothing(self):
        path = self.model()
        calls = self.compiles()
        self.open(path).run(None, {"x": self.X})
        self.open(path).run(None, {"x": self.X})
        self.open(pathlib.Path(path).read_bytes()).run(None, {"x": self.X})
        self.assertEqual(len(calls), 1, calls)
        self.assertEqual([each.suffix for each in self.oms()], [".om"])  # nothing else is left

    def test_what_goes_into_an_om_is_in_its_key(self):
        source = om_cache.Source(self.model())
        keys = {om_cache._key(source, ["--threads=1"])}
        keys.add(om_cache._key(source, ["--threads=2"]))
        keys.add(om_cache._key(om_cache.Source(self.model("other", "Abs")), ["--threads=1"]))
        soc = programs.versions()["soc"]
        snapshot = bank_places.root() / "op" / soc / "snapshot-1"
        snapshot.mkdir(parents=True)
        keys.add(om_cache._key(source, ["--threads=1"]))
        (snapshot.parent / "snapshot-12").mkdir()
        keys.add(om_cache._key(source, ["--threads=1"]))
        with unittest.mock.patch.object(
            programs, "versions", lambda _="": {"soc": soc, "engine": "aoe 9"}
        ):
            keys.add(om_cache._key(source, ["--threads=1"]))
        self.assertEqual(len(keys), 6)

    def test_weights_beside_the_model_are_content(self):
        path = self.folder / "external.onnx"
        onnx_writer.write(
            path,
            [onnx_writer.node("Add", ["x", "w"], ["y"], "n")],
            [onnx_writer.value("x", 2)],
            [onnx_writer.value("y", 2)],
            [onnx_writer.external("w", [2], "w.bin")],
        )
        for values in ([1, 2], [3, 4]):
            numpy.array(values, numpy.float32).tofile(self.folder / "w.bin")
            (y,) = self.open(str(path)).run(None, {"x": numpy.zeros(2, numpy.float32)})
            self.assertEqual(y.tolist(), values)

    def test_a_damaged_om_is_compiled_again(self):
        path = self.model()
        self.open(path).run(None, {"x": self.X})
        (om,) = self.oms()
        om.write_bytes(om.read_bytes()[:5000])
        self.assertEqual(self.open(path).run(None, {"x": self.X})[0].tolist(), self.X.tolist())
        self.assertGreater(om.stat().st_size, 5000)

    def test_a_cache_that_cannot_be_written_warns_once(self):
        (self.folder / "file").write_text("no directory")
        os.environ["AOE_CACHE_DIR"] = str(self.folder / "file" / "cache")
        path = self.model()
        with self.assertWarnsRegex(RuntimeWarning, "cannot be kept in .*AOE_CACHE_DIR"):
            self.open(path).run(None, {"x": self.X})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.open(path).run(None, {"x": self.X * 2})

    def test_a_disk_that_is_full_warns_once(self):
        run = programs.run

        def full(name, *arguments, **keywords):
            if str(self.folder / "cache") in " ".join(map(str, arguments)):
                raise programs.ProgramError([name], 6, "atc: error: no space left on device")
            return run(name, *arguments, **keywords)

        with unittest.mock.patch.object(programs, "run", full):
            with self.assertWarnsRegex(RuntimeWarning, "no space left"):
                self.open(self.model()).run(None, {"x": self.X})
        self.assertEqual(self.oms(), [])

    def test_a_home_that_is_not_there_is_not_made(self):
        home = self.folder / "nobody"
        os.environ.update(HOME=str(home))
        del os.environ["AOE_CACHE_DIR"]
        with self.assertWarnsRegex(RuntimeWarning, "cannot be kept in .*no home directory.*nobody"):
            session = self.open(self.model(shape=(2,)))
        session.run(None, {"x": numpy.ones(2, numpy.float32)})
        self.assertFalse(home.exists())

    def test_without_home_it_is_the_users(self):
        user = pwd.getpwuid(os.getuid()).pw_dir
        for variables in ({"HOME": ""}, {}):
            os.environ.pop("HOME")
            os.environ.update(variables)
            self.assertEqual(om_cache._default_directory(), os.path.join(user, ".cache", "aoe"))
            self.assertEqual(
                bank_places.root(), pathlib.Path(user) / "Ascend/latest/data/aoe/custom"
            )

    def test_without_a_cache(self):
        session = self.open(self.model(), providers=[("AoeExecutionProvider", {"cache_dir": ""})])
        session.run(None, {"x": self.X})
        self.assertFalse((self.folder / "cache").exists())

    def test_the_least_recently_used_goes(self):
        session = self.open(self.model(), providers=[("AoeExecutionProvider", {"own_shapes": 8})])
        sizes = []
        for rows in (1, 2, 3):
            session.run(None, {"x": self.X[:1].repeat(rows, 0)})
            sizes.append(len(self.oms()))
            os.utime(self.oms()[0])
        self.assertEqual(sizes, [1, 2, 3])
        os.environ["AOE_CACHE_LIMIT_MB"] = "0"
        session.run(None, {"x": self.X[:1].repeat(4, 0)})
        self.assertEqual(len(self.oms()), 1)

    def test_two_processes_at_once(self):
        path = self.model()
        program = (
            "import sys, numpy, aoe\n"
            "s = aoe.InferenceSession(sys.argv[1])\n"
            "print(s.run(None, {'x': numpy.ones((2, 3), numpy.float32)})[0].sum())\n"
        )
        both = [
            subprocess.Popen(
                [sys.executable, "-c", program, path], stdout=subprocess.PIPE, text=True
            )
            for _ in range(2)
        ]
        self.assertEqual([each.communicate()[0].strip() for each in both], ["6.0", "6.0"])
        self.assertEqual([each.suffix for each in self.oms()], [".om"])


if __name__ == "__main__":
    unittest.main()
