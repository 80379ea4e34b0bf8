"""acl.util.start_thread and stop_thread: threads that a program starts for callbacks and for reading pipes."""
import errno
import itertools
import threading

_ids = itertools.count(1)  # the system's may come again when a thread ends before it is stopped
_threads = {}  # by id, until they are stopped


class _Thread(threading.Thread):
    def __init__(self, func, args_list):
        super().__init__(daemon=True)  # one that waits for ever does not keep the process
        self._func = func
        self._args_list = args_list
        self.error = None

    def run(self):
        try:
            self._func(self._args_list)
        except BaseException as error:  # stop_thread() raises it
            self.error = error


def start_thread(func, args_list):
    """Calls func(args_list) in a thread of its own: (thread id, ret)."""
    if not callable(func):
        raise TypeError(f"start_thread: {type(func).__name__} is not callable")
    thread = _Thread(func, args_list)
    thread.start()
    thread_id = next(_ids)
    _threads[thread_id] = thread
    return thread_id, 0


def stop_thread(thread_id):
    """Waits for the thread's end. RuntimeError with what ended it, when that was an exception."""
    if not isinstance(thread_id, int):
        raise TypeError(f"stop_thread: {type(thread_id).__name__} is not a thread id")
    thread = _threads.get(thread_id)
    if thread is None:
        return errno.ESRCH
    if thread is threading.current_thread():
        return errno.EDEADLK
    thread.join()
    _threads.pop(thread_id, None)
    if thread.error is not None:
        raise RuntimeError(f"{thread.error!r} ended the thread") from thread.error
    return 0
