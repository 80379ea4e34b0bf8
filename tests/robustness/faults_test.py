"""Calls that fail: memory, what a disk does, and threads that are not to be had. Whatever call it is, a program ends with a documented exit code, says why on
one line, leaves a sound bank and no half-written result.

faults_test.py BIN_DIR LIBRARY [run|tune|threads] [POINTS]: POINTS of each kind of call, spread over all that a run without faults makes; 0: all of them.
threads: of other programs, threads alone."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

DOCUMENTED = {0, 1, 2, 3, 4, 5, 6, 7, 130}
CALLS = ["malloc", "write", "sync", "open", "rename", "mmap", "thread"]
# Smaller blocks are hardly ever refused, and libraries of others take them for granted: JSON allocates where it frees.
LEAST_BYTES = {"run": 1 << 14, "tune": 1 << 16}
THREADS = ["streams", "compile", "compare", "quantize", "list", "make"]
HANG_S = 300


class Faults:
    def __init__(self, binaries, library, work):
        self.binaries, self.library, self.work = binaries, library, work
        self.model, self.om = work / "m.onnx", work / "m.om"
        (work / "bank").mkdir()
        self.tries, self.failed = 0, False
        self.plain("make_model", "mlp-training", "--small", f"--output={self.model}")
        self.plain("make_model", "squeezenet", "--small", "--image=32", f"--output={work / 'image.onnx'}")
        self.plain("atc", "--framework=5", f"--model={self.model}", f"--output={work / 'm'}")

    def fail(self, failure):
        """Said at once: whoever ends a run of hours early has what it found until then."""
        self.failed = True
        print("FAIL:", failure, flush=True)

    def environment(self, home):
        keep = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
        return {**keep, "HOME": str(home), "TUNE_BANK_PATH": str(home / "bank"), "ASCEND_WORK_PATH": str(home),
                "OMP_NUM_THREADS": "2"}

    def plain(self, program, *arguments):
        subprocess.run([self.binaries / program, *arguments], check=True, capture_output=True,
                       env=self.environment(self.work), timeout=HANG_S)

    def command(self, what, home):
        if what == "run":
            return "aoe_run", [f"--model={self.om}", "--repeat=2", f"--output-dir={home / 'out'}"]
        if what in THREADS:
            return self.other_command(what, home)
        return "aoe", ["--framework=5", f"--model={self.model}", "--job_type=2", "--preset=quick", "--trials=2",
                       "--search_limit=3", "--progress_bar=off", f"--output={home / 'tuned'}"]

    def other_command(self, what, home):
        return {"streams": ("aoe_run", [f"--model={self.om}", "--repeat=2", "--streams=3"]),
                "compile": ("atc", ["--framework=5", f"--model={self.model}", f"--output={home / 'compiled'}"]),
                "compare": ("aoe_compare", [f"a={self.om},{self.om}", "--loads=1", "--rounds=1", "--seconds=0.01"]),
                "quantize": ("aoe_quantize", [f"--model={self.work / 'image.onnx'}", "--random=2", f"--output={home / 'q.onnx'}"]),
                "list": ("aoe_bank", ["list"]),
                "make": ("make_model", ["squeezenet", "--small", f"--output={home / 'm.onnx'}"])}[what]

    def once(self, what, call, at, goes_on):
        """Runs with that call failing; the number of such calls and the end of the process."""
        home = pathlib.Path(tempfile.mkdtemp(dir=self.work))
        (home / "bank").mkdir()
        program, arguments = self.command(what, home)
        count = home / "count"
        environment = {**self.environment(home), "LD_PRELOAD": str(self.library), "AOE_FAIL_PROGRAM": program,
                       "AOE_FAIL_CALL": call, "AOE_FAIL_AT": str(at), "AOE_FAIL_ON": str(int(goes_on)),
                       "AOE_FAIL_BYTES": str(LEAST_BYTES.get(what, 0)), "AOE_FAIL_COUNT": str(count)}
        try:
            end = subprocess.run([self.binaries / program, *arguments], capture_output=True, text=True, env=environment,
                                 timeout=HANG_S, check=False)
            code, said = end.returncode, end.stderr
        except subprocess.TimeoutExpired:
            code, said = "a hang", ""
        self.tries += 1
        where = f"{what}: {call} {at}{' and on' if goes_on else ''}"
        if code not in DOCUMENTED:
            self.fail(f"{where}: ended with {code}: {said.strip()[-300:]}")
        self.check_files(where, home)
        calls = int(count.read_text()) if count.exists() and count.read_text() else 0
        shutil.rmtree(home)
        return code, calls

    def check_files(self, where, home):
        for result in home.rglob("aoe_result_*.json"):
            try:
                json.loads(result.read_text())
            except ValueError as error:
                self.fail(f"{where}: {result.name} is no JSON: {error}")
        if not any((home / "bank").iterdir()):
            return
        verified = subprocess.run([self.binaries / "aoe_bank", "verify"], capture_output=True, text=True,
                                  env=self.environment(home), timeout=HANG_S, check=False)
        if verified.returncode != 0 and "there is no bank;" not in verified.stderr:  # before the first commit
            self.fail(f"{where}: the bank is not sound: {(verified.stdout + verified.stderr).strip()[-300:]}")

    def sweep(self, what, points):
        for call in ["thread"] if what in THREADS else CALLS:
            code, calls = self.once(what, call, 0, False)
            if code != 0:
                self.fail(f"{what} without a fault ended with {code}")
                return
            wanted = range(1, calls + 1)
            if points and calls > points:
                wanted = sorted(random.Random(calls).sample(wanted, points))
            ends = {}
            for n, at in enumerate(wanted):
                code, _ = self.once(what, call, at, goes_on=n % 2 == 1)
                ends[code] = ends.get(code, 0) + 1
            print(f"{what}: {call}: {calls} calls, {len(list(wanted))} failed; exit codes "
                  + ", ".join(f"{code} ({n} times)" for code, n in sorted(ends.items(), key=str)), flush=True)


def main():
    binaries, library = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    whats = [sys.argv[3]] if len(sys.argv) > 3 and sys.argv[3] != "both" else ["run", "tune"]
    whats = THREADS if whats == ["threads"] else whats
    points = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    with tempfile.TemporaryDirectory() as work:
        faults = Faults(binaries, library, pathlib.Path(work))
        for what in whats:
            faults.sweep(what, points)
    print(f"{faults.tries} runs")
    sys.exit(1 if faults.failed else 0)


main()
