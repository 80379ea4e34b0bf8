"""What the Python side records, and its analysis: no runtime is needed."""

import json
import pathlib
import sqlite3
import subprocess
import sys
import threading
import unittest

from profiler_fakes import ProfilerTest

from aoe.profiler import (
    ExportType,
    Profiler,
    ProfilerActivity,
    background,
    python_calls,
    schedule,
    tensorboard_trace_handler,
)
from aoe.profiler.framework import Range, Recorder, recorder
from aoe.profiler.intervals import union_length
from aoe.profiler.profile_data import link, ns_of, us_of
from aoe.profiler.scopes import scope_ranges, scopes_of


def outer(work=lambda: None):
    inner(work)


def inner(work):
    with recorder.range("model", "op", **{"Input Dims": '"1,3"'}):
        work()


class Task:
    def __init__(self, thread, begin_ns):
        self.thread, self.begin_ns, self.op = thread, begin_ns, None


def an_op(name, thread, begin_ns, end_ns):
    return Range(name, "op", thread, begin_ns, end_ns, {}, [])


class PartsTest(unittest.TestCase):
    def test_times(self):
        for text, ns in (("12.345", 12345), ("0.007", 7), ("12", 12000), ("1.5", 1500)):
            self.assertEqual(ns_of(text), ns)
        self.assertEqual(ns_of("N/A"), 0)
        self.assertEqual([us_of(12345), us_of(7), us_of(-1)], ["12.345", "0.007", "-0.001"])

    def test_union_length(self):
        self.assertEqual(union_length([]), 0)
        self.assertEqual(union_length([(5, 7), (0, 3), (2, 4), (2, 3)]), 6)

    def test_scopes(self):
        self.assertEqual(scopes_of("/a/b/Conv"), ["a", "a/b"])
        self.assertEqual(scopes_of("Conv"), [])
        kernels = [("/a/b/x", 0, 1), ("/a/b/y", 2, 3), ("/a/c/x", 4, 5), ("z", 6, 7), ("a/x", 8, 9)]
        self.assertEqual(
            scope_ranges(kernels),
            [(0, "a", 0, 5), (1, "a/b", 0, 3), (1, "a/c", 4, 5), (0, "a", 8, 9)],
        )

    def test_tasks_belong_to_the_innermost_op_of_their_thread(self):
        ops = [an_op("a", 1, 0, 10), an_op("b", 1, 2, 4), an_op("c", 2, 0, 100)]
        tasks = [Task(1, 1), Task(1, 3), Task(2, 5), Task(1, 6), Task(1, 11), Task(3, 12)]
        link(tasks, ops)
        names = [task.op.name if task.op else None for task in tasks]
        self.assertEqual(names, ["a", "b", "c", "a", None, None])

    def test_nothing_is_recorded_while_off(self):
        idle = Recorder()
        with idle.range("x", "op"):
            pass
        self.assertEqual(idle.stop(), [])

    def test_a_range_ends_with_an_exception(self):
        busy = Recorder()
        busy.start(with_stack=False)
        with self.assertRaises(KeyError), busy.range("x", "op", size=1):
            raise KeyError
        (done,) = busy.stop()
        self.assertEqual((done.name, done.arguments, done.stack), ("x", {"size": 1}, []))
        self.assertLessEqual(done.begin_ns, done.end_ns)


