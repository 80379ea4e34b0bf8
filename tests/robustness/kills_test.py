"""Ends at random moments: signals to a run that tunes, and to its workers. The bank stays sound, result files whole, a run that is told to
end says so by its exit code, and one whose workers die or hang goes on without them.

kills_test.py BIN_DIR [MOMENTS] [SEED]"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

TO_THE_RUN = [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
TO_A_WORKER = [signal.SIGKILL, signal.SIGSTOP]
LONGEST_WAIT_S = 6
HANG_S = 300


def workers_of(run):
    """The measuring processes that descend from this one."""
    parents, found = {run.pid}, []
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


class Kills:
    def __init__(self, binaries, work):
        self.binaries, self.work = binaries, work
        self.model = work / "m.onnx"
        (work / "bank").mkdir()
        self.environment = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
        self.environment |= {"HOME": str(work), "TUNE_BANK_PATH": str(work / "bank"), "ASCEND_WORK_PATH": str(work / "w"),
                             "OMP_NUM_THREADS": "2"}
        (work / "w").mkdir()
        self.call("make_model", "mlp-training", "--small", f"--output={self.model}")
        self.failures, self.has_commit = [], False

    def call(self, program, *arguments):
        return subprocess.run([self.binaries / program, *arguments], env=self.environment, capture_output=True, text=True,
                              timeout=HANG_S, check=False)

    def moment(self, chance):
        hits_worker = chance.random() < 0.3
        number = chance.choice(TO_A_WORKER if hits_worker else TO_THE_RUN)
        wait_s = chance.uniform(0, LONGEST_WAIT_S)
        where = f"{'a worker' if hits_worker else 'aoe'}: {signal.Signals(number).name} after {wait_s:.2f} s"
        # A shell's background jobs ignore SIGINT, and so would what they start.
        run = subprocess.Popen([self.binaries / "aoe", "--framework=5", f"--model={self.model}", "--job_type=2",
                                "--preset=quick", "--trials=4", "--search_limit=8", "--progress_bar=off"],
                               env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        time.sleep(wait_s)
        workers = workers_of(run)
        targets = workers[:1] if hits_worker else [run.pid]
        for target in targets:
            try:
                os.kill(target, number)
            except ProcessLookupError:
                pass
        try:
            _, said = run.communicate(timeout=HANG_S)
        except subprocess.TimeoutExpired:
            run.kill()
            run.communicate()
            self.failures.append(f"{where}: the run hangs")
            return
        finally:
            for worker in workers:
                try:
                    os.kill(worker, signal.SIGCONT)
                except ProcessLookupError:
                    pass
        allowed = {0, 1} if hits_worker else {0, 130, -number}
        if run.returncode not in allowed:
            self.failures.append(f"{where}: ended with {run.returncode}: {said.strip()[-300:]}")
        self.check_files(where)

    def check_files(self, where):
        for result in (self.work / "w").rglob("aoe_result_*.json"):
            try:
                json.loads(result.read_text())
            except ValueError as error:
                self.failures.append(f"{where}: {result.name} is no JSON: {error}")
            result.unlink()
        if not any((self.work / "bank").iterdir()):
            return
        verified = self.call("aoe_bank", "verify")
        is_before_first_commit = not self.has_commit and "there is no bank;" in verified.stderr
        self.has_commit = self.has_commit or verified.returncode == 0
        if verified.returncode != 0 and not is_before_first_commit:
            self.failures.append(f"{where}: the bank is not sound: {(verified.stdout + verified.stderr).strip()[-300:]}")


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    moments = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as work:
        kills = Kills(binaries, pathlib.Path(work))
        for _ in range(moments):
            kills.moment(chance)
    for failure in kills.failures:
        print("FAIL:", failure)
    print(f"{moments} moments")
    sys.exit(1 if kills.failures else 0)


main()
