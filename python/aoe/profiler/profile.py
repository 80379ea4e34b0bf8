"""profile: the newer form of Profiler, with _ExperimentalConfig for what is rarely set."""

from .enums import AicoreMetrics, ExportType, ProfilerLevel
from .log import logger
from .profiler import Profiler


class _ExperimentalConfig:
    """Arguments of a profile that go by the names of Profiler's."""

    def __init__(
        self,
        profiler_level=ProfilerLevel.Level0,
        aic_metrics=AicoreMetrics.AiCoreNone,
        l2_cache=False,
        mstx=False,
        data_simplification=True,
        export_type=None,
        mstx_domain_include=None,
        mstx_domain_exclude=None,
        sys_io=False,
        sys_interconnection=False,
        host_sys=None,
    ):
        self.arguments = {
            "profiler_level": profiler_level,
            "aic_metrics": aic_metrics,
            "l2_cache": l2_cache,
            "mstx": mstx,
            "data_simplification": data_simplification,
            "export_type": [ExportType.Text] if export_type is None else export_type,
            "mstx_domain_include": mstx_domain_include or [],
            "mstx_domain_exclude": mstx_domain_exclude or [],
            "sys_io": sys_io,
            "sys_interconnection": sys_interconnection,
            "host_sys": host_sys or [],
        }


class profile(Profiler):
    """As Profiler, whose arguments these are; where runs go is said by
    on_trace_ready=tensorboard_trace_handler(dir_name)."""

    def __init__(self, *, experimental_config=None, **arguments):
        if experimental_config is not None:
            if isinstance(experimental_config, _ExperimentalConfig):
                arguments = {**experimental_config.arguments, **arguments}
            else:
                logger.warning(
                    "experimental_config must be an _ExperimentalConfig, not %r; the default is"
                    " taken",
                    experimental_config,
                )
        super().__init__(**arguments)
