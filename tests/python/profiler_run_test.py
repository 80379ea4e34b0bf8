"""Profiles of real oms, in every level, through the real runtime and msprof."""

import csv
import json
import pathlib
import sqlite3
import subprocess
import sys
import unittest

import made_models
import numpy
from profiler_fakes import ProfilerTest

from aoe import Session, acl_library
from aoe.profiler import (
    AicoreMetrics,
    ExportType,
    HostSystem,
    Profiler,
    ProfilerActivity,
    ProfilerLevel,
    background,
    schedule,
    tensorboard_trace_handler,
)

OUTPUT = "ASCEND_PROFILER_OUTPUT"
TENSORS = {"Input Shapes", "Input Data Types", "Output Formats", "Context ID"}


class RunTest(ProfilerTest):
    @classmethod
    def setUpClass(cls):
        cls.session = Session(made_models.om("mobilenetv2"))
        cls.addClassCleanup(cls.session.close)
        shapes = {name: shape for name, (shape, _) in cls.session.inputs.items()}
        cls.feed = {name: numpy.ones(shape, numpy.float32) for name, shape in shapes.items()}

    def infer(self):
        return self.session.run(None, self.feed)

    def profile(self, runs=2, **arguments):
        with Profiler(output_path=self.directory, **arguments) as profiler:
            for _ in range(runs):
                self.infer()
        profiler.analyse()
        return profiler

    def steps(self, steps=3, **arguments):
        with Profiler(
            output_path=self.directory,
            schedule=schedule(wait=1, warmup=1, active=steps, repeat=1),
            on_trace_ready=tensorboard_trace_handler(),
            **arguments,
        ) as profiler:
            for _ in range(steps + 2):
                self.infer()
                profiler.step()
        return profiler

    def files(self, profiler):
        return sorted(path.name for path in (profiler.directory / OUTPUT).iterdir())

    def table(self, profiler, name):
        with open(profiler.directory / OUTPUT / name, newline="") as file:
            return list(csv.DictReader(file))

    def trace(self, profiler):
        return json.loads((profiler.directory / OUTPUT / "trace_view.json").read_text())


class LevelTest(RunTest):
    def test_level0(self):
        profiler = self.profile()
        self.assertEqual(
            self.files(profiler),
            ["dataset.csv", "kernel_details.csv", "op_statistic.csv", "step_trace_time.csv",
             "trace_view.json"],
        )  # fmt: skip
        kernels = self.table(profiler, "kernel_details.csv")
        self.assertFalse(TENSORS & set(kernels[0]))
        self.assertNotIn("Step ID", kernels[0])
        self.assertTrue(all(float(kernel["Duration(us)"]) >= 0 for kernel in kernels))
        self.assertTrue(all(kernel["Name"].count("/") for kernel in kernels))
        self.assertEqual(len(kernels) % 2, 0)
        self.assert_silent()

    def test_level1(self):
        profiler = self.profile(profiler_level=ProfilerLevel.Level1)
        kernels = self.table(profiler, "kernel_details.csv")
        self.assertLessEqual(TENSORS, set(kernels[0]))
        self.assertIn("icache_miss_rate", kernels[0])  # PipeUtilization
        names = {row["API Name"] for row in self.table(profiler, "api_statistic.csv")}
        self.assertIn("aclmdlExecute", names)
        self.assertIn("ModelExecute", names)

    def test_level2(self):
        profiler = self.profile(
            profiler_level=ProfilerLevel.Level2, aicore_metrics=AicoreMetrics.ArithmeticUtilization
        )
        levels = {row["Level"] for row in self.table(profiler, "api_statistic.csv")}
        self.assertIn("runtime", levels)
        self.assertIn("vec_fp32_ratio", self.table(profiler, "kernel_details.csv")[0])

    def test_level_none(self):
        import acl

        with Profiler(
            output_path=self.directory, profiler_level=ProfilerLevel.LevelNone, mstx=True
        ) as profiler:
            stamp = acl.prof.create_stamp()
            acl.prof.set_stamp_trace_message(stamp, "here I am", 9)
            acl.prof.mark(stamp)
            acl.prof.destroy_stamp(stamp)
            self.infer()
        profiler.analyse()
        self.assertNotIn("kernel_details.csv", self.files(profiler))
        marks = self.table(profiler, "msprof_tx.csv")
        self.assertEqual([mark["message"] for mark in marks], ["here I am"])

    def test_one_activity(self):
        npu = self.profile(activities=[ProfilerActivity.NPU])
        self.assertNotIn("dataset.csv", self.files(npu))
        kernel = self.table(npu, "kernel_details.csv")[0]
        self.assertFalse(kernel["Name"].startswith(self.session_name))
        cpu = self.profile(activities=[ProfilerActivity.CPU])
        self.assertEqual(self.files(cpu), ["dataset.csv", "trace_view.json"])
        self.assertEqual(list(cpu.directory.glob("PROF_*")), [])

    @property
    def session_name(self):
        return made_models.om("mobilenetv2").stem


