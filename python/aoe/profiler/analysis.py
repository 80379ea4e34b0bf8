"""analyse(): from the raw data of one run to its ASCEND_PROFILER_OUTPUT."""

import json
import shutil

from . import database, msprof_program, trace_view
from .directories import RunDirectory
from .enums import ExportType
from .log import logger
from .options import from_dict
from .profile_data import ProfileData
from .tables import TEXT_TABLES, exported

#: Of a PROF directory: what msprof exported, and what it made of the raw data before.
_EXPORTED = ("mindstudio_profiler_output", "msprof_*.db")
_IMPORTED = ("mindstudio_profiler_log", "device_*/sqlite", "host/sqlite", "all_file.complete")


def analyse(directory, *, pretty=False, step_list=None, simplify=False):
    """Writes the files that the arguments of the profiler asked for; those without data are left
    out. A former analysis is replaced, once the new one is whole. `simplify` then removes all but
    it and the raw data of the runtime."""
    run = RunDirectory(directory)
    if not run.info.is_file():
        raise RuntimeError(f"{run.path} is no directory of a profiler: it has no {run.info.name}")
    with open(run.info, encoding="utf-8") as file:
        options = from_dict(json.load(file)["arguments"])
    run.logs.mkdir(exist_ok=True)
    for prof in run.prof_directories():
        _remove(prof, _EXPORTED)
        msprof_program.export(prof, run.logs / "msprof.log")
    new = run.path / (run.output.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(mode=0o750)
    try:
        with ProfileData(run, options, step_list) as data:
            written = _write_all(data, new, pretty)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    shutil.rmtree(run.output, ignore_errors=True)
    new.rename(run.output)
    with open(run.logs / "analysis.log", "a", encoding="utf-8") as log:
        for name, is_written in written:
            log.write(f"{name}: {'written' if is_written else 'no data'}\n")
    if simplify:
        simplify_run(run)


def simplify_run(run):
    """Raw data of the runtime and the analysis stay."""
    shutil.rmtree(run.framework, ignore_errors=True)
    for prof in run.prof_directories():
        _remove(prof, _EXPORTED + _IMPORTED)


def _write_all(data, directory, pretty):
    options = data.options
    written = []
    if ExportType.Text in options.export_type:
        for table in TEXT_TABLES:
            if table.applies(options):
                is_written = table.write(data, directory / table.FILE)
                written.append((table.FILE, is_written))
        if data.has_chosen_steps:
            _say_what_is_of_all_steps(name for name, is_written in written if is_written)
        is_written = trace_view.write(data, directory / trace_view.FILE, pretty)
        written.append((trace_view.FILE, is_written))
    if ExportType.Db in options.export_type:
        written.append((database.FILE, database.write(data, directory / database.FILE)))
    return written


def _say_what_is_of_all_steps(names):
    """Sums that msprof made know no steps."""
    whole = sorted(set(names) & {table.FILE for table in exported.TABLES})
    if whole:
        logger.warning("step_list: %s are of all steps", ", ".join(whole))


def _remove(directory, patterns):
    for pattern in patterns:
        for path in directory.glob(pattern):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
