"""A run that tunes while something around it changes: the time of day jumps, a disk is full, a file system turns read-only, the process is
killed and another goes on with --reload. Exit codes are the documented ones, the bank is sound, nothing is half-written.

surroundings_test.py BIN_DIR SHIFT_CLOCK_LIBRARY [ROUNDS] [SEED]"""
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

from tuning_run import HANG_S, TuningRun

# By trials, not by time: on a busy machine a search of seconds may end before its first commit.
# Twice what the tasks need: a killed run loses some trials, which were seen to be missing for the last task.
FLAGS = ["--trials=80", "--search_limit=3600"]
BANK_FAILED, OUTPUT_FAILED = 5, 6
IN_NAMESPACE = "AOE_SURROUNDINGS_NAMESPACE"


def wait_for(holds, run):
    """False where the run ended first."""
    end = time.monotonic() + HANG_S
    while not holds() and time.monotonic() < end:
        if run.poll() is not None:
            return False
        time.sleep(0.05)
    return True


def mount(directory, *options):
    subprocess.run(["mount", *options, directory], check=True)


class Mounted:
    """A memory file system in place of a directory."""

    def __init__(self, directory):
        self.directory = directory

    def __enter__(self):
        mount(self.directory, "-t", "tmpfs", "-o", "size=8m", "none")
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "--lazy", self.directory], check=True)

    def fill(self, run):
        # Until the run ends: what it removes makes room again.
        with open(self.directory / "filler", "wb", buffering=0) as file:
            while run.poll() is None:
                try:
                    while file.write(bytes(4096)):
                        pass
                except OSError:
                    time.sleep(0.02)

    def turn_read_only(self, _):
        # Refused while a file is open for writing, which a commit has for moments.
        end = time.monotonic() + HANG_S
        while subprocess.run(["mount", "-o", "remount,ro", self.directory], stderr=subprocess.DEVNULL, check=False).returncode:
            if time.monotonic() > end:
                raise TimeoutError("the file system does not turn read-only")
            time.sleep(0.01)


def runs(tuning, om):
    return tuning.call("aoe_run", f"--model={om}", "--repeat=1").returncode == 0


def clock_jumps(tuning, library):
    shifted = {"LD_PRELOAD": str(library), "AOE_CLOCK_PERIOD_MS": "300"}
    days = subprocess.run([sys.executable, "-c", "import time\nfor _ in range(9): print(int(time.time()) // 86400); time.sleep(0.1)"],
                          env=os.environ | shifted, capture_output=True, text=True, check=True).stdout.split()
    if len(set(days)) < 2:
        tuning.failures.append("the clock does not jump: this test says nothing")
    om = tuning.work / "clock"
    tuning.finish(tuning.start(*FLAGS, f"--output={om}", **shifted), "clock", {0})
    tuning.check_files("clock")
    if not tuning.has_commit() or not runs(tuning, f"{om}.om"):
        tuning.failures.append("clock: no bank, or an om that does not run")


def bank_fails(tuning, where, spoil):
    """In mid-run; whatever the run won is then in a file beside the result, which a bank that works takes by the command that the run
    names, wherever aoe_bank would choose other threads, too."""
    with Mounted(tuning.bank) as mounted:
        om = tuning.work / "kept"
        run = tuning.start(*FLAGS, f"--output={om}")
        if not wait_for(tuning.has_commit, run):
            tuning.failures.append(f"{where}: the run ended before its first commit")
        spoil(mounted, run)
        said = tuning.finish(run, where, {BANK_FAILED})
        tuning.check_files(where)
    kept = list(tuning.results.glob("aoe_result_*_op_bank.zst"))
    named = re.search(r"aoe_bank (import .*)", said or "")
    import_it = ["OMP_NUM_THREADS=1", tuning.binaries / "aoe_bank", *named[1].split()] if named else ["false"]
    if len(kept) != 1 or str(kept[0]) not in import_it or tuning.call("/usr/bin/env", *import_it).returncode != 0:
        tuning.failures.append(f"{where}: what was won is not kept: {kept}; {said}")
    if not runs(tuning, f"{om}.om"):
        tuning.failures.append(f"{where}: the om does not run")


