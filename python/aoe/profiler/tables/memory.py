"""What the three tables of memory share: rows of NPU_OP_MEM."""

STREAM = "N/A"  #: memory of this runtime belongs to no stream
DEVICE = "NPU:0"
_TEXT = "(SELECT value FROM STRING_IDS WHERE id = {})"


def applies(options):
    return options.profile_memory


def totals(data):
    """(component, ns, bytes allocated, bytes reserved) after each allocation and release."""
    offset = data.monotonic_to_unix_ns()
    rows = data.query(
        f"SELECT {_TEXT.format('component')}, timestampNs, totalAllocate, totalReserve"
        " FROM NPU_OP_MEM ORDER BY timestampNs, rowid"
    )
    for component, unix_ns, allocated, reserved in rows:
        if data.is_chosen(unix_ns - offset):
            yield component, unix_ns - offset, allocated, reserved


def blocks(data):
    """(name, bytes, (ns, allocated, reserved) at allocation, the same at release or None)."""
    offset = data.monotonic_to_unix_ns()
    rows = data.query(
        f"SELECT {_TEXT.format('a.operatorName')}, a.size, a.timestampNs, a.totalAllocate,"
        " a.totalReserve, r.timestampNs, r.totalAllocate, r.totalReserve FROM NPU_OP_MEM a"
        " LEFT JOIN NPU_OP_MEM r ON r.type = 1 AND r.allocationNs = a.allocationNs"
        " AND r.operatorName = a.operatorName AND r.size = -a.size"
        " WHERE a.type = 0 ORDER BY a.timestampNs, a.rowid"
    )
    for name, size, begin, allocated, reserved, end, end_allocated, end_reserved in rows:
        if not data.is_chosen(begin - offset):
            continue
        released = None if end is None else (end - offset, end_allocated, end_reserved)
        yield name, size, (begin - offset, allocated, reserved), released


def kilobytes(count):
    return f"{count / 1024:.3f}"


def megabytes(count):
    return f"{count / (1024 * 1024):.3f}"
