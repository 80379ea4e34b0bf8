#!/usr/bin/env python3
"""Subscribes to the ops of an om while it runs: subscribe.py MODEL.om [RUNS]

A thread reads the records from a pipe; at the end stands a line for each op: how often it ran, and its mean time.
"""
import os
import sys

import acl
from om import Om, check

RECORDS_A_READ = 10


class Times:
    """Microseconds by (op name, op type), in the order of their coming."""

    def __init__(self):
        self.of_op = {}

    def read_pipe(self, args_list):
        """Until the runtime closes the pipe's other end."""
        pipe, context = args_list
        check("acl.rt.set_context", acl.rt.set_context(context))
        record_size, ret = acl.prof.get_op_desc_size()
        check("acl.prof.get_op_desc_size", ret)
        rest = b""
        while True:
            read = os.read(pipe, record_size * RECORDS_A_READ)
            if not read:
                return
            rest += read
            whole = len(rest) // record_size * record_size  # a read may end within a record
            self.add_records(rest[:whole])
            rest = rest[whole:]

    def add_records(self, data):
        if not data:
            return
        records, size = acl.util.bytes_to_ptr(data), len(data)
        count, ret = acl.prof.get_op_num(records, size)
        check("acl.prof.get_op_num", ret)
        for index in range(count):
            name, ret = acl.prof.get_op_name_v2(records, size, index)
            check("acl.prof.get_op_name_v2", ret)
            op_type, ret = acl.prof.get_op_type_v2(records, size, index)
            check("acl.prof.get_op_type_v2", ret)
            duration = acl.prof.get_op_duration(records, size, index)
            self.of_op.setdefault((name, op_type), []).append(duration)

    def print(self):
        print(f"{'op':40} {'type':24} {'runs':>6} {'mean us':>9}")
        for (name, op_type), times in self.of_op.items():
            print(f"{name:40} {op_type:24} {len(times):6} {sum(times) / len(times):9.1f}")


def main(om_path, runs=10):
    check("acl.init", acl.init())
    check("acl.rt.set_device", acl.rt.set_device(0))
    context, ret = acl.rt.get_context()
    check("acl.rt.get_context", ret)
    om = Om(om_path)
    om.set_random_inputs()

    read_end, write_end = os.pipe()
    config = acl.prof.create_subscribe_config(1, acl.ACL_AICORE_NONE, write_end)
    if config == 0:
        raise SystemExit(f"acl.prof.create_subscribe_config: {acl.get_recent_err_msg()}")
    check("acl.prof.model_subscribe", acl.prof.model_subscribe(om.id, config))
    times = Times()
    thread, ret = acl.util.start_thread(times.read_pipe, [read_end, context])
    check("acl.util.start_thread", ret)

    for _ in range(runs):
        om.execute()

    check("acl.prof.model_un_subscribe", acl.prof.model_un_subscribe(om.id))  # closes write_end
    check("acl.util.stop_thread", acl.util.stop_thread(thread))
    os.close(read_end)
    check("acl.prof.destroy_subscribe_config", acl.prof.destroy_subscribe_config(config))
    times.print()
    om.unload()
    check("acl.rt.reset_device", acl.rt.reset_device(0))
    check("acl.finalize", acl.finalize())


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