class TableTest(RunTest):
    def test_steps_are_those_of_the_program(self):
        profiler = self.steps()
        kernels = self.table(profiler, "kernel_details.csv")
        by_step = {}
        for kernel in kernels:
            by_step.setdefault(kernel["Step ID"], []).append(kernel)
        self.assertEqual(sorted(by_step), ["2", "3", "4"])
        self.assertEqual(len({len(each) for each in by_step.values()}), 1)
        rows = self.table(profiler, "step_trace_time.csv")
        self.assertEqual([row["Step"] for row in rows], ["2", "3", "4"])
        for row in rows:
            kernels = by_step[row["Step"]]
            longest = max(float(kernel["Duration(us)"]) for kernel in kernels)
            total = sum(float(kernel["Duration(us)"]) for kernel in kernels)
            self.assertGreaterEqual(float(row["Computing"]), longest)
            self.assertLessEqual(float(row["Computing"]), total + 0.001)
            stage = float(row["Stage"])
            self.assertAlmostEqual(float(row["Computing"]) + float(row["Free"]), stage, 2)
            self.assertGreater(float(row["Preparing"]), 0)
            self.assertEqual(float(row["Communication"]), 0)

    def test_steps_are_in_the_raw_data_as_well(self):
        profiler = self.steps(data_simplification=False)
        (database,) = profiler.directory.glob("PROF_*/msprof_*.db")
        connection = sqlite3.connect(database)
        self.addCleanup(connection.close)
        marked = connection.execute(
            "SELECT startNs - value, endNs - value FROM PROGRAM_STEP, META_DATA"
            " WHERE META_DATA.name = 'MONOTONIC_TO_UNIX_NS' ORDER BY startNs"
        ).fetchall()
        steps = json.loads((profiler.directory / "profiler_info_0.json").read_text())["steps"]
        self.assertEqual(len(marked), 3)
        clocks_apart_ns = 20_000  # a profile's ticks are paired with the clock to some microseconds when cores are busy
        for (begin_ns, end_ns), step in zip(marked, steps):
            self.assertLessEqual(step["begin_ns"], begin_ns + clocks_apart_ns)
            self.assertLessEqual(end_ns, step["end_ns"] + clocks_apart_ns)

    def test_a_choice_of_steps(self):
        profiler = self.steps(data_simplification=False)
        Profiler.offline_analyse(self.directory, step_list=[3])
        kernels = self.table(profiler, "kernel_details.csv")
        self.assertEqual({kernel["Step ID"] for kernel in kernels}, {"3"})
        names = {e["name"] for e in self.trace(profiler) if e["name"].startswith("ProfilerStep#")}
        self.assertEqual(names, {"ProfilerStep#3"})

    def test_memory(self):
        with Profiler(output_path=self.directory, profile_memory=True) as profiler:
            with Session(made_models.om("mlp-training")) as session:
                session.run(
                    None, {n: numpy.zeros(s, t) for n, (s, t) in session.inputs.items()}
                )
        profiler.analyse()
        blocks = self.table(profiler, "operator_memory.csv")
        released = [block for block in blocks if block["Release Time(us)"] != "N/A"]
        self.assertTrue(released)
        for block in released:
            duration = float(block["Release Time(us)"]) - float(block["Allocation Time(us)"])
            self.assertAlmostEqual(float(block["Duration(us)"]), duration, 2)
        self.assertTrue(self.table(profiler, "memory_record.csv"))
        self.assertTrue(self.table(profiler, "npu_module_mem.csv"))

    def test_operator_details(self):
        profiler = self.profile(record_shapes=True, with_stack=True)
        rows = self.table(profiler, "operator_details.csv")
        kernels = self.table(profiler, "kernel_details.csv")
        self.assertEqual(len(rows), 4)  # Session.run and the model in it, twice
        total = sum(float(kernel["Duration(us)"]) for kernel in kernels)
        models = [row for row in rows if not row["Name"].startswith("Session.run")]
        self.assertAlmostEqual(sum(float(r["Device Self Duration(us)"]) for r in models), total, 1)
        outer = rows[0]
        self.assertEqual(float(outer["Device Self Duration(us)"]), 0)
        self.assertEqual(
            outer["Device Total Duration(us)"], rows[1]["Device Total Duration(us)"]
        )
        self.assertRegex(rows[1]["Input Shapes"], r'^"1,3,\d+,\d+"$')
        self.assertIn("profiler_run_test.py", rows[1]["Call Stack"])

    def test_dataset(self):
        rows = self.table(self.profile(runs=3), "dataset.csv")
        self.assertEqual({row["Operation"] for row in rows}, {"Feed", "Fetch"})
        self.assertTrue(all(row["Occurrences"] == "3" for row in rows))
        self.assertRegex(rows[0]["Custom Info"], r"^bytes=\d+$")

    def test_timeline(self):
        profiler = self.profile(profiler_level=ProfilerLevel.Level1, with_stack=True)
        check = pathlib.Path(__file__).parents[2] / "scripts/check_timeline"
        path = profiler.directory / OUTPUT / "trace_view.json"
        subprocess.run([sys.executable, check, path], check=True, stdout=subprocess.DEVNULL)
        events = self.trace(profiler)
        processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        self.assertLessEqual(
            {"MindSpore", "CPU OP", "Scope Layer", "CANN", "Ascend Hardware", "Overlap Analysis"},
            set(processes.values()),
        )
        for category in ("async_mindspore", "async_npu", "HostToDevice"):
            starts = [e["id"] for e in events if e.get("cat") == category and e["ph"] == "s"]
            ends = [e["id"] for e in events if e.get("cat") == category and e["ph"] == "f"]
            self.assertTrue(starts, category)
            self.assertEqual(sorted(map(str, starts)), sorted(map(str, ends)))
        kernels = self.table(profiler, "kernel_details.csv")
        arrows = [e for e in events if e.get("cat") == "async_npu" and e["ph"] == "f"]
        self.assertEqual(len(arrows), len(kernels))
        self.assertTrue(all(processes[e["pid"]] == "Ascend Hardware" for e in arrows))
        scopes = [e for e in events if e["ph"] == "X" and processes[e["pid"]] == "Scope Layer"]
        self.assertTrue(scopes)
        calls = {e["name"] for e in events if e["ph"] == "X" and processes[e["pid"]] == "MindSpore"}
        self.assertTrue(any(name.endswith(".execute") for name in calls), "acl.mdl.execute")
        self.assertTrue(any(name.endswith("RunTest.infer") for name in calls))

    def test_database(self):
        profiler = self.steps(export_type=[ExportType.Text, ExportType.Db])
        path = profiler.directory / OUTPUT / "ascend_mindspore_profiler_0.db"
        connection = sqlite3.connect(path)
        self.addCleanup(connection.close)
        (steps,) = connection.execute("SELECT count(*) FROM STEP_TIME").fetchone()
        self.assertEqual(steps, 3)
        # Times of steps and tasks are of one clock.
        (in_steps,) = connection.execute(
            "SELECT count(*) FROM TASK t JOIN STEP_TIME s"
            " ON t.startNs BETWEEN s.startNs AND s.endNs"
        ).fetchone()
        kernels = self.table(profiler, "kernel_details.csv")
        self.assertEqual(in_steps, len(kernels))

    def test_simplification(self):
        for simplifies in (True, False):
            profiler = self.profile(data_simplification=simplifies)
            (prof,) = profiler.directory.glob("PROF_*")
            self.assertTrue(list(prof.glob("device_0/data/*")))
            for name in ("mindstudio_profiler_output", "mindstudio_profiler_log"):
                self.assertEqual((prof / name).exists(), not simplifies)
            self.assertEqual(bool(list(prof.glob("device_0/sqlite"))), not simplifies)
        # What is left can be analysed again, with its steps.
        profiler = self.steps()
        before = self.table(profiler, "kernel_details.csv")
        Profiler.offline_analyse(profiler.directory)
        after = self.table(profiler, "kernel_details.csv")
        self.assertEqual([k["Step ID"] for k in before], [k["Step ID"] for k in after])

    def test_host_system(self):
        profiler = self.profile(host_sys=[HostSystem.CPU, HostSystem.MEM])
        self.assertTrue(any(event["ph"] == "C" for event in self.trace(profiler)))


