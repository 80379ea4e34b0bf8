"""The module acl (pyACL), and its codes as exceptions."""

import threading

_CODES = {
    100000: "a parameter is invalid",
    100003: "the directory cannot be used",
    100010: "the profiling configuration is invalid",
    100042: "profiling is on already: acl.json, msprof or PROFILING_MODE asked for it",
    100043: "profiling is not on",
    148047: "a subscription is on, which excludes collecting to files",
    200007: "a kind of data is not supported",
    500005: "profiling failed",
}
REPEAT_INITIALIZE = 100002


class AclError(RuntimeError):
    """A call of AscendCL that failed; `code` is what it returned."""

    def __init__(self, call, code, hint=""):
        reason = recent_message() or _CODES.get(code, "")
        super().__init__(f"{call} failed with {code}" + (f": {reason}" if reason else "") + hint)
        self.code = code


def load():
    """The module acl. RuntimeError says where it comes from."""
    try:
        import acl
    except ImportError as error:
        raise RuntimeError(
            f"the module acl cannot be imported ({error}); it is installed with this package, or is"
            " in build/<preset>/python"
        ) from error
    return acl


def recent_message():
    """What AscendCL says about its last failure; empty where it cannot be asked."""
    try:
        message = load().get_recent_err_msg()
    except (AttributeError, RuntimeError):
        return ""
    return (message or "").strip()


def check(call, code, hint=""):
    if code != 0:
        raise AclError(call, code, hint)


def initialise():
    """acl.init(), which counts: False when it was initialised before, and so with the settings of
    somebody else. For each there is one release()."""
    code = load().init()
    if code == REPEAT_INITIALIZE:
        return False
    check("acl.init", code)
    return True


def release():
    """The last one ends the runtime; what the program itself has initialised stays."""
    load().finalize_reference()


class Device:
    """Is current in every thread that has asked for it: AscendCL has the device by thread."""

    def __init__(self, number=0):
        self._number = number
        self._threads = threading.local()  # has is_ready in those whose device is set

    def make_current(self):
        if not getattr(self._threads, "is_ready", False):
            check("acl.rt.set_device", load().rt.set_device(self._number))
            self._threads.is_ready = True
