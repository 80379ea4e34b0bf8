"""trace_view.json: the timeline of one run, a Chrome trace.

The processes MindSpore (Python: steps, calls), CPU OP (ops of the framework) and Scope Layer
(modules) are ours; CANN, Ascend Hardware and Overlap Analysis are those of msprof's timeline.
Flows: async_mindspore from a Python call to its op, async_npu from an op to each of its kernels,
and msprof's HostToDevice.
"""

import itertools
import json

from . import framework
from .profile_data import ns_of
from .scopes import scope_ranges
from .tables.kernel_details import full_name

FILE = "trace_view.json"
_PYTHON, _CPU_OP, _SCOPES = 1, 2, 3
_PROCESSES = {_PYTHON: "MindSpore", _CPU_OP: "CPU OP", _SCOPES: "Scope Layer"}
_STEP_THREAD = 0  #: steps have a track of their own


def write(data, path, pretty=False):
    events = _metadata(_PROCESSES)
    hardware = []
    for event in _events_of_msprof(data):
        hardware.append(event)
    tracks = {}  # (pid, tid) -> name
    if data.options.collects_cpu:
        events += _steps(data, tracks)
        events += _python_calls(data, tracks)
        events += _ranges(data, tracks)
        events += _scopes(data, tracks)
        events += _flows_to_kernels(data, hardware)
    for (pid, tid), name in sorted(tracks.items()):
        events.append(_meta("thread_name", pid, tid, {"name": name}))
        events.append(_meta("thread_sort_index", pid, tid, {"sort_index": tid}))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(events + hardware, file, indent=2 if pretty else None)
    return True


def _events_of_msprof(data):
    for path in data.exported("msprof_[0-9s]*.json"):
        with open(path, encoding="utf-8") as file:
            for event in json.load(file):
                if event["ph"] == "M" or data.is_chosen(_ns(event["ts"])):
                    yield event


def _steps(data, tracks):
    for step in data.steps:
        tracks[_PYTHON, _STEP_THREAD] = "Steps"
        yield _slice(
            f"{framework.STEP_NAME}{step.number}",
            _PYTHON,
            _STEP_THREAD,
            step.begin_ns,
            step.end_ns,
            {},
        )


def _python_calls(data, tracks):
    for thread, name, begin_ns, end_ns in data.calls:
        tracks[_PYTHON, thread] = f"Thread {thread}"
        yield _slice(name, _PYTHON, thread, begin_ns, end_ns, {})


def _ranges(data, tracks):
    """Ops, what moves data, and the calls around them, with an arrow from call to op."""
    calls = {}  # thread -> the last call that began
    arrows = itertools.count()
    for each in sorted(data.ranges, key=lambda r: (r.begin_ns, -r.end_ns)):
        pid = _PYTHON if each.kind == "call" else _CPU_OP
        tracks[pid, each.thread] = f"Thread {each.thread}"
        arguments = dict(each.arguments)
        if each.stack:
            arguments["Call stack"] = ";\n".join(each.stack)
        yield _slice(each.name, pid, each.thread, each.begin_ns, each.end_ns, arguments)
        if each.kind == "call":
            calls[each.thread] = each
            continue
        call = calls.get(each.thread)
        if each.kind == "op" and call is not None and each.end_ns <= call.end_ns:
            number = next(arrows)
            yield _flow("s", "async_mindspore", number, _PYTHON, call.thread, call.begin_ns)
            yield _flow("f", "async_mindspore", number, _CPU_OP, each.thread, each.begin_ns)


def _scopes(data, tracks):
    by_thread = {}
    for task in data.tasks:
        by_thread.setdefault(task.thread or 0, []).append((task.name, task.begin_ns, task.end_ns))
    for kernels in by_thread.values():
        for depth, scope, begin_ns, end_ns in scope_ranges(kernels):
            tracks[_SCOPES, depth] = f"Depth {depth}"
            yield _slice(scope, _SCOPES, depth, begin_ns, end_ns, {})


def _flows_to_kernels(data, hardware):
    """From ops to the slices of their kernels, which msprof's timeline has at the same moment."""
    process = {
        event["pid"]
        for event in hardware
        if event["ph"] == "M" and event["args"].get("name") == "Ascend Hardware"
    }
    slices = {
        (_ns(event["ts"]), event["tid"]): event
        for event in hardware
        if event["ph"] == "X" and event["pid"] in process
    }
    for number, task in enumerate(data.tasks):
        target = slices.get((task.begin_ns, task.stream))
        if task.op is None or target is None:
            continue
        target["args"]["Framework Op"] = full_name(task)
        yield _flow("s", "async_npu", number, _CPU_OP, task.op.thread, task.op.begin_ns)
        yield _flow("f", "async_npu", number, target["pid"], target["tid"], task.begin_ns)


def _metadata(processes):
    events = []
    for pid, name in processes.items():
        events.append(_meta("process_name", pid, 0, {"name": name}))
        events.append(_meta("process_labels", pid, 0, {"labels": "CPU"}))
        events.append(_meta("process_sort_index", pid, 0, {"sort_index": pid}))
    return events


def _meta(name, pid, tid, arguments):
    return {"ph": "M", "name": name, "pid": pid, "tid": tid, "args": arguments}


def _slice(name, pid, tid, begin_ns, end_ns, arguments):
    return {
        "ph": "X",
        "name": name,
        "pid": pid,
        "tid": tid,
        "ts": begin_ns / 1000,
        "dur": (end_ns - begin_ns) / 1000,
        "args": arguments,
    }


def _flow(phase, category, number, pid, tid, ns):
    event = {
        "ph": phase,
        "name": category,
        "cat": category,
        "id": number,
        "pid": pid,
        "tid": tid,
        "ts": ns / 1000,
    }
    if phase == "f":
        event["bp"] = "e"
    return event


def _ns(ts):
    """Of msprof's timeline: microseconds, a number or a text."""
    return ns_of(ts) if isinstance(ts, str) else round(ts * 1000)
