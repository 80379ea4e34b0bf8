"""A small model tuned in a directory of its own, and what has to hold behind whatever ends the run."""
import json
import os
import pathlib
import shutil
import signal
import subprocess

HANG_S = 300
BRIEF = pathlib.Path(__file__).resolve().parent.parent / "brief_preset.json"


def descendants_of(pid):
    """The processes below this one, parents first."""
    parents, found = {pid}, []
    processes = [pathlib.Path(each) for each in pathlib.Path("/proc").glob("[0-9]*")]
    for process in sorted(processes, key=lambda each: int(each.name)):
        try:
            parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
        if parent in parents:
            parents.add(int(process.name))
            found.append(int(process.name))
    return found


def standing(pid):
    """Of a run that hangs: each of its processes with its command line, and where in the system each of its threads waits."""
    lines = []
    for each in [pid, *descendants_of(pid)]:
        process = pathlib.Path(f"/proc/{each}")
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200]
            threads = [(thread / "stat").read_text().rsplit(")", 1)[1].split()[0] + " " + (thread / "wchan").read_text()
                       for thread in sorted((process / "task").iterdir())]
        except OSError as error:
            command, threads = str(error), []
        lines.append(f"  {each}: {command}: {', '.join(threads)}")
    return "\n".join(lines)


class TuningRun:
    def __init__(self, binaries, work, model, **measure):
        """`measure`: fields of the preset that are other than in BRIEF."""
        self.binaries, self.work = binaries, work
        self.model, self.bank, self.results = work / "m.onnx", work / "bank", work / "w"
        self.bank.mkdir()
        self.results.mkdir()
        preset = json.loads(BRIEF.read_text())
        preset["measure"] |= measure
        (work / "preset.json").write_text(json.dumps(preset))
        self.flags = [f"--model={self.model}", "--framework=5", "--job_type=2", f"--preset={work / 'preset.json'}",
                      "--progress_bar=off"]
        self.environment = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
        self.environment |= {"HOME": str(work), "TUNE_BANK_PATH": str(self.bank), "ASCEND_WORK_PATH": str(self.results),
                             "OMP_NUM_THREADS": "2"}
        self.failures = []
        self.call("make_model", model, "--small", f"--output={self.model}")

    def call(self, program, *arguments):
        return subprocess.run([self.binaries / program, *arguments], env=self.environment, capture_output=True, text=True,
                              timeout=HANG_S, check=False)

    def start(self, *flags, **environment):
        # A shell's background jobs ignore SIGINT, and so would what they start.
        return subprocess.Popen([self.binaries / "aoe", *self.flags, *flags], env=self.environment | environment,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def finish(self, run, where, allowed):
        """What the run said, or None where it hangs; an exit code that is not allowed is a failure."""
        try:
            _, said = run.communicate(timeout=HANG_S)
        except subprocess.TimeoutExpired:
            self.give_up(run, where)
            return None
        if run.returncode not in allowed:
            self.failures.append(f"{where}: ended with {run.returncode}: {said.strip()[-300:]}")
        return said

    def give_up(self, run, where):
        """One that is stopped holds the other end of what the run says, and would for ever."""
        self.failures.append(f"{where}: the run hangs\n{standing(run.pid)}")
        for each in [*reversed(descendants_of(run.pid)), run.pid]:
            try:
                os.kill(each, signal.SIGKILL)
            except ProcessLookupError:
                pass
        run.communicate()

    def has_commit(self):
        return any(self.bank.glob("op/*/snapshot-*"))

    def check_files(self, where):
        for result in self.results.rglob("aoe_result_*.json"):
            try:
                json.loads(result.read_text())
            except ValueError as error:
                self.failures.append(f"{where}: {result.name} is no JSON: {error}")
        if not self.has_commit():
            return
        verified = self.call("aoe_bank", "verify")
        if verified.returncode != 0:
            self.failures.append(f"{where}: the bank is not sound: {(verified.stdout + verified.stderr).strip()[-300:]}")

    def start_over(self):
        for root in (self.bank, self.results):
            for each in root.iterdir():
                shutil.rmtree(each) if each.is_dir() else each.unlink()
