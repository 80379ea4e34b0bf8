"""Bank: what tuning has learned, through the program aoe_bank."""

import json
import os
import pathlib
import tempfile

from . import programs, results, typed_json
from .tables import Table

_JOB_TYPES = {"graph": 1, "op": 2}


class Bank:
    """
    root          as TUNE_BANK_PATH; None: where aoe looks
    kind          "op", "graph": of operators, of subgraphs
    soc_version   whose; "auto": this machine's
    directory     one bank's own directory, instead of all these

    Nothing is kept: every call reads what is there then.
    """

    def __init__(self, root=None, *, kind="op", soc_version="auto", directory=None):
        if kind not in _JOB_TYPES:
            raise ValueError(f"kind {kind!r}: a bank is of 'op' or 'graph'")
        self.kind = kind
        self._environment = dict(os.environ)
        if root is not None:
            self._environment["TUNE_BANK_PATH"] = os.fspath(root)
        self._flags = [f"--job_type={_JOB_TYPES[kind]}"]
        if directory is not None:
            self._flags.append(f"--bank={os.fspath(directory)}")
            if soc_version == "auto":
                soc_version = soc_of(directory) or "auto"
        self._flags.append(f"--soc_version={soc_version}")

    def list(self, *, all=False, records=False):
        """A BankTask for each task with a winner, confirmed or not; `all`: also where nothing beats
        the default; `records`: with every measurement."""
        switches = [flag for flag, is_on in (("--all", all), ("--records", records)) if is_on]
        return [
            typed_json.read(results.BankTask, each)
            for each in json.loads(self._run("list", "--json", *switches))
        ]

    def explain(self, repo_key):
        """The task with all that was measured: BankTask.why(), rivals(), convergence()."""
        said = self._run("show", str(repo_key), "--records", "--json")
        return typed_json.read(results.BankTask, json.loads(said))

    def merge(self, other):
        """Adds what another Bank, or a file that export() wrote, has: strategies where they are
        faster, measurements that are not here. What was added, in words."""
        if not isinstance(other, Bank):
            return self._run("import", os.fspath(other)).strip()
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "bank.zst"
            other.export(path)
            return self._run("import", str(path)).strip()

    def export(self, path):
        """All of it as one file."""
        self._run("export", os.fspath(path))

    def table(self):
        table = Table("op", "inputs", "format", "impl", ">time(us)", ">default(us)", "state")
        for task in self.list():
            for state, strategies in (("", task.strategies), ("unconfirmed", task.unconfirmed)):
                for each in strategies:
                    table.row(
                        task.op,
                        task.inputs,
                        each.format,
                        each.impl,
                        f"{each.measured.time_ns / 1e3:.2f}",
                        f"{each.measured.default_time_ns / 1e3:.2f}",
                        state,
                    )
        return table

    def __len__(self):
        return len(self.list())

    def __iter__(self):
        return iter(self.list())

    def __str__(self):
        return self.table().text()

    def _repr_html_(self):
        return self.table().html()

    def _run(self, *arguments):
        return programs.run("aoe_bank", *arguments, *self._flags, environment=self._environment)[0]


def soc_of(directory):
    """The soc_version that a bank's directory names; None: it is no bank."""
    try:
        return json.loads((pathlib.Path(directory) / "BANK").read_text(encoding="utf-8"))[
            "soc_version"
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return None
