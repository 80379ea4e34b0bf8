"""The commands of the manuals run as they are written."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]


def commands_of(page):
    """The first shell block of a page of docs/, without what sets a build tree's paths."""
    block = re.search(r"```sh\n(.*?)```", (ROOT / "docs" / page).read_text(), re.S).group(1)
    return "".join(line for line in block.splitlines(True) if not line.startswith("export "))


class ManualsTest(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="aoe_manuals_test_"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        (self.directory / "examples").symlink_to(ROOT / "examples")

    def run_page(self, page):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands_of(page)],
            cwd=self.directory,
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_profiler_class(self):
        said = self.run_page("profiler_class.md")
        self.assertEqual(re.findall(r"^step (\d+): [\d.]+ us computing", said, re.M), list("456"))
        (timeline,) = re.findall(r"^timeline: (.+)$", said, re.M)
        self.assertTrue((self.directory / timeline).exists())

    def test_session(self):
        said = self.run_page("session.md")
        losses = [float(loss) for loss in re.findall(r"^step \d+: loss ([\d.]+)", said, re.M)]
        self.assertEqual(len(losses), 10)
        self.assertLess(losses[-1], losses[0])
        self.assertIn("FP Start(us)", said)
        self.assertEqual(len(re.findall(r"^0,\d+,[\d.]+,[\d.]+,", said, re.M)), 10)


if __name__ == "__main__":
    unittest.main()
