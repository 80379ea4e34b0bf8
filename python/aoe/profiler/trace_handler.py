"""tensorboard_trace_handler: the usual on_trace_ready, which analyses each trace as it comes."""

import inspect

from . import background
from .log import logger


class TraceHandler:
    def __init__(self, dir_name, worker_name, analyse_flag, async_mode):
        self.dir_name = dir_name
        self.worker_name = worker_name
        self._analyses = analyse_flag
        self._is_async = async_mode

    def __call__(self, profiler):
        """Errors are logged, not raised: a profile that fails shall not end the program."""
        if not self._analyses:
            return
        try:
            analyse = background.analyse_later if self._is_async else background.analyse_now
            analyse(profiler.directory, simplify=profiler.options.data_simplification)
        except Exception as error:  # whatever it is, see above
            logger.error("the trace in %s is not analysed: %s", profiler.directory, error)


def tensorboard_trace_handler(
    dir_name=None, worker_name=None, analyse_flag=True, async_mode=False
):
    """For on_trace_ready, called or as it is.

    dir_name      where runs go, instead of the profiler's output_path
    worker_name   what their directories are named after, instead of host and process
    analyse_flag  False: raw data alone, for Profiler.offline_analyse()
    async_mode    analyse in another process while the program goes on, which waits at its end
    """
    return TraceHandler(dir_name, worker_name, analyse_flag, async_mode)


tensor_board_trace_handler = tensorboard_trace_handler


def as_handler(on_trace_ready):
    """`on_trace_ready` as a function of the profiler: those without parameters are called so."""
    if on_trace_ready is None:
        return None
    if on_trace_ready is tensorboard_trace_handler:
        return tensorboard_trace_handler()
    if isinstance(on_trace_ready, TraceHandler):
        return on_trace_ready
    try:
        inspect.signature(on_trace_ready).bind(None)
    except TypeError:
        return lambda _profiler: on_trace_ready()
    except ValueError:  # a builtin that does not say
        pass
    return on_trace_ready
