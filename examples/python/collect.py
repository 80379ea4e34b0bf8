#!/usr/bin/env python3
"""Profiles an om to files: collect.py MODEL.om DIRECTORY [RUNS]

Writes DIRECTORY/PROF_*, which `msprof --export=on --output=DIRECTORY` makes timelines and summaries of. Each run is a step.
"""
import sys

import acl
from om import Om, check

DEVICES = [0]
METRICS = acl.ACL_AICORE_PIPE_UTILIZATION
NO_EVENTS = 0
DATA = acl.ACL_PROF_ACL_API | acl.ACL_PROF_TASK_TIME | acl.ACL_PROF_AICORE_METRICS | acl.ACL_PROF_MSPROFTX


def main(om_path, directory, runs=10):
    check("acl.init", acl.init())
    check("acl.prof.init", acl.prof.init(directory))
    check("acl.rt.set_device", acl.rt.set_device(0))
    stream, ret = acl.rt.create_stream()
    check("acl.rt.create_stream", ret)
    config = acl.prof.create_config(DEVICES, METRICS, NO_EVENTS, DATA)
    if config == 0:
        raise SystemExit(f"acl.prof.create_config: {acl.get_recent_err_msg()}")
    check("acl.prof.start", acl.prof.start(config))

    om = Om(om_path)
    om.set_random_inputs()
    for number in range(runs):
        profiled_run(om, number, stream)
    om.unload()

    check("acl.prof.stop", acl.prof.stop(config))
    check("acl.prof.destroy_config", acl.prof.destroy_config(config))
    check("acl.prof.finalize", acl.prof.finalize())
    check("acl.rt.destroy_stream", acl.rt.destroy_stream(stream))
    check("acl.rt.reset_device", acl.rt.reset_device(0))
    check("acl.finalize", acl.finalize())


def profiled_run(om, number, stream):
    """An execution as a step, with a range of its own in the timeline."""
    step = acl.prof.create_step_info()
    stamp = acl.prof.create_stamp()
    message = f"run {number}"
    check("acl.prof.set_stamp_trace_message", acl.prof.set_stamp_trace_message(stamp, message, len(message)))
    check("acl.prof.get_step_timestamp", acl.prof.get_step_timestamp(step, acl.ACL_STEP_START, stream))
    check("acl.prof.push", acl.prof.push(stamp))
    om.execute()
    check("acl.prof.pop", acl.prof.pop())
    check("acl.prof.get_step_timestamp", acl.prof.get_step_timestamp(step, acl.ACL_STEP_END, stream))
    acl.prof.destroy_stamp(stamp)
    acl.prof.destroy_step_info(step)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
