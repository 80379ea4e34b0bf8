"""kernel_details.csv: every kernel that ran, with its step."""

from ..enums import ProfilerLevel
from .csv_file import write_csv

FILE = "kernel_details.csv"
_RENAMED = {
    "Op Name": "Name",
    "OP Type": "Type",
    "Task Type": "Accelerator Core",
    "Task Start Time(us)": "Start Time(us)",
    "Task Duration(us)": "Duration(us)",
    "Task Wait Time(us)": "Wait Time(us)",
}
_DROPPED = ("Device_id", "Model Name", "Infer ID")
#: Above Level0.
_TENSORS = (
    "Input Shapes", "Input Data Types", "Input Formats",
    "Output Shapes", "Output Data Types", "Output Formats", "Context ID",
)  # fmt: skip


def applies(options):
    return options.collects_npu and options.profiler_level is not ProfilerLevel.LevelNone


def write(data, path):
    sources = [name for name in data.task_columns if name not in _DROPPED]
    if data.options.profiler_level is ProfilerLevel.Level0:
        sources = [name for name in sources if name not in _TENSORS]
    columns = [_RENAMED.get(name, name) for name in sources]
    has_steps = bool(data.all_steps)
    if has_steps:
        columns.insert(0, "Step ID")
    return write_csv(path, columns, _rows(data, sources, has_steps))


def _rows(data, sources, has_steps):
    for task in data.tasks:
        row = [full_name(task) if name == "Op Name" else task[name] for name in sources]
        if has_steps:
            step = data.step_at(task.begin_ns)
            row.insert(0, "" if step is None else step.number)
        yield row


def full_name(task):
    """<op of the framework>/<kernel> where the op is known."""
    return f"{task.op.name}/{task.name.lstrip('/')}" if task.op else task.name
