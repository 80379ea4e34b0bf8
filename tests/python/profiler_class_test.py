"""Profiler over a fake collector: which calls follow from its methods, and what is written."""

import json
import pathlib
import unittest

from profiler_fakes import FakeCollector, ProfilerTest

from aoe.profiler import (
    Profiler,
    ProfilerAction,
    ProfilerActivity,
    _ExperimentalConfig,
    profile,
    schedule,
    tensor_board_trace_handler,
    tensorboard_trace_handler,
)


class ProfilerClassTest(ProfilerTest):
    def profiler(self, kind=Profiler, **arguments):
        self.collectors = []

        def make():
            self.collectors.append(FakeCollector(self.fails_at))
            return self.collectors[-1]

        return kind(output_path=self.directory, _make_collector=make, **arguments)

    fails_at = None

    @property
    def calls(self):
        return [collector.calls for collector in self.collectors]

    def info(self, directory):
        return json.loads((pathlib.Path(directory) / "profiler_info_0.json").read_text())

    def test_arguments_are_keywords(self):
        with self.assertRaises(TypeError):
            Profiler(True)

    def test_without_a_schedule(self):
        profiler = self.profiler()
        self.assertEqual(self.calls, [["init", "start"]])
        profiler.stop()
        self.assertEqual(self.calls, [["init", "start", "stop", "finalize"]])
        self.assert_silent()
        self.assertRegex(profiler.directory.name, r"^.+_\d+_\d{17}_ascend_ms$")
        self.assertEqual(
            sorted(path.name for path in profiler.directory.iterdir()),
            ["FRAMEWORK", "logs", "profiler_info_0.json"],
        )
        info = self.info(profiler.directory)
        self.assertLess(info["start_ns"], info["end_ns"])
        self.assertEqual(info["steps"], [])
        self.assertEqual(info["arguments"]["profiler_level"], "Level0")

    def test_started_later(self):
        profiler = self.profiler(start_profile=False)
        self.assertEqual(self.calls, [])
        profiler.start()
        profiler.start()
        self.assert_said("started already")
        profiler.stop()
        self.assertEqual(self.calls, [["init", "start", "stop", "finalize"]])

    def test_started_again(self):
        profiler = self.profiler()
        profiler.stop()
        first = profiler.directory
        profiler.start()
        profiler.stop()
        self.assertNotEqual(profiler.directory, first)
        self.assertEqual(len(self.calls), 2)

    def test_stop_without_start(self):
        self.profiler(start_profile=False).stop()
        self.assert_said("stop() without start()")

    def test_step_without_a_schedule(self):
        profiler = self.profiler()
        profiler.step()
        self.assert_said("step() needs a Profiler with a schedule")
        profiler.stop()
        self.assertEqual(profiler.step_num, 0)

    def test_step_without_start(self):
        profiler = self.profiler(
            start_profile=False, schedule=schedule(wait=0, warmup=1, active=1)
        )
        profiler.step()
        self.assert_said("step() without start()")

    def test_stop_without_a_step(self):
        profiler = self.profiler(schedule=schedule(wait=0, warmup=1, active=1))
        profiler.stop()
        self.assert_said("without a step()")
        self.assertEqual(self.calls, [["init"]])
        profiler.step()
        profiler.step()
        self.assertEqual(self.calls[0][:4], ["init", "start", ("begin", 1), "end"])
        profiler.stop()

    def test_a_schedule(self):
        ready = []
        profiler = self.profiler(
            schedule=schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1),
            on_trace_ready=lambda p: ready.append((p.step_num, p.directory)),
        )
        for _ in range(12):
            profiler.step()
        profiler.stop()
        cycle = ["init", "start"]
        self.assertEqual(
            self.calls,
            [
                cycle + [("begin", 3), "end", ("begin", 4), "end", "stop", "finalize"],
                cycle + [("begin", 7), "end", ("begin", 8), "end", "stop", "finalize"],
            ],
        )
        self.assertEqual([step for step, _ in ready], [5, 9])
        for (_, directory), numbers in zip(ready, ([3, 4], [7, 8])):
            steps = self.info(directory)["steps"]
            self.assertEqual([step["number"] for step in steps], numbers)
            self.assertTrue(all(step["begin_ns"] <= step["end_ns"] for step in steps))
        self.assert_silent()

    def test_every_step_its_own_trace(self):
        ready = []
        profiler = self.profiler(
            schedule=schedule(wait=0, warmup=0, active=1, repeat=0),
            on_trace_ready=lambda: ready.append(profiler.directory),
        )
        for _ in range(3):
            profiler.step()
        profiler.stop()
        self.assertEqual(len(set(ready)), 4)  # the step that stop() ends is one, too

    def test_stop_in_the_middle_of_a_cycle_hands_the_trace_over(self):
        ready = []
        profiler = self.profiler(
            schedule=schedule(wait=0, warmup=1, active=3), on_trace_ready=ready.append
        )
        profiler.step()
        profiler.stop()
        self.assertEqual(ready, [profiler])
        self.assertEqual(self.calls, [["init", "start", ("begin", 1), "end", "stop", "finalize"]])

    def test_stop_while_warming_up_leaves_nothing(self):
        profiler = self.profiler(
            schedule=schedule(wait=0, warmup=2, active=1), on_trace_ready=self.fail
        )
        profiler.step()
        profiler.stop()
        self.assertEqual(self.calls, [["init", "finalize"]])
        self.assertEqual(list(pathlib.Path(self.directory).iterdir()), [])

    def test_abnormal_transitions(self):
        none, warm_up, record, _ = ProfilerAction
        for actions, calls in (
            ([warm_up, none], [["init", "start", "stop", "finalize"]]),
            ([record, none], [["init", "start", ("begin", 0), "end", "stop", "finalize"]]),
            (
                [record, warm_up, none],
                [
                    ["init", "start", ("begin", 0), "end", "stop", "finalize"],
                    ["init", "start", "stop", "finalize"],
                ],
            ),
        ):
            with self.subTest(actions=actions):
                self.said.clear()
                profiler = self.profiler(schedule=actions.__getitem__, on_trace_ready=self.fail)
                for _ in actions[1:]:
                    profiler.step()
                profiler.stop()
                self.assertEqual(self.calls, calls)
                self.assert_said("the record is broken off")

    def test_context_manager(self):
        ready = []
        with self.profiler(start_profile=False, on_trace_ready=ready.append) as profiler:
            self.assertEqual(self.calls, [["init", "start"]])
        self.assertEqual(ready, [profiler])

    def test_context_manager_without_a_step_collects_no_further(self):
        with self.profiler(
            schedule=schedule(wait=0, warmup=0, active=1), on_trace_ready=self.fail
        ):
            pass
        self.assert_said("without a step()")
        self.assertEqual(self.calls[0][-2:], ["stop", "finalize"])
        self.profiler().stop()

    def test_context_manager_passes_exceptions_on(self):
        with self.assertRaisesRegex(KeyError, "of the program"):
            with self.profiler():
                raise KeyError("of the program")
        self.assertEqual(self.calls, [["init", "start", "stop", "finalize"]])

    def test_one_profiler_at_a_time(self):
        first = self.profiler()
        with self.assertRaisesRegex(RuntimeError, "another Profiler of this process collects"):
            self.profiler()
        first.stop()
        self.profiler().stop()

    def test_a_runtime_that_refuses(self):
        for self.fails_at in ("init", "start", "stop", "finalize"):
            with self.subTest(fails_at=self.fails_at):
                with self.assertRaisesRegex(RuntimeError, f"{self.fails_at} fails"):
                    self.profiler().stop()
                self.assertEqual("finalize" in self.calls[0], self.fails_at != "init")
        self.fails_at = None
        self.profiler().stop()

    def test_a_handler_that_raises(self):
        def handler():
            raise KeyError("of the handler")

        profiler = self.profiler(on_trace_ready=handler)
        with self.assertRaisesRegex(KeyError, "of the handler"):
            profiler.stop()
        self.profiler().stop()  # nothing is left that would forbid it

    def test_an_output_path_that_cannot_be_made(self):
        file = pathlib.Path(self.directory) / "file"
        file.write_text("")
        with self.assertRaises(OSError):
            Profiler(output_path=file, _make_collector=FakeCollector)
        self.profiler().stop()

    def test_metadata(self):
        profiler = self.profiler()
        profiler.add_metadata("who", "me")
        profiler.add_metadata("who", "you")
        self.assert_said("'who' is replaced")
        profiler.add_metadata_json("sizes", '{"batch": [1, 2]}')
        profiler.add_metadata_json("broken", '{"batch": ')
        self.assert_said("the value of 'broken' is not JSON")
        profiler.add_metadata("number", 1)
        profiler.add_metadata_json(2, "[]")
        self.assert_said("add_metadata takes two strings")
        self.assert_said("add_metadata_json takes two strings")
        profiler.stop()
        path = profiler.directory / "profiler_metadata.json"
        self.assertEqual(json.loads(path.read_text()), {"who": "you", "sizes": {"batch": [1, 2]}})
        self.assertIn('\n    "who"', path.read_text())

    def test_metadata_has_a_bound(self):
        profiler = self.profiler()
        half = "x" * (51 * 1024 * 1024)
        profiler.add_metadata("a", half)
        profiler.add_metadata("b", half)
        self.assert_said("would exceed 104857600; 'b' is left out")
        profiler.add_metadata("a", "small")
        profiler.add_metadata("b", half)
        profiler.stop()
        path = profiler.directory / "profiler_metadata.json"
        self.assertEqual(len(json.loads(path.read_text())["b"]), len(half))

    def test_analyse_with_a_schedule_is_refused(self):
        with self.profiler(schedule=schedule(wait=0, warmup=1, active=1)) as profiler:
            profiler.step()
            profiler.analyse()
        self.assert_said("analyse() has no effect with a schedule")

    def test_analyse_without_a_run(self):
        self.profiler(start_profile=False).analyse()
        self.assert_said("nothing was collected")

    def test_step_lists(self):
        for steps, error in (
            ("01", TypeError),
            ([1, "2"], TypeError),
            ([True], TypeError),
            ([], ValueError),
            ([1, 3], ValueError),
            ([-1, 0], ValueError),
            ([1, 1], ValueError),
        ):
            with self.subTest(steps=steps), self.assertRaises(error):
                Profiler.offline_analyse(self.directory, step_list=steps)

    def test_offline_analyse_of_nothing(self):
        Profiler.offline_analyse(self.directory)
        self.assert_said("no *_ascend_ms* directory")

    def test_handlers_name_the_directories(self):
        for handler in (tensorboard_trace_handler, tensor_board_trace_handler):
            with self.profiler(
                on_trace_ready=handler(self.directory + "/runs", "worker", analyse_flag=False)
            ) as profiler:
                pass
            self.assertEqual(profiler.directory.parent.name, "runs")
            self.assertRegex(profiler.directory.name, r"^worker_\d{17}_ascend_ms$")
        self.assert_silent()

    def test_a_handler_whose_analysis_fails_says_so(self):
        with self.profiler(on_trace_ready=tensor_board_trace_handler) as profiler:
            (profiler.directory / "PROF_000001_1_X").mkdir()  # of which msprof makes nothing
        self.assert_said("is not analysed")

    def test_profile_and_its_config(self):
        with self.profiler(
            kind=profile,
            activities=[ProfilerActivity.CPU],
            experimental_config=_ExperimentalConfig(mstx=True),
        ) as profiler:
            self.assertTrue(profiler.options.mstx)
        self.said.clear()
        self.profiler(kind=profile, experimental_config={"mstx": True}, start_profile=False)
        self.assert_said("experimental_config must be an _ExperimentalConfig")


if __name__ == "__main__":
    unittest.main()