class ManyTest(RunTest):
    def test_one_profiler_after_another(self):
        first, second = self.profile(), self.profile()
        self.assertNotEqual(first.directory, second.directory)
        self.assertEqual(self.files(first), self.files(second))

    def test_offline_and_async(self):
        runs = [self.profile(data_simplification=False) for _ in range(3)]
        wanted = self.files(runs[0])
        Profiler.offline_analyse(self.directory, data_simplification=True)
        for run in runs:
            self.assertEqual(self.files(run), wanted)
            self.assertFalse((run.directory / "FRAMEWORK").exists())
        runs[0].analyse(mode="async")
        background.wait()
        self.assertEqual(self.files(runs[0]), [name for name in wanted if name != "dataset.csv"])

    def test_a_schedule_of_many_traces(self):
        with Profiler(
            output_path=self.directory,
            schedule=schedule(wait=0, warmup=0, active=1, repeat=3),
            on_trace_ready=tensorboard_trace_handler(async_mode=True),
        ) as profiler:
            for _ in range(4):
                self.infer()
                profiler.step()
        background.wait()
        found = []
        for run in pathlib.Path(self.directory).iterdir():
            profiler.directory = run
            found += {row["Step ID"] for row in self.table(profiler, "kernel_details.csv")}
        self.assertEqual(sorted(found), ["0", "1", "2"])


