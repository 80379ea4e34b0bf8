"""Tables that msprof has as they are: op_statistic.csv and others."""

import dataclasses
import shutil
import typing

from ..enums import AicoreMetrics, ProfilerLevel


@dataclasses.dataclass(frozen=True)
class _Exported:
    FILE: str
    name: str  #: of msprof's summary
    applies: typing.Callable

    def write(self, data, path):
        files = data.exported(f"{self.name}_[0-9s]*.csv")
        if not files:
            return False
        shutil.copyfile(files[0], path)
        with open(path, "ab") as all_slices:
            for more in files[1:]:
                with open(more, "rb") as file:
                    file.readline()  # the header
                    shutil.copyfileobj(file, all_slices)
        return True


def _above_level0(options):
    return options.profiler_level in (ProfilerLevel.Level1, ProfilerLevel.Level2)


def _is_level2(options):
    return options.profiler_level is ProfilerLevel.Level2


def _collects_kernels(options):
    return options.collects_npu and options.profiler_level is not ProfilerLevel.LevelNone


def _counts_cache(options):
    return options.aicore_metrics is AicoreMetrics.L2Cache


TABLES = (
    _Exported("op_statistic.csv", "op_statistic", _collects_kernels),
    _Exported("api_statistic.csv", "api_statistic", _above_level0),
    _Exported("data_preprocess.csv", "aicpu", _is_level2),
    _Exported("l2_cache.csv", "l2_cache", _counts_cache),
    _Exported("msprof_tx.csv", "msprof_tx", lambda options: options.mstx),
)
