"""compile, tune, profile and Bank: what the programs do, as objects."""

import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock
import warnings

import made_models
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import onnx_writer

import aoe
from aoe import results, tables
from aoe.report import of_bank


class ToolsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        patch = unittest.mock.patch.dict(os.environ, {"HOME": temporary.name})
        patch.start()
        cls.addClassCleanup(patch.stop)
        cls.model = cls.folder / "mlp.onnx"
        made_models._run("make_model", "mlp-training", "--small", f"--output={cls.model}")

    def tuned(self, **flags):
        """The warnings of a loaded machine are not looked at."""
        flags = {"preset": made_models.BRIEF, "trials": 12, "output": self.folder / "tuned", **flags}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return aoe.tune(self.model, **flags)


class CompileTest(ToolsTest):
    def test_an_om_that_runs(self):
        compiled = aoe.compile(self.model, self.folder / "made", threads=1)
        self.assertEqual(compiled.path, self.folder / "made.om")
        with compiled.session() as session:
            self.assertIn("x", [each.name for each in session.get_inputs()])
        content = self.model.read_bytes()
        self.assertTrue(aoe.compile(content, self.folder / "from_bytes").path.is_file())
        self.assertEqual([each.name for each in self.folder.glob(".aoe*")], [])

    def test_shapes_as_a_dict(self):
        path = self.folder / "dynamic.onnx"
        made_models._run("make_model", "mobilenetv2", "--small", "--dynamic", f"--output={path}")
        compiled = aoe.compile(path, self.folder / "dynamic", input_shape={"input": (2, 3, 32, 32)})
        with compiled.session() as session:
            self.assertEqual(session.get_inputs()[0].shape, [2, 3, 32, 32])

    def test_warnings_are_words_alone(self):
        path = self.folder / "slow.onnx"
        onnx_writer.write(
            path,
            [onnx_writer.node("LRN", ["x"], ["y"], "node", size=1)],
            [onnx_writer.value("x", 5, 3, element_type=11)],
            [onnx_writer.value("y", 5, 3, element_type=11)],
        )
        (said,) = aoe.compile(path, self.folder / "slow").warnings
        self.assertRegex(said, "^[^[ ]*slow.om: 1 of 1 operators")

    def test_what_atc_says(self):
        with self.assertRaisesRegex(
            aoe.ProgramError, "atc failed with exit code 2: .*precision_mode"
        ) as caught:
            aoe.compile(self.model, self.folder / "no", precision_mode="none")
        self.assertEqual(caught.exception.exit_code, 2)
        with self.assertRaisesRegex(FileNotFoundError, "there is no model nowhere.onnx"):
            aoe.compile("nowhere.onnx")
        with self.assertRaisesRegex(FileNotFoundError, "of output does not exist: '.*nowhere'"):
            aoe.compile(self.model, self.folder / "nowhere" / "no")


