"""step_trace_time.csv: what each step spent its time on.

One device communicates with none, so that these columns are 0, and Stage is all of the span from a
step's first kernel to the end of its last. Preparing is the time before that first kernel.
"""

from ..enums import ProfilerLevel
from ..intervals import union_length
from ..profile_data import us_of
from .csv_file import write_csv

FILE = "step_trace_time.csv"
COLUMNS = (
    "Step", "Computing", "Communication(Not Overlapped)", "Overlapped", "Communication", "Free",
    "Stage", "Bubble", "Communication(Not Overlapped and Exclude Receive)", "Preparing",
)  # fmt: skip


def applies(options):
    return options.collects_npu and options.profiler_level is not ProfilerLevel.LevelNone


def write(data, path):
    return write_csv(path, COLUMNS, _rows(data))


def _rows(data):
    if not data.all_steps:
        yield from _row("", data.info["start_ns"], [(t.begin_ns, t.end_ns) for t in data.tasks])
        return
    spans = {step.number: [] for step in data.steps}
    for task in data.tasks:
        step = data.step_at(task.begin_ns)
        if step is not None:
            spans[step.number].append((task.begin_ns, task.end_ns))
    for step in data.steps:
        yield from _row(step.number, step.begin_ns, spans[step.number])


def _row(name, begin_ns, spans):
    if not spans:
        return
    first = min(begin for begin, _ in spans)
    stage = max(end for _, end in spans) - first
    computing = union_length(spans)
    communication = us_of(0)
    yield (
        name,
        us_of(computing),
        communication,
        communication,
        communication,
        us_of(stage - computing),
        us_of(stage),
        us_of(0),
        communication,
        us_of(first - begin_ns),
    )
