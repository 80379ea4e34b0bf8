"""Ends at random moments: signals to a run that tunes, and to its workers. The bank stays sound, result files whole, a run that is told to
end says so by its exit code, and one whose workers die or hang goes on without them.

kills_test.py BIN_DIR [MOMENTS] [SEED]"""
import os
import pathlib
import random
import signal
import sys
import tempfile
import time

from tuning_run import HANG_S, TuningRun, descendants_of

TO_THE_RUN = [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
TO_A_WORKER = [signal.SIGKILL, signal.SIGSTOP]
# What a run does when nobody ends it takes longer than that, also with a bank that knows all tasks that were finished before.
LONGEST_WAIT_S = 3
FLAGS = ["--trials=1000", "--search_limit=4"]
# A worker that was stopped is given up after these, a whole model in twenty times the first.
LIMITS = {"run_timeout_s": 0.5, "compile_timeout_s": 5}


def is_worker(pid):
    """A process that has been started and is not the other program yet holds up who starts it, until it goes on: vfork(). Nobody but this
    test would stop it there."""
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"aoe-worker\0")
    except OSError:
        return False


def workers_of(run):
    return [each for each in descendants_of(run.pid) if is_worker(each)]


def wait_for_workers(run):
    """On a busy machine the first comes late, and one that has ended is not followed by the next at once."""
    end = time.monotonic() + HANG_S
    while not (workers := workers_of(run)) and run.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    return workers


def send(process, number):
    try:
        os.kill(process, number)
        return True
    except ProcessLookupError:
        return False


def moment(tuning, chance):
    """Whether there was anything to hit."""
    hits_worker = chance.random() < 0.3
    number = chance.choice(TO_A_WORKER if hits_worker else TO_THE_RUN)
    wait_s = chance.uniform(0, LONGEST_WAIT_S)
    where = f"{'a worker' if hits_worker else 'aoe'}: {signal.Signals(number).name} after {wait_s:.2f} s"
    if chance.random() < 0.5:
        tuning.start_over()
    run = tuning.start(*FLAGS)
    if hits_worker:
        wait_for_workers(run)
    time.sleep(wait_s)
    workers = wait_for_workers(run) if hits_worker else workers_of(run)
    runs = run.poll() is None
    hits = [send(target, number) for target in (workers[:1] if hits_worker else [run.pid]) if runs]
    tuning.finish(run, where, {0, 1} if hits_worker else {0, 130, -number})
    for worker in workers:
        send(worker, signal.SIGCONT)
    tuning.check_files(where)
    return any(hits)


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    moments = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as work:
        tuning = TuningRun(binaries, pathlib.Path(work), "resnet50", **LIMITS)
        hits, told = 0, 0
        for done in range(1, moments + 1):
            hits += moment(tuning, chance)
            # At once: whoever ends a run of hours early has what it found until then.
            for failure in tuning.failures[told:]:
                print("FAIL:", failure, flush=True)
            told = len(tuning.failures)
            if done % 20 == 0 or done == moments:
                print(f"{done} moments, {hits} of them hit", flush=True)
    if 2 * hits < moments:
        print("FAIL: most of the runs had ended, or had no worker, before their signal")
        sys.exit(1)
    sys.exit(1 if tuning.failures else 0)


if __name__ == "__main__":
    main()
