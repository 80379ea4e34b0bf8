"""What one processor cannot have: said once, when a program asks for it."""

from .log import warn_once

#: Argument -> why it does nothing here. docs/profiler_class.md lists the same.
REASONS = {
    "hbm_ddr": "a CPU has no memory of a device apart; host_sys=[HostSystem.MEM] samples the"
    " program's",
    "pcie": "there is no bus between host and device: they are one",
    "l2_cache": "a CPU counts caches by aicore_metrics=AicoreMetrics.L2Cache",
    "parallel_strategy": "there is one device",
    "data_process": "no pipeline of datasets runs in this runtime",
    "sync_enable": "it is of GPUs",
    "sys_io": "there are no network cards of a device",
    "sys_interconnection": "there is one device",
    "mstx_domain_include": "stamps of this runtime have no domains",
    "mstx_domain_exclude": "stamps of this runtime have no domains",
    "ProfilerActivity.GPU": "there is no GPU",
    "HostSystem.DISK": "it is not sampled",
    "HostSystem.NETWORK": "it is not sampled",
    "HostSystem.OSRT": "system calls are not traced",
}


def say(name):
    """Says once that `name` does nothing."""
    warn_once(("unavailable", name), "%s does nothing here: %s", name, REASONS[name])
