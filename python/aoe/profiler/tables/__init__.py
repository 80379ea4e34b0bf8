"""The files of ASCEND_PROFILER_OUTPUT: one module each, which says when it applies and writes it.

A module has
    FILE                  the name of its file
    applies(options)      whether the arguments of the profiler ask for it
    write(data, path)     False, and no file, where there are no data
"""

from . import (
    dataset,
    exported,
    kernel_details,
    memory_record,
    npu_module_mem,
    operator_details,
    operator_memory,
    step_trace_time,
)

TEXT_TABLES = (
    kernel_details,
    step_trace_time,
    operator_memory,
    memory_record,
    npu_module_mem,
    operator_details,
    dataset,
    *exported.TABLES,
)
