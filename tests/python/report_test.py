"""aoe report: a page that a browser draws, made of files that the real programs wrote."""

import html.parser
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import made_models

import aoe.report
from aoe import results, typed_json
from aoe.report import figures, of_bank, of_result, page, sources

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
# Appended to a copy of the page: what of each kind the browser has given room to.
MEASURE = """<pre id=measured></pre><script>
const seen = {};
for (const mark of document.querySelectorAll('svg .mark')) {
  const box = mark.getBoundingClientRect(), kind = mark.classList[1];
  const wide = mark.closest('.wide'), end = wide ? wide.getBoundingClientRect().left + wide.scrollWidth : innerWidth;
  if (box.width > 0 && box.height >= 0 && box.left >= 0 && box.right <= end) seen[kind] = (seen[kind] || 0) + 1;
}
const heights = [...document.querySelectorAll('svg text, td')].map(text => text.getBoundingClientRect());
seen.smallest = Math.min(...heights.map(box => box.height));
seen.tallest = Math.max(...heights.map(box => box.height));
seen.overflow = document.documentElement.scrollWidth > innerWidth ? 1 : 0;
document.getElementById('measured').textContent = JSON.stringify(seen);
</script>"""


class Marks(html.parser.HTMLParser):
    """Counts marks by kind, and what would reach for a network."""

    def __init__(self, text):
        super().__init__()
        self.counts, self.external, self.headings, self._open = {}, [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        classes = (attributes.get("class") or "").split()
        if classes[:1] == ["mark"]:
            self.counts[classes[1]] = self.counts.get(classes[1], 0) + 1
        for name in ("src", "href"):
            if attributes.get(name, "data:").partition(":")[0] != "data":
                self.external.append(attributes[name])
        if tag == "script":
            self.external.append(tag)
        self._open = tag

    def handle_data(self, data):
        if self._open in ("h2", "h3") and data.strip():
            self.headings.append(data)
            self._open = None


class ReportTest(unittest.TestCase):
    """One run of aoe, on a bank that has winners for some tasks; a profile and a run of its om."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        (cls.folder / "bank").mkdir()
        cls.environment = {
            **os.environ,
            "HOME": temporary.name,
            "TUNE_BANK_PATH": str(cls.folder / "bank"),
        }
        cls.program("make_model", "squeezenet", "--small", "--image=32", "--output=m.onnx")
        cls.program("make_model", "mlp-training", "--small", "--output=known.onnx")
        cls.program("aoe_fill_bank", "known.onnx", "bank", "2")
        cls.program(
            "aoe",
            "--framework=5",
            "--job_type=2",
            "--model=m.onnx",
            f"--preset={made_models.BRIEF}",
            "--trials=30",
            "--progress_bar=off",
            "--output=tuned",
            "--result=result.json",
            may_be=(
                1,
            ),  # on a machine with no time left for them candidates fail: they are in the result
        )
        cls.program("msprof", "--output=prof", "aoe_run", "--model=tuned.om", "--repeat=5")
        run = cls.program("aoe_run", "--model=tuned.om", "--profile", "--json")
        (cls.folder / "run.json").write_text(run)
        (cls.soc,) = [each.name for each in (cls.folder / "bank" / "op").iterdir()]
        cls.bank = f"bank/op/{cls.soc}"

    @classmethod
    def program(cls, name, *arguments, code=0, may_be=()):
        done = subprocess.run(
            [made_models.program(name), *arguments],
            cwd=cls.folder,
            env=cls.environment,
            capture_output=True,
            text=True,
        )
        if done.returncode not in (code, *may_be):
            raise AssertionError(
                f"{name} {arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
            )
        return done.stdout if code == 0 else done.stderr

    def report(self, *paths, name="report.html"):
        said = self.program("aoe", "report", *paths, "-o", name)
        self.assertEqual(said.strip(), name)
        return (self.folder / name).read_text(encoding="utf-8")

    def test_subgraphs_that_were_won_are_named(self):
        """A document as aoe writes of a subgraph bank: rewrites in place of Formats and Schedules."""
        step = {"kind": "fuse_chain", "version": 1, "nodes": [0, 1], "params": {}}
        won = {
            "impl": "rewrite",
            "rewrite": {"schema": 1, "steps": [step, {**step, "kind": "fold"}]},
            "measured": {"time_ns": 2e3, "default_time_ns": 3e3, "verdict": "faster"},
        }
        task = typed_json.read(results.BankTask, {"op": "2xConv2D", "strategies": [won]})
        self.assertEqual(str(task.winner), "rewrite fuse_chain, fold")
        self.assertIn("fuse_chain, fold", of_bank.notebook(task))

    def test_everything_that_the_files_have_is_drawn(self):
        text = self.report("result.json", "prof", "run.json")
        marks = Marks(text)
        result = results.results_of(results.load_document(self.folder / "result.json"))[0]
        timed = [task for task in result.task_list if task.in_model_us]
        self.assertGreater(len(timed), 5)
        of_model = 3 if of_result.is_another_model(result.model) else 1
        self.assertEqual(marks.counts["interval"], of_model + len(result.ops))
        self.assertGreaterEqual(marks.counts["bar"], min(len(timed), 24))
        mine = {task.repo_key for task in result.task_list}
        tasks = sources.read([self.folder / self.bank]).banks[0].tasks
        searched = [t for t in tasks if t.repo_key in mine and len(t.convergence()) > 1]
        self.assertEqual(marks.counts.get("line", 0), min(len(searched), 36))
        run = json.loads((self.folder / "run.json").read_text())
        computing = [op for op in run["ops"] if op["flops"] > 0]
        self.assertEqual(marks.counts["point"], 2 * len(computing))  # of the profile and of the run
        self.assertEqual(marks.external, [])
        for heading in (
            "Time by op",
            "What was won",
            "Convergence",
            "Why each winner won",
            "Roofline",
            "Bank hits",
        ):
            self.assertIn(heading, marks.headings)

    def test_a_bank_alone(self):
        marks = Marks(self.report(self.bank))
        tasks = sources.read([self.folder / self.bank]).banks[0].tasks
        winners = [task for task in tasks if task.winner]
        self.assertGreater(len(winners), 0)
        self.assertEqual(marks.headings, ["Bank", "Convergence", "Why each winner won"])
        self.assertGreaterEqual(marks.counts["bar"], 2 * len(winners))

    def test_a_device_is_written_and_stays(self):
        (self.folder / "null").symlink_to("/dev/null")
        self.assertEqual(self.report(self.bank, name="null"), "")
        self.assertTrue((self.folder / "null").is_symlink())

    def test_a_profile_alone(self):
        marks = Marks(self.report("prof"))
        self.assertEqual(marks.headings[1:], ["Slowest ops", "Roofline", "Bank hits"])

    def test_the_roofs_of_a_profile_are_those_of_the_om(self):
        (profiled,) = sources.read([self.folder / "prof"]).profiles
        run = json.loads((self.folder / "run.json").read_text())
        self.assertGreater(run["peak_gflops"], 0)
        self.assertEqual(profiled.roofs.peak_gflops, run["peak_gflops"])
        self.assertEqual(profiled.roofs.memory_gb_s, run["memory_gb_s"])

    def test_what_cannot_be_read_is_named(self):
        (self.folder / "text.json").write_text("{")
        (self.folder / "other.json").write_text('{"schema": "other"}')
        (self.folder / "nothing").mkdir(exist_ok=True)
        for code, text, *arguments in (
            (2, "nothing to report on"),
            (2, "unknown flag '--colour'; see --help", "result.json", "--colour"),
            (2, "unknown flag '--outptu'; did you mean --output?", "--outptu=r", "result.json"),
            (2, "unknown flag '-x'", "result.json", "-x"),
            (2, "the required argument for option '--output' is missing; write", "r.json", "-o"),
            (2, "the required argument for option '--output' is missing", "--output=", "r.json"),
            (2, "option '--output' cannot be specified more than", "-or.html", "--output=r", "r"),
            (2, "option '--version' does not take any arguments", "--version=2"),
            (7, "nowhere.json: there is no such file", "nowhere.json"),
            (7, "text.json: is no JSON", "text.json"),
            (7, "m.onnx: is no JSON, nor any other text; give what aoe --result or", "m.onnx"),
            (7, "other.json: its schema is 'other', not 'aoe.result'", "other.json"),
            (7, "nothing: is neither a bank nor a profile", "nothing"),
            (6, "nowhere/r.html: cannot be written: No such", "result.json", "-o", "nowhere/r.html"),
        ):
            with self.subTest(text):
                said = self.program("aoe", "report", *arguments, code=code)
                self.assertIn(f"aoe_report: error: {text}", said)
                self.assertEqual(len(said.splitlines()), 1, said)

    def test_standard_output_that_cannot_be_written(self):
        for redirection, cause in (
            ("> /dev/full", "No space left on device"),
            (">&-", "Bad file descriptor"),
        ):
            for words in ("--help", "result.json -o said.html"):
                with self.subTest(redirection=redirection, words=words):
                    done = subprocess.run(
                        f"aoe report {words} {redirection}",
                        shell=True,
                        cwd=self.folder,
                        stderr=subprocess.PIPE,
                        text=True,
                    )
                    self.assertEqual(done.returncode, 6)
                    error = f"aoe_report: error: standard output: cannot be written: {cause};"
                    self.assertTrue(done.stderr.startswith(error), done.stderr)
                    self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_the_umask_holds_for_the_page(self):
        before = os.umask(0o077)
        try:
            page = aoe.report.write(str(self.folder / "result.json"), self.folder / "own.html")
        finally:
            os.umask(before)
        self.assertEqual(pathlib.Path(page).stat().st_mode & 0o777, 0o600)

    def test_a_single_path_and_none(self):
        page = aoe.report.write(str(self.folder / "result.json"), self.folder / "single.html")
        self.assertIn("<h2>Tuning", pathlib.Path(page).read_text())
        with self.assertRaisesRegex(ValueError, "nothing to report on"):
            aoe.report.write([], self.folder / "none.html")

    @unittest.skipUnless(BROWSER, "chromium is not installed (apt package chromium)")
    def test_a_browser_draws_it(self):
        text = self.report("result.json", "prof", "run.json", name="drawn.html")
        expected = Marks(text).counts
        copy = self.folder / "measured.html"
        copy.write_text(text.replace("</body>", MEASURE + "</body>"), encoding="utf-8")
        for width in (1200, 500, 380):
            done = subprocess.run(
                [
                    BROWSER,
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--enable-logging=stderr",
                    "--log-level=0",
                    f"--user-data-dir={self.folder}/browser",
                    f"--window-size={width},900",
                    "--dump-dom",
                    copy.as_uri(),
                ],
                capture_output=True,
                text=True,
                timeout=120,
                env={**os.environ, "HOME": str(self.folder)},
            )
            self.assertEqual([line for line in done.stderr.splitlines() if ":CONSOLE" in line], [])
            measured = json.loads(done.stdout.split('<pre id="measured">')[1].split("</pre>")[0])
            self.assertEqual(
                measured.pop("overflow"), 0, f"at {width} pixels it must be scrolled sideways"
            )
            self.assertGreater(measured.pop("smallest"), 8, f"letters at {width} pixels")
            self.assertLess(measured.pop("tallest"), 120, f"a cell at {width} pixels, letter by letter")
            self.assertEqual(measured, expected)


class FragmentsTest(unittest.TestCase):
    def test_names_are_escaped(self):
        fate = results.TaskFate(op="<script>alert(1)</script>", type="A&B", in_model_us=3.0)
        result = results.TuneResult(name="<b>", task_list=[fate], failed_ops=["<i>"])
        text = page.page(sources.Sources(results=[result], notes=["<u>"]))
        for name in ("<script", "<b>", "<i>", "<u>"):
            self.assertNotIn(name, text)

    def test_nothing_is_drawn_of_nothing(self):
        empty = sources.Sources(
            [results.TuneResult()],
            [sources.BankContent("d", [])],
            [sources.Profiled("p", [], sources.Roofs())],
        )
        text = page.page(empty)
        for words in ("Nothing was won", "No task was looked at"):
            self.assertIn(words, text)

    def test_values_of_another_kind_are_named(self):
        sound = {"name": "m", "model": {"before_interval_ms": [1, 2.5]}, "task_list": [{"op": "a"}]}
        document = {"schema": "aoe.result", "version": 1, "results": [sound]}
        (result,) = results.results_of(document)
        self.assertEqual(result.model.before_interval_ms, (1, 2.5))
        for key, value, words in (
            ("name", 3, "r.json: TuneResult.name is 3, not str"),
            ("model", [], r"ModelVerdict is \[\], no object"),
            ("model", {"pairs": 2.5}, "ModelVerdict.pairs is 2.5, not int"),
            ("model", {"after_interval_ms": [1]}, "ModelVerdict.after_interval_ms is"),
            ("task_list", [{"op": ["a"]}], "TaskFate.op is"),
            ("gears", "1", "TuneResult.gears is '1'"),
            ("error_against_fp32", "no", "TuneResult.error_against_fp32 is 'no', not float"),
        ):
            with self.assertRaisesRegex(results.BadResult, words):
                results.results_of({**document, "results": [{**sound, key: value}]}, "r.json")
        with self.assertRaisesRegex(results.BadResult, "r.json: results is None"):
            results.results_of({**document, "results": None}, "r.json")

    def test_a_page_that_cannot_be_made_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            broken = sources.Sources([results.TuneResult(budget=None)])
            with self.assertRaises(AttributeError):
                page.write(broken, pathlib.Path(folder) / "r.html")
            (pathlib.Path(folder) / "r.html").mkdir()
            with self.assertRaises(OSError):
                page.write(sources.Sources(), pathlib.Path(folder) / "r.html")
            self.assertEqual(os.listdir(folder), ["r.html"])

    def test_notes_stand_beside_bars_and_are_shortened(self):
        rows = [
            ("a", "Conv2D+Relu", [("before", 10.0, ""), ("after", 5.0, "")]),
            ("b", "T" * 200, [("before", 9.0, "")]),
        ]
        drawn = figures.bars(rows, "us")
        end = figures._LABEL + float(drawn.split(' width="')[2].split('"')[0])
        places = [
            float(part.split('"')[0]) for part in drawn.split('<text x="') if 'class="note"' in part
        ]
        self.assertGreater(places[0], end)
        self.assertLess(places[1] + 26 * figures._LETTER, figures.WIDTH - figures._FIGURE + 1)
        self.assertNotIn("T" * 27 + "<", drawn.replace(f"<title>{'T' * 200}</title>", ""))

    def test_a_model_that_is_kept_is_not_compared_with_itself(self):
        kept = results.ModelVerdict(
            "same", "0.00%", "the untuned model is kept", 3, 5.0, (4.0, 6.0), 5.0, (5.0, 5.0)
        )
        better = results.ModelVerdict(
            "faster", "5.00%", None, 9, 5.0, (4.9, 5.1), 4.7, (4.6, 4.8), 1.05, (1.04, 1.06)
        )
        for verdict, intervals in ((kept, 1), (better, 3)):
            drawn = of_result.verdict(results.TuneResult(model=verdict))
            self.assertEqual(Marks(drawn).counts["interval"], intervals)
            self.assertIn(verdict.improvement, drawn)

    def test_bars_have_one_scale(self):
        drawn = figures.bars([("a", "note", [("before", 10.0, ""), ("after", 5.0, "")])], "us")
        long, short = (float(part.split('"')[0]) for part in drawn.split(' width="')[2:4])
        self.assertAlmostEqual(long / short, 2, 2)

    def test_the_roof_has_its_ridge_where_the_roofs_meet(self):
        self.assertEqual(
            figures._roof(100.0, 10.0, 0.1, 1000.0, 0.1),
            [(0.1, 1.0), (10.0, 100.0), (1000.0, 100.0)],
        )
        self.assertEqual(figures._roof(None, 10.0, 0.1, 10.0, 0.1), [(0.1, 1.0), (10.0, 100.0)])
        self.assertEqual(figures._roof(None, None, 0.1, 10.0, 0.1), [])


if __name__ == "__main__":
    unittest.main()
