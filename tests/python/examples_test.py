"""The programs of examples/python, as a user runs them."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from support import exported_rows, make_om, run

PROJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXAMPLES = os.path.join(PROJECT, "examples", "python")


class ExamplesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._temporary.cleanup)
        cls.folder = cls._temporary.name
        cls.om = make_om(cls.folder)

    def example(self, name, *arguments):
        return run(sys.executable, os.path.join(EXAMPLES, name), *arguments, cwd=self.folder)

    def refusal(self, name, *arguments):
        done = subprocess.run([sys.executable, os.path.join(EXAMPLES, name), *arguments], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
        return done.stderr

    def test_infer(self):
        image = np.random.default_rng(4).random((1, 3, 32, 32), np.float32)
        np.save(os.path.join(self.folder, "image.npy"), image)
        said = self.example("infer.py", self.om, "image.npy")
        self.assertRegex(said, r"output: float32 \[1, \d+\], ")
        run("aoe_run", f"--model={self.om}", "--input=input=image.npy", "--repeat=1", "--output-dir=expected",
            cwd=self.folder)
        expected = os.path.join(self.folder, "expected")
        np.testing.assert_array_equal(np.load(os.path.join(self.folder, "output_0.npy")),
                                      np.load(os.path.join(expected, os.listdir(expected)[0])))
        self.example("infer.py", self.om)

    def test_classify(self):
        run("make_model", "squeezenet", "--small", "--output=picture.onnx", cwd=self.folder)
        np.save(os.path.join(self.folder, "picture.npy"), np.full((50, 40, 3), 128, np.uint8))
        os.environ["AOE_CACHE_DIR"] = os.path.join(self.folder, "cache")
        self.addCleanup(os.environ.pop, "AOE_CACHE_DIR")
        for arguments in ((), ("picture.npy",)):
            lines = self.example("classify.py", "picture.onnx", *arguments).splitlines()
            self.assertEqual(len(lines), 5)
            shares = [float(re.fullmatch(r"class \d+: (0\.\d+)", line).group(1)) for line in lines]
            self.assertEqual(shares, sorted(shares, reverse=True))

    def test_infer_refuses(self):
        np.save(os.path.join(self.folder, "other.npy"), np.zeros((1, 3, 32, 33), np.float32))
        self.assertIn("the model takes float32 [1, 3, 32, 32]", self.refusal("infer.py", self.om, "other.npy"))
        self.assertIn("no.om: there is no such file", self.refusal("infer.py", "no.om"))
        self.assertIn("has 1 inputs", self.refusal("infer.py", self.om, "other.npy", "other.npy"))

    def test_collect(self):
        self.example("collect.py", self.om, "profile", "3")
        profile = os.path.join(self.folder, "profile")
        calls = {row["API Name"]: int(row["Count"]) for row in exported_rows(profile, "api_statistic")}
        self.assertEqual((calls["aclmdlLoadFromFile"], calls["aclmdlExecute"]), (1, 3))
        (summary,) = glob.glob(os.path.join(profile, "PROF_*", "mindstudio_profiler_output", "msprof_tx_*.csv"))
        with open(summary, encoding="utf-8") as file:
            self.assertEqual(sum(",run " in line for line in file), 3)
        self.assertIn("no.om: there is no such file", self.refusal("collect.py", "no.om", "profile"))

    def test_subscribe(self):
        said = self.example("subscribe.py", self.om, "7")
        ops = [line.split() for line in said.splitlines()[1:]]
        self.assertGreater(len(ops), 5)
        for op in ops:
            self.assertEqual(op[-2], "7", op)
            self.assertGreaterEqual(float(op[-1]), 0)

    def test_the_code_of_the_page(self):
        shutil.copy(self.om, os.path.join(self.folder, "squeezenet.om"))
        with open(os.path.join(PROJECT, "docs", "pyacl.md"), encoding="utf-8") as page:
            blocks = re.findall(r"```python\n(.*?)```", page.read(), re.DOTALL)
        self.assertTrue(blocks)
        for block in blocks:
            program = block + "\nassert ret == 0 and len(result) > 0, acl.get_recent_err_msg()"
            run(sys.executable, "-c", program, cwd=self.folder)


if __name__ == "__main__":
    unittest.main()
