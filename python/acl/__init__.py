"""pyACL: the AscendCL-style C API of libascendcl in Python, with pyACL's own return conventions.

    ret = acl.init()
    model_id, ret = acl.mdl.load_from_file("model.om")
    ret = acl.mdl.execute(model_id, inputs, outputs)

Calls with one result return the error code, calls with out parameters return these and then the code, and calls that make
something return its handle, 0 on failure. acl.get_recent_err_msg() says what the calling thread's last failed call met.
"""
import sys

from acl import _acl
from acl._acl import *  # noqa: F401,F403
from acl._threads import start_thread, stop_thread

for _name, _value in vars(_acl).items():
    if type(_value) is type(sys):  # rt, mdl, util: importable by name, too
        _value.__name__ = f"acl.{_name}"
        sys.modules[_value.__name__] = _value

util.start_thread = start_thread  # noqa: F405
util.stop_thread = stop_thread  # noqa: F405
