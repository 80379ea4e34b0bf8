"""Compiling and running in a memory cgroup that is too small for it, at several sizes: exit code 1 with one line that says how much is
missing, or success; nothing is killed, and no half an om stays behind. Leaves itself out (77) where no cgroup can be made and entered.

memory_limit_test.py BINARIES
"""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import onnx_writer as writer

SKIPPED = 77
MIB = 1 << 20
VERSIONS = {  # where they are mounted; the file of the limit
    pathlib.Path("/sys/fs/cgroup/memory"): "memory.limit_in_bytes",
    pathlib.Path("/sys/fs/cgroup"): "memory.max",
}


class Cgroup:
    """A group of its own, below the root: that of this process may not have children."""

    def __init__(self):
        self.directory = None
        for root, limit in VERSIONS.items():
            directory = root / f"aoe_memory_limit_{os.getpid()}"
            try:
                directory.mkdir()
            except OSError:
                continue
            self.directory, self.limit = directory, directory / limit
            if self.limit.exists() and self.can_be_entered():
                return
            directory.rmdir()
            self.directory = None

    def can_be_entered(self):
        try:
            return self.run(64 * MIB, ["true"]).returncode == 0
        except OSError:
            return False

    def run(self, limit_bytes, command):
        self.limit.write_text(str(limit_bytes))
        enter = f'echo $$ > {self.directory / "cgroup.procs"} && exec "$@"'
        return subprocess.run(["sh", "-c", enter, "sh", *map(str, command)], capture_output=True, text=True, timeout=600,
                              check=False)

    def remove(self):
        self.directory.rmdir()


def check(end, what, om):
    """What is wrong, if anything."""
    if end.returncode not in (0, 1):
        return f"{what}: ended with {end.returncode}: {end.stderr[-300:]}"
    if end.returncode == 0:
        return None
    lines = end.stderr.strip().splitlines()
    if len(lines) != 1 or "of memory" not in lines[0] or "are available" not in lines[0]:
        return f"{what}: does not say what is missing: {end.stderr[-300:]}"
    return f"{what}: left {om}" if om is not None and om.exists() else None


def write_open_convolution(model):
    """36 MiB of weights beside an image of open size: the kernel makes of them what it reads, in its first run, and keeps it."""
    channels = 1024
    weights = struct.pack("<64f", *(i / 64 for i in range(64))) * (channels * channels * 9 // 64)
    image = ["x", 1, channels, "height", "width"]
    writer.write(model, [writer.node("Conv", ["x", "w"], ["y"], "convolution", pads=[1, 1, 1, 1])],
                 [writer.value(*image)], [writer.value("y", *image[1:])],
                 [writer.raw_tensor("w", [channels, channels, 3, 3], weights, writer.FLOAT)])
    return image_file(model.with_suffix(".npy"), channels, 48)


def image_file(path, channels, side):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': (1, {channels}, {side}, {side}), }}".ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + bytes(channels * side * side * 4))
    return path


def main():
    binaries = pathlib.Path(sys.argv[1])
    group = Cgroup()
    if group.directory is None:
        print("no memory cgroup can be made and entered")
        sys.exit(SKIPPED)
    faults, codes = [], []
    with tempfile.TemporaryDirectory() as work:
        os.environ.update(HOME=work, CANN_KNOWLEDGE_BANK_PROCESS_NUM="0")
        model, om, spare = (pathlib.Path(work, name) for name in ("m.onnx", "m.om", "spare.om"))
        subprocess.run([binaries / "make_model", "gpt2", "--layers=1", "--sequence=8", f"--output={model}"], check=True,
                       capture_output=True)
        compile_to = [binaries / "atc", "--framework=5", f"--model={model}"]
        subprocess.run([*compile_to, f"--output={om.with_suffix('')}"], check=True, capture_output=True)
        open_model, open_om = pathlib.Path(work, "open.onnx"), pathlib.Path(work, "open.om")
        image = write_open_convolution(open_model)
        subprocess.run([binaries / "atc", "--framework=5", f"--model={open_model}", "--input_shape=x:1,1024,-1,-1",
                        f"--output={open_om.with_suffix('')}"],
                       check=True, capture_output=True)
        runs = [([*compile_to, f"--output={spare.with_suffix('')}"], model, spare, (0.5, 1.1, 1.2, 1.6, 2.1, 2.6, 4)),
                ([binaries / "aoe_run", f"--model={om}", "--repeat=1"], om, None, (0.5, 1, 1.5)),
                ([binaries / "aoe_run", f"--model={open_om}", f"--input=x={image}", "--repeat=1"], open_om, None,
                 (1.1, 2, 3, 5, 8))]
        for command, file, written, times in runs:
            for each in times:
                what = f"{command[0].name} with {each} times the file's size"
                end = group.run(int(file.stat().st_size * each), command)
                codes.append(end.returncode)
                fault = check(end, what, written)
                faults += [fault] if fault else []
                if written is not None:
                    written.unlink(missing_ok=True)
    group.remove()
    if 0 not in codes or 1 not in codes:
        faults.append(f"the sizes tell nothing: {codes}")
    print("\n".join(faults) or f"{len(codes)} runs: exit codes {codes}")
    sys.exit(1 if faults else 0)


main()