def results_fail(tuning, where, spoil):
    with Mounted(tuning.results) as mounted:
        om = tuning.work / "not_there.om"
        run = tuning.start(*FLAGS, f"--output={om.with_suffix('')}")
        if not wait_for(tuning.has_commit, run):
            tuning.failures.append(f"{where}: the run ended before its first commit")
        spoil(mounted, run)
        tuning.finish(run, where, {OUTPUT_FAILED})
        tuning.check_files(where)
        for each in [*tuning.results.rglob("*_tune.om"), *([om] if om.exists() else [])]:
            if not runs(tuning, each):
                tuning.failures.append(f"{where}: {each.name} is half-written")


def tasks_with_records(tuning):
    exported = tuning.work / "exported"
    tuning.call("aoe_bank", "export", str(exported))
    text = subprocess.run(["zstd", "-dc", exported], capture_output=True, text=True, check=True).stdout
    exported.unlink()
    # Of tasks: the record of a whole model, which an ambiguous run has not, names no Impl.
    return {line.split('"task":"')[1].split('"')[0] for line in text.splitlines()
            if line.startswith('{"record"') and '"impl":""' not in line}


def reload_goes_on(tuning, chance, wanted):
    """Killed while it searches, then continued: records for the tasks that an uninterrupted run has, and an om of the same results."""
    run = tuning.start(*FLAGS)
    if not wait_for(tuning.has_commit, run):
        tuning.failures.append("reload: the run ended before its first commit")
    time.sleep(chance.uniform(0, 1))
    run.send_signal(signal.SIGKILL)
    tuning.finish(run, "reload", {-signal.SIGKILL})
    om = tuning.work / "reloaded"
    tuning.finish(tuning.start(*FLAGS, "--reload", f"--output={om}"), "reload", {0})
    tuning.check_files("reload")
    found = tasks_with_records(tuning)
    if found != wanted:
        tuning.failures.append(f"reload: {len(found)} tasks with records; an uninterrupted run has {len(wanted)}")
    compared = tuning.call("aoe_run", f"--model={om}.om", "--repeat=1", f"--reference={tuning.work / 'expected'}")
    if compared.returncode != 0:
        tuning.failures.append(f"reload: {compared.stderr.strip()}")


def uninterrupted(tuning):
    """The tasks of a whole run; the results of an om that was never tuned stand in `expected`."""
    plain = tuning.work / "plain"
    tuning.call("atc", "--framework=5", f"--model={tuning.model}", f"--output={plain}")
    tuning.call("aoe_run", f"--model={plain}.om", "--repeat=1", f"--output-dir={tuning.work / 'expected'}")
    tuning.finish(tuning.start(*FLAGS), "uninterrupted", {0})
    return tasks_with_records(tuning)


def may_mount():
    with tempfile.TemporaryDirectory() as directory:
        return subprocess.run(["unshare", "--mount", "--map-root-user", "mount", "-t", "tmpfs", "none", directory],
                              capture_output=True, check=False).returncode == 0


def main():
    mounts = os.environ.get(IN_NAMESPACE) == "1"
    if not mounts and may_mount():
        # Mounts of its own, which end with it.
        os.environ[IN_NAMESPACE] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--map-root-user", sys.executable, *sys.argv])
    binaries, library = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.SystemRandom().randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as work:
        tuning = TuningRun(binaries, pathlib.Path(work), "squeezenet")
        wanted = uninterrupted(tuning)
        steps = [lambda: clock_jumps(tuning, library), lambda: reload_goes_on(tuning, chance, wanted)]
        if mounts:
            steps += [lambda: bank_fails(tuning, "full bank", Mounted.fill),
                      lambda: bank_fails(tuning, "read-only bank", Mounted.turn_read_only),
                      lambda: results_fail(tuning, "full work directory", Mounted.fill)]
        else:
            print("SKIPPED: full disks and read-only file systems: no mount namespace is to be had here")
        for step in steps * rounds:
            tuning.start_over()
            begin = time.monotonic()
            step()
            print(f"{time.monotonic() - begin:.1f} s", flush=True)
    for failure in tuning.failures:
        print("FAIL:", failure)
    sys.exit(1 if tuning.failures else 0)


if __name__ == "__main__":
    main()