class ConflictTest(ProfilerTest):
    """What else may profile the process."""

    def run_program(self, program, **environment):
        import os

        return subprocess.run(
            [sys.executable, "-c", program, self.directory],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
        )

    def test_acl_json(self):
        config = pathlib.Path(self.directory) / "acl.json"
        config.write_text(
            json.dumps({"profiler": {"switch": "on", "output": self.directory + "/of_acl_json"}})
        )
        done = self.run_program(
            "import acl, sys; from aoe.profiler import Profiler\n"
            "assert acl.init(sys.argv[1] + '/acl.json') == 0\n"
            "try: Profiler(output_path=sys.argv[1] + '/runs')\n"
            "except RuntimeError as error: print(error.code, error)\n"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("100042 acl.prof.init failed"), done.stdout)
        self.assertEqual(list(pathlib.Path(self.directory, "runs").glob("*")), [])

    def test_profiling_mode(self):
        done = self.run_program(
            "import sys; from aoe import Session; from aoe.profiler import Profiler\n"
            "session = Session()\n"
            "try: Profiler(output_path=sys.argv[1] + '/runs')\n"
            "except RuntimeError as error: print(error.code)\n",
            PROFILING_MODE="true",
            PROFILING_OPTIONS=json.dumps({"output": self.directory + "/of_mode"}),
        )
        self.assertEqual((done.returncode, done.stdout), (0, "100042\n"), done.stderr)

    def test_a_missing_msprof(self):
        with Profiler(output_path=self.directory) as profiler:
            pass
        done = self.run_program(
            "import sys, pathlib; import aoe.profiler.msprof_program as m\n"
            "m._PACKAGES = pathlib.Path('/nowhere/at/all')\n"
            "from aoe.profiler.__main__ import main; sys.exit(main([sys.argv[1]]))\n",
            PATH="/nowhere",
            AOE_HOME="",
        )
        self.assertEqual(done.returncode, 1)
        self.assertTrue(profiler.directory.exists())


class ClosedSessionTest(unittest.TestCase):
    def test_the_profiler_leaves_the_runtime_as_it_was(self):
        """acl.init() is counted: a Profiler takes and gives back."""
        import acl

        self.assertTrue(acl_library.initialise())
        self.assertEqual(acl.finalize(), 0)


if __name__ == "__main__":
    unittest.main()