class TuneTest(ToolsTest):
    def test_a_result_and_progress(self):
        seen = []
        result = self.tuned(progress=seen.append)
        self.assertEqual(result.name, "mlp")
        self.assertEqual(result.om, str(self.folder / "tuned.om"))
        self.assertIn(result.model.verdict, ("faster", "same", "ambiguous"))
        self.assertLessEqual(result.model.before_interval_ms[0], result.model.before_interval_ms[1])
        self.assertEqual(len(result.task_list), result.tasks.total)
        self.assertTrue(all(task.repo_key.isdecimal() for task in result.task_list))
        self.assertIn(result.summary(), str(result))
        self.assertIn("<svg", result._repr_html_())
        self.assertEqual({"baseline", "search", "confirm", "done"}, {each.stage for each in seen})
        search = [each for each in seen if each.stage == "search"]
        self.assertEqual(search[-1].total, result.tasks.total)
        self.assertEqual([each.done for each in search], sorted(each.done for each in search))
        with result.session() as session:
            self.assertEqual(len(session.get_outputs()), 5)

    def test_a_bar_counts_tasks(self):
        class Bar:
            n = total = 0

            def update(self, more):
                self.n += more

            def set_postfix_str(self, text, refresh):
                self.text = text

        bar = Bar()
        result = self.tuned(progress=bar)
        self.assertEqual(bar.total, result.tasks.total)
        self.assertLessEqual(bar.n, bar.total)

    def test_false_ends_the_run(self):
        result = self.tuned(
            progress=lambda state: state.stage != "search", trials=100000, bank=self.empty_bank()
        )
        self.assertEqual(result.budget.ended_by, "stopped")
        self.assertEqual(result.state, "tuning incomplete")

    def empty_bank(self):
        path = self.folder / "empty"
        path.mkdir(exist_ok=True)
        return path

    def test_an_exception_in_the_callback_comes_out(self):
        def fail(_):
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            self.tuned(progress=fail)

    def test_what_aoe_says(self):
        with self.assertRaisesRegex(aoe.ProgramError, "unknown flag '--trails'; did you mean"):
            aoe.tune(self.model, trails=3)

    def test_arguments_are_near_names_too(self):
        for call, wrong, near in (
            (aoe.tune, "buget", "budget of tune"),
            (aoe.tune, "progres", "progress of tune"),
            (aoe.compile, "ouput", "output of compile"),
            (aoe.profile, "repeats", "repeat of profile"),
        ):
            with self.assertRaisesRegex(
                aoe.ProgramError, rf"'--{wrong}'; did you mean the argument {near}\(\)\?$"
            ):
                call(self.model, **{wrong: 3})


class ProfileTest(ToolsTest):
    def test_of_an_onnx_model_and_of_an_om(self):
        om = aoe.compile(self.model, self.folder / "profiled").path
        with aoe.InferenceSession(str(om)) as session:
            feeds = {
                each.name: numpy.zeros(each.shape, numpy.float32) for each in session.get_inputs()
            }
        for model, given in ((self.model, None), (om, feeds)):
            profile = aoe.profile(model, given, repeat=5)
            self.assertEqual(profile.runs, 5)
            self.assertAlmostEqual(sum(op.share for op in profile.ops), 1, 3)
            self.assertTrue(any(op.flops > 0 for op in profile.ops))
            self.assertGreater(profile.peak_gflops, 0)
            self.assertIn(profile.ops[0].op[-5:], str(profile))
            self.assertIn("<table>", profile._repr_html_())


class BankTest(ToolsTest):
    def test_list_explain_and_merge(self):
        self.tuned(bank=self.made("searched"))
        bank = aoe.Bank(self.folder / "searched")
        tasks = bank.list(all=True, records=True)
        self.assertGreater(len(tasks), 0)
        self.assertGreater(sum(len(task.records) for task in tasks), 0)
        task = bank.explain(tasks[0].repo_key)
        self.assertEqual(task.repo_key, tasks[0].repo_key)
        self.assertEqual(len(task.records), len(tasks[0].records))
        steps = task.convergence()
        self.assertEqual(steps, sorted(steps, reverse=True))
        self.assertIn(task.op, str(task))
        self.assertIn("<section", task._repr_html_())

        other = aoe.Bank(self.made("other"))
        self.assertEqual(len(other.list(all=True)), 0)
        other.merge(bank)
        self.assertEqual(
            [each.repo_key for each in other.list(all=True)], [each.repo_key for each in tasks]
        )
        bank.export(self.folder / "bank.zst")
        self.assertIn("0", other.merge(self.folder / "bank.zst"))
        self.assertIn("<table>", bank._repr_html_())
        directory = next((self.folder / "searched" / "op").iterdir())
        self.assertEqual(len(aoe.Bank(directory=directory).list(all=True)), len(tasks))

    def made(self, name):
        path = self.folder / name
        path.mkdir()
        return path

    def test_what_aoe_bank_says(self):
        with self.assertRaisesRegex(
            aoe.ProgramError, "TUNE_BANK_PATH names a directory that does not exist"
        ):
            aoe.Bank(self.folder / "nowhere").list()
        with self.assertRaisesRegex(ValueError, "'ops': a bank is of 'op' or 'graph'"):
            aoe.Bank(kind="ops")


