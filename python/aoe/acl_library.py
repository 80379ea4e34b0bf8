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

_lock = threading.Lock()


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


def initialise(config=None):
    """acl.init(), unless somebody did it. True when this call did it."""
    with _lock:
        acl = load()
        code = acl.init(config) if config else acl.init()
        if code == REPEAT_INITIALIZE:
            return False
        check("acl.init", code)
        return True
