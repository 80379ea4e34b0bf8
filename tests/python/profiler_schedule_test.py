"""schedule() and the state machine."""

import unittest

from profiler_fakes import ProfilerTest

from aoe.profiler import ProfilerAction, schedule
from aoe.profiler.transitions import Work, work_at_stop, work_between

NONE, WARM_UP, RECORD, SAVE = ProfilerAction
INIT, START, STOP = Work.INIT, Work.START, Work.STOP
FINALIZE, READY, CLEAR, DELETE = Work.FINALIZE, Work.TRACE_READY, Work.CLEAR, Work.DELETE
SAVED = [STOP, FINALIZE, READY, CLEAR]

# (wait, warmup, active, repeat, skip_first): the actions of the first steps
SCHEDULES = {
    (0, 1, 1, 0, 0): [WARM_UP, SAVE] * 4,
    (0, 0, 1, 0, 0): [SAVE] * 5,
    (0, 0, 3, 0, 0): [RECORD, RECORD, SAVE] * 3,
    (1, 1, 2, 1, 0): [NONE, WARM_UP, RECORD, SAVE] + [NONE] * 5,
    (1, 1, 2, 2, 0): [NONE, WARM_UP, RECORD, SAVE] * 2 + [NONE] * 5,
    (1, 1, 2, 1, 3): [NONE] * 3 + [NONE, WARM_UP, RECORD, SAVE] + [NONE] * 4,
    (2, 0, 1, 2, 1): [NONE] * 3 + [SAVE] + [NONE] * 2 + [SAVE] + [NONE] * 3,
    (0, 2, 2, 0, 0): [WARM_UP, WARM_UP, RECORD, SAVE] * 2,
}

TRANSITIONS = {
    (NONE, NONE): [],
    (NONE, WARM_UP): [INIT],
    (NONE, RECORD): [INIT, START],
    (NONE, SAVE): [INIT, START],
    (WARM_UP, NONE): [START, STOP, FINALIZE, CLEAR],  # abnormal
    (WARM_UP, WARM_UP): [],
    (WARM_UP, RECORD): [START],
    (WARM_UP, SAVE): [START],
    (RECORD, NONE): [STOP, FINALIZE, CLEAR],  # abnormal
    (RECORD, WARM_UP): [STOP, FINALIZE, CLEAR, INIT],  # abnormal
    (RECORD, RECORD): [],
    (RECORD, SAVE): [],
    (SAVE, NONE): SAVED,
    (SAVE, WARM_UP): SAVED + [INIT],
    (SAVE, RECORD): SAVED + [INIT, START],
    (SAVE, SAVE): SAVED + [INIT, START],
}
ABNORMAL = {(WARM_UP, NONE), (RECORD, NONE), (RECORD, WARM_UP)}

AT_STOP = {NONE: [], WARM_UP: [FINALIZE, DELETE, CLEAR], RECORD: SAVED, SAVE: SAVED}


class ScheduleTest(ProfilerTest):
    def test_actions(self):
        for (wait, warmup, active, repeat, skip_first), actions in SCHEDULES.items():
            with self.subTest(wait=wait, warmup=warmup, active=active, repeat=repeat):
                plan = schedule(
                    wait=wait, warmup=warmup, active=active, repeat=repeat, skip_first=skip_first
                )
                self.assertEqual([plan(step) for step in range(len(actions))], actions)

    def test_a_negative_step_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "step -1 is negative"):
            schedule(wait=0, active=1)(-1)

    def test_arguments_are_keywords(self):
        with self.assertRaises(TypeError):
            schedule(1, 1)

    def test_values_below_their_minimum(self):
        plan = schedule(wait=-1, active=0, warmup=-2, repeat=-3, skip_first=-4)
        self.assertEqual(
            plan.to_dict(), {"wait": 0, "active": 1, "warmup": 0, "repeat": 0, "skip_first": 0}
        )
        for name in ("wait", "active", "warmup", "repeat", "skip_first"):
            self.assert_said(f"schedule: {name} is ")

    def test_values_of_a_wrong_type(self):
        plan = schedule(wait="1", active=2.0, warmup=True, repeat=None, skip_first=[])
        self.assertEqual(
            plan.to_dict(), {"wait": 0, "active": 1, "warmup": 0, "repeat": 0, "skip_first": 0}
        )
        self.assert_said("active is 2.0, not an integer of at least 1")

    def test_no_warmup_warns(self):
        schedule(wait=1, active=1)
        self.assert_said("warmup is 0")

    def test_a_good_schedule_is_silent(self):
        schedule(wait=1, active=1, warmup=1, repeat=1, skip_first=1)
        self.assert_silent()


class TransitionTest(ProfilerTest):
    def test_every_pair(self):
        self.assertEqual(len(TRANSITIONS), len(ProfilerAction) ** 2)
        for (previous, current), work in TRANSITIONS.items():
            with self.subTest(previous=previous, current=current):
                self.said.clear()
                self.assertEqual(list(work_between(previous, current)), work)
                self.assertEqual(bool(self.said), (previous, current) in ABNORMAL)

    def test_at_stop(self):
        for action, work in AT_STOP.items():
            with self.subTest(action=action):
                self.assertEqual(list(work_at_stop(action)), work)


if __name__ == "__main__":
    unittest.main()
