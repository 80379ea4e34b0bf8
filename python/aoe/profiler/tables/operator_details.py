"""operator_details.csv: every op of the framework, with the time of the kernels it launched."""

from ..profile_data import us_of
from .csv_file import write_csv

FILE = "operator_details.csv"
COLUMNS = (
    "Name", "Input Shapes", "Call Stack", "Host Self Duration(us)", "Host Total Duration(us)",
    "Device Self Duration(us)", "Device Total Duration(us)",
    "Device Self Duration With AICore(us)", "Device Total Duration With AICore(us)",
)  # fmt: skip


def applies(options):
    return options.record_shapes


def write(data, path):
    return write_csv(path, COLUMNS, (_row(node) for node in _nodes(data)))


class _Node:
    """An op with ns of its own kernels, and of those of the ops inside it."""

    def __init__(self, op):
        self.op = op
        self.host_ns = op.end_ns - op.begin_ns
        self.children_ns = 0
        self.own = [0, 0]  # on all cores, on AI_CORE
        self.total = [0, 0]


def _nodes(data):
    ops = [each for each in data.ranges if each.kind != "dataset"]
    nodes = [_Node(op) for op in sorted(ops, key=lambda op: (op.begin_ns, -op.end_ns))]
    by_op = {id(node.op): node for node in nodes}
    for task in data.tasks:
        node = by_op.get(id(task.op))
        if node is not None:
            duration = task.end_ns - task.begin_ns
            node.own[0] += duration
            node.own[1] += duration if task["Task Type"] == "AI_CORE" else 0
    around = {}  # thread -> the nodes that are open, outermost first
    for node in nodes:
        stack = around.setdefault(node.op.thread, [])
        while stack and stack[-1].op.end_ns < node.op.end_ns:
            stack.pop()
        if stack:
            stack[-1].children_ns += node.host_ns
        stack.append(node)
        for outer in stack:
            outer.total = [total + own for total, own in zip(outer.total, node.own)]
    return nodes


def _row(node):
    return (
        node.op.name,
        node.op.arguments.get("Input Dims", ""),
        ";\n".join(node.op.stack),
        us_of(node.host_ns - node.children_ns),
        us_of(node.host_ns),
        us_of(node.own[0]),
        us_of(node.total[0]),
        us_of(node.own[1]),
        us_of(node.total[1]),
    )
