"""Profiler: the class that programs use."""

import atexit

from . import background
from .collector import AclCollector
from .directories import find_runs
from .log import logger
from .metadata import Metadata
from .options import ProfilerOptions
from .run import Run, break_off_at_exit
from .schedule import ProfilerAction, record_always
from .step_list import checked_step_list
from .trace_handler import TraceHandler, as_handler
from .transitions import Work, work_at_stop, work_between

atexit.register(break_off_at_exit)


class Profiler:
    """Collects what this process does into {output_path}/{host}_{pid}_{time}_ascend_ms.

        profiler = Profiler(profiler_level=ProfilerLevel.Level1)
        ...
        profiler.analyse()

        with Profiler(schedule=schedule(wait=1, warmup=1, active=2, repeat=1),
                      on_trace_ready=tensorboard_trace_handler()) as profiler:
            for batch in batches:
                session.run(None, batch)
                profiler.step()

    Arguments are keywords; docs/profiler_class.md lists them. Those of a wrong type are replaced by
    their defaults, with a warning. There is one Profiler at a time that collects, and none while
    acl.json, msprof or PROFILING_MODE do: RuntimeError. All methods are for one thread.
    """

    def __init__(self, **arguments):
        make_collector = arguments.pop("_make_collector", AclCollector)  # for tests
        self.options = ProfilerOptions(arguments)
        self._make_collector = make_collector
        self._handler = as_handler(self.options.on_trace_ready)
        self._worker_name = None
        if isinstance(self._handler, TraceHandler):
            self._worker_name = self._handler.worker_name
            self.options.output_path = self._handler.dir_name or self.options.output_path
        self._schedule = self.options.schedule or record_always
        self._metadata = Metadata()
        self._step = 0
        self._has_stepped = False
        self._is_started = False
        self._action = self._schedule(0)
        self._run = None
        #: Of the run that ended last, or of the one that collects; a pathlib.Path, or None.
        self.directory = None
        if self.options.start_profile:
            self.start()

    @property
    def step_num(self):
        return self._step

    def start(self):
        if self._is_started:
            logger.warning("the Profiler is started already")
            return
        self._action = self._schedule(self._step)
        self._do(work_between(ProfilerAction.NONE, self._action))
        self._is_started = True
        self._begin_step()

    def stop(self):
        if not self._is_started:
            logger.error("stop() without start(): there is nothing to stop")
            return
        if self.options.schedule is not None and not self._has_stepped:
            logger.warning("stop() with a schedule, but without a step(): nothing is stopped")
            return
        self._end(work_at_stop(self._action))

    def step(self):
        """The end of a step, and the begin of the next one."""
        if self.options.schedule is None:
            logger.error("step() needs a Profiler with a schedule; it has no effect")
            return
        if not self._is_started:
            logger.error("step() without start(); it has no effect")
            return
        self._has_stepped = True
        if self._run:
            self._run.end_step()
        self._step += 1
        previous, self._action = self._action, self._schedule(self._step)
        self._do(work_between(previous, self._action))
        self._begin_step()

    def analyse(self, offline_path=None, pretty=False, step_list=None, mode="sync"):
        """Stops where that was not done, and writes ASCEND_PROFILER_OUTPUT.

        With a schedule the handler on_trace_ready does so. `offline_path`: a directory of an
        earlier run instead. `step_list`: consecutive steps. `mode`: "sync", or "async" to go on
        while another process works, for which the program waits at its end.
        """
        steps = checked_step_list(step_list)
        if offline_path is not None:
            Profiler.offline_analyse(offline_path, pretty, steps)
            return
        if self.options.schedule is not None:
            logger.warning("analyse() has no effect with a schedule: use on_trace_ready")
            return
        if mode not in ("sync", "async"):
            logger.warning('mode must be "sync" or "async", not %r; "sync" is taken', mode)
            mode = "sync"
        if self._is_started:
            self.stop()
        if self.directory is None:
            logger.error("analyse(): nothing was collected")
            return
        analyse = background.analyse_later if mode == "async" else background.analyse_now
        analyse(
            self.directory,
            pretty=bool(pretty),
            step_list=steps,
            simplify=self.options.data_simplification,
        )

    @classmethod
    def offline_analyse(cls, path, pretty=False, step_list=None, data_simplification=False):
        """Analyses every *_ascend_ms* directory at or under `path`, several at a time."""
        steps = checked_step_list(step_list)
        runs = find_runs(path)
        if not runs:
            logger.error("%s: no *_ascend_ms* directory is there or below", path)
            return
        background.analyse_many(
            [run.path for run in runs],
            pretty=bool(pretty),
            step_list=steps,
            simplify=bool(data_simplification),
        )

    def add_metadata(self, key, value):
        """Two strings, for profiler_metadata.json."""
        self._metadata.add(key, value)

    def add_metadata_json(self, key, value):
        """The same; `value` is the text of some JSON, and is stored as what it says."""
        self._metadata.add_json(key, value)

    def __enter__(self):
        if not self._is_started:
            self.start()
        return self

    def __exit__(self, *_):
        if not self._is_started:
            return
        self.stop()
        if self._is_started:  # with a schedule, and no step: see stop()
            self._end([each for each in work_at_stop(self._action) if each is not Work.TRACE_READY])

    def _begin_step(self):
        if self._run and self.options.schedule is not None:
            self._run.begin_step(self._step)

    def _end(self, work):
        if self._run:
            self._run.end_step()
        self._is_started = False
        self._do(work)

    def _do(self, work):
        """What follows a failure, of the runtime or of the handler, is done before it is raised."""
        failure = None
        for each in work:
            if failure is not None and each is not Work.CLEAR:
                continue
            try:
                self._do_one(each)
            except Exception as error:
                failure = error
                if each is not Work.TRACE_READY:
                    self._give_up(breaks_off=True)
        if failure is not None:
            raise failure

    def _do_one(self, work):
        if work is Work.INIT:
            run = Run(self.options, self._make_collector(), self._worker_name)
            run.init()
            self._run = run
            self.directory = run.directory.path
        elif self._run is None:  # the runtime refused, which was raised; until the next INIT
            pass
        elif work is Work.START:
            self._run.start()
        elif work is Work.STOP:
            self._run.stop()
        elif work is Work.FINALIZE:
            self._run.finalize(self._metadata)
        elif work is Work.TRACE_READY:
            if self._handler:
                self._handler(self)
        elif work is Work.DELETE:
            self._run.delete()
            self.directory = None
        else:
            self._give_up()

    def _give_up(self, breaks_off=False):
        run, self._run = self._run, None
        if run is not None:
            if breaks_off:
                run.break_off()
            run.release()