class PythonSideTest(ProfilerTest):
    def collect(self, work=outer, **arguments):
        with Profiler(
            output_path=self.directory, activities=[ProfilerActivity.CPU], **arguments
        ) as profiler:
            work()
        return profiler

    def trace(self, profiler):
        path = profiler.directory / "ASCEND_PROFILER_OUTPUT/trace_view.json"
        return json.loads(path.read_text())

    def test_stacks(self):
        profiler = self.collect(with_stack=True)
        profiler.analyse()
        events = self.trace(profiler)
        slices = {e["name"].rpartition(" ")[2]: e for e in events if e["ph"] == "X"}
        self.assertLessEqual({"outer", "inner", "model"}, set(slices))
        for name, around in (("inner", "outer"), ("model", "inner")):
            one, other = slices[name], slices[around]
            self.assertEqual(one["tid"], other["tid"])
            self.assertGreaterEqual(one["ts"], other["ts"])
            self.assertLessEqual(one["ts"] + one["dur"], other["ts"] + other["dur"] + 0.001)
        stack = slices["model"]["args"]["Call stack"].split(";\n")
        self.assertRegex(stack[0], r"profiler_python_side_test\.py\(\d+\): inner$")
        self.assertRegex(stack[1], r"\): outer$")
        processes = {e["args"]["name"] for e in events if e["name"] == "process_name"}
        self.assertLessEqual({"MindSpore", "CPU OP", "Scope Layer"}, processes)
        self.assert_silent()

    def test_without_stacks(self):
        profiler = self.collect()
        profiler.analyse()
        names = [e["name"] for e in self.trace(profiler) if e["ph"] == "X"]
        self.assertEqual(names, ["model"])

    def test_stacks_of_threads_that_are_started_meanwhile(self):
        seen = []

        def work():
            thread = threading.Thread(
                target=lambda: (seen.append(threading.get_native_id()), outer())
            )
            thread.start()
            thread.join()

        profiler = self.collect(work, with_stack=True, data_simplification=False)
        calls = python_calls.read(profiler.directory / "FRAMEWORK")
        self.assertIn("outer", {c[1].rpartition(" ")[2] for c in calls if c[0] == seen[0]})

    def test_recursion_generators_and_exceptions_stay_nested(self):
        def numbers(count):
            for i in range(count):
                yield i

        def dive(depth):
            if depth == 0:
                raise KeyError
            try:
                dive(depth - 1)
            finally:
                sum(numbers(3))

        def work():
            for _ in range(20):
                with self.assertRaises(KeyError):
                    dive(30)

        profiler = self.collect(work, with_stack=True)
        calls = python_calls.read(profiler.directory / "FRAMEWORK")
        self.assertEqual(sum(name.endswith(".dive") for _, name, _, _ in calls), 20 * 31)
        stack = []
        for _, name, begin, end in calls:
            while stack and stack[-1] <= begin and stack[-1] < end:
                stack.pop()
            if stack:
                self.assertLessEqual(end, stack[-1], name)
            stack.append(end)

    def test_another_profile_function_is_left_alone(self):
        def other(*_):
            pass

        sys.setprofile(other)
        try:
            profiler = self.collect(with_stack=True)
            self.assertIs(sys.getprofile(), other)
        finally:
            sys.setprofile(None)
        self.assert_said("another profile function is set")
        self.assertEqual(python_calls.read(profiler.directory / "FRAMEWORK"), [])

    def test_calls_have_a_bound(self):
        bound, python_calls.MOST_EVENTS = python_calls.MOST_EVENTS, 200
        try:
            profiler = self.collect(lambda: [outer() for _ in range(100)], with_stack=True)
        finally:
            python_calls.MOST_EVENTS = bound
        self.assert_said("are not in the timeline")
        self.assertEqual(len(python_calls.read(profiler.directory / "FRAMEWORK")) <= 200, True)
        info = json.loads((profiler.directory / "profiler_info_0.json").read_text())
        self.assertGreater(info["python_calls_dropped"], 100)
        self.assertIsNone(sys.getprofile())

    def test_steps_and_their_choice(self):
        with Profiler(
            output_path=self.directory,
            activities=[ProfilerActivity.CPU],
            schedule=schedule(wait=0, warmup=1, active=4, repeat=1),
            data_simplification=False,
        ) as profiler:
            for _ in range(5):
                outer()
                profiler.step()
        Profiler.offline_analyse(self.directory, step_list=[3, 2], pretty=True)
        names = [e["name"] for e in self.trace(profiler) if e["ph"] == "X"]
        self.assertEqual(
            sorted(names), ["ProfilerStep#2", "ProfilerStep#3", "model", "model"], self.said
        )
        Profiler.offline_analyse(self.directory, step_list=[9])
        self.assert_said("none of these steps is in the profile, which has [1, 2, 3, 4]")
        self.assertEqual(  # the analysis before is still whole
            len([e for e in self.trace(profiler) if e["ph"] == "X"]), 4
        )

    def test_database(self):
        profiler = self.collect(export_type=[ExportType.Db], with_stack=True)
        profiler.analyse()
        output = profiler.directory / "ASCEND_PROFILER_OUTPUT"
        self.assertEqual(
            [path.name for path in output.iterdir()], ["ascend_mindspore_profiler_0.db"]
        )
        connection = sqlite3.connect(output / "ascend_mindspore_profiler_0.db")
        self.addCleanup(connection.close)
        rows = connection.execute("SELECT name, kind, callStack FROM FRAMEWORK_API").fetchall()
        self.assertEqual(rows[0][:2], ("model", "op"))
        self.assertIn("inner", rows[0][2])

    def test_simplification(self):
        for simplifies in (True, False):
            profiler = self.collect(data_simplification=simplifies)
            profiler.analyse()
            self.assertEqual((profiler.directory / "FRAMEWORK").exists(), not simplifies)

    def test_async(self):
        profiler = self.collect()
        profiler.analyse(mode="async")
        background.wait()
        self.assertTrue(self.trace(profiler))
        profiler.analyse(mode="later")
        self.assert_said('mode must be "sync" or "async"')

    def test_async_is_waited_for_when_the_program_ends(self):
        program = (
            "import sys; from aoe.profiler import *\n"
            "with Profiler(output_path=sys.argv[1], activities=[ProfilerActivity.CPU],\n"
            "              on_trace_ready=tensorboard_trace_handler(async_mode=True)): pass\n"
        )
        subprocess.run([sys.executable, "-c", program, self.directory], check=True)
        traces = list(pathlib.Path(self.directory).glob("*/ASCEND_PROFILER_OUTPUT/trace_view.json"))
        self.assertEqual(len(traces), 1)

    def test_a_failed_async_analysis_is_said(self):
        profiler = self.collect()
        (profiler.directory / "profiler_info_0.json").write_text("{")
        profiler.analyse(mode="async")
        background.wait()
        self.assert_said("is not analysed")

    def test_many_directories(self):
        runs = [self.collect(data_simplification=False) for _ in range(3)]
        broken = runs[1].directory / "profiler_info_0.json"
        broken.unlink()
        Profiler.offline_analyse(self.directory)
        self.assert_said(f"it has no {broken.name}")
        for run, is_whole in zip(runs, (True, False, True)):
            self.assertEqual((run.directory / "ASCEND_PROFILER_OUTPUT").exists(), is_whole)
        self.assertEqual(len(self.said), 1)

    def test_a_program_that_ends_without_stop(self):
        program = (
            "import sys; from aoe.profiler import *\n"
            "p = Profiler(output_path=sys.argv[1], activities=[ProfilerActivity.CPU])\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, self.directory], stderr=subprocess.PIPE, text=True
        )
        self.assertEqual(done.returncode, 0)
        self.assertIn("the program ends while", done.stderr)
        (run,) = pathlib.Path(self.directory).iterdir()
        self.assertTrue((run / "FRAMEWORK/ranges.json").exists())

    def test_a_forked_process_takes_no_part(self):
        program = (
            "import os, sys; from aoe.profiler import *\n"
            "p = Profiler(output_path=sys.argv[1], activities=[ProfilerActivity.CPU],\n"
            "             with_stack=True)\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    assert sys.getprofile() is None\n"
            "    Profiler(output_path=sys.argv[1] + '/child',\n"
            "             activities=[ProfilerActivity.CPU]).stop()\n"
            "    sys.exit(7)\n"
            "assert os.waitpid(child, 0)[1] == 7 << 8\n"
            "p.analyse()\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, self.directory], stderr=subprocess.PIPE, text=True
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_handler(self):
        profiler = self.collect(on_trace_ready=tensorboard_trace_handler(self.directory + "/here"))
        self.assertEqual(profiler.directory.parent.name, "here")
        self.assertTrue(self.trace(profiler))


if __name__ == "__main__":
    unittest.main()
