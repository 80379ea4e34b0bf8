"""What the tests of the profiler share: a collector that only notes its calls."""

import logging
import shutil
import tempfile
import unittest

from aoe.profiler import log


class FakeCollector:
    def __init__(self, fails_at=None):
        self.calls = []
        self.fails_at = fails_at

    def _note(self, *call):
        self.calls.append(call if len(call) > 1 else call[0])
        if call[0] == self.fails_at:
            raise RuntimeError(f"{self.fails_at} fails")

    def init(self, directory, options):
        self._note("init")

    def start(self):
        self._note("start")

    def stop(self):
        self._note("stop")

    def finalize(self):
        self._note("finalize")

    def begin_step(self, number):
        self._note("begin", number)

    def end_step(self):
        self._note("end")


class ProfilerTest(unittest.TestCase):
    """A fresh directory, and what is warned about kept in self.said."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="aoe_profiler_test_")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        log.forget_what_was_said()
        self.said = []
        handler = logging.Handler()
        handler.emit = lambda record: self.said.append(record.getMessage())
        log.logger.addHandler(handler)
        log.logger.propagate = False
        self.addCleanup(log.logger.removeHandler, handler)

    def assert_said(self, text):
        self.assertTrue(any(text in each for each in self.said), f"{text!r} is not in {self.said}")

    def assert_silent(self):
        self.assertEqual(self.said, [])