class WinnerTest(unittest.TestCase):
    """BankTask on figures that are known."""

    @staticmethod
    def record(impl, time_ns, status="ok"):
        measured = results.Measured(time_ns=time_ns)
        return results.Record(results.Strategy(format="NCHW", impl=impl, measured=measured), status)

    def test_why(self):
        winner = results.Strategy(
            format="NCHW", impl="direct", measured=results.Measured(1000, 2000, "faster")
        )
        records = [
            self.record("gemm", 3000),
            self.record("direct", 1500),
            self.record("gemm", 1200),
            self.record("direct", 900),
            self.record("winograd", 10, "wrong_result"),
        ]
        task = results.BankTask(op="Conv2D", strategies=[winner], records=records)
        self.assertEqual(task.convergence(), [3000, 1500, 1200, 900])
        self.assertEqual(task.rivals(), [("gemm NCHW", 1200)])
        self.assertEqual(
            task.why(),
            (
                "direct NCHW took 1.00 us in the race that decided, the default 2.00 us; the"
                " nearest rival, gemm NCHW, 1.20 us when it was measured; 1 candidates failed"
            ),
        )

    def test_what_is_not_confirmed_was_won_all_the_same(self):
        waiting = results.Strategy(
            format="NHWC", impl="lrn", measured=results.Measured(1000, 3500, "faster")
        )
        task = results.BankTask(op="LRN", unconfirmed=[waiting], records=[self.record("lrn", 1100)])
        self.assertIsNone(task.winner)
        self.assertIs(task.won, waiting)
        self.assertRegex(task.why(), "^lrn NHWC took 1.00 us .*; no run has confirmed it in the")
        self.assertIn("lrn NHWC", of_bank.winners([task]))

    def test_without_a_winner(self):
        task = results.BankTask(records=[self.record("direct", 5)])
        self.assertIsNone(task.winner)
        self.assertEqual(task.why(), "nothing that was measured beats the default")


class TablesTest(unittest.TestCase):
    def test_small_times_have_as_many_digits_as_large_ones(self):
        self.assertEqual(tables.figure(0.004281, 3), "0.00428")
        self.assertEqual(tables.figure(0.1534, 1), "0.153")
        self.assertEqual(tables.figure(429.52, 1), "429.5")
        self.assertEqual(tables.figure(0, 1), "0.0")

    def test_a_line_fits_and_figures_stay(self):
        table = tables.Table("name", ">time")
        table.row("beginning_" + "x" * 200 + "_end", "123.456")
        table.row("short", "1")
        lines = table.text(80).splitlines()
        self.assertTrue(all(len(line) <= 80 for line in lines), lines)
        self.assertTrue(lines[1].startswith("beginning_") and "_end" in lines[1], lines[1])
        self.assertTrue(lines[1].endswith("123.456"))
        self.assertEqual(lines[2].split(), ["short", "1"])

    def test_html_is_escaped(self):
        table = tables.Table("a", ">b")
        table.row("<b>&", 1)
        self.assertIn("<td>&lt;b&gt;&amp;</td><td class=figure>1</td>", table.html())


class ResultsTest(unittest.TestCase):
    def test_what_is_no_result(self):
        with self.assertRaisesRegex(results.BadResult, "its schema is None, not 'aoe.result'"):
            results.results_of({})
        with self.assertRaisesRegex(results.BadResult, "version 2 of aoe.result; known is 1"):
            results.results_of({"schema": "aoe.result", "version": 2})
        with self.assertRaisesRegex(results.BadResult, "TuneResult is 3, no object"):
            results.results_of({"schema": "aoe.result", "version": 1, "results": [3]})

    def test_null_is_not_known(self):
        (result,) = results.results_of(
            {
                "schema": "aoe.result",
                "version": 1,
                "results": [{"name": "m", "model": None, "new_key": 1}],
            }
        )
        self.assertIsNone(result.model)
        self.assertIn("was not measured", str(result))


if __name__ == "__main__":
    unittest.main()
