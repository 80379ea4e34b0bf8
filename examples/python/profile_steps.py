#!/usr/bin/python3
"""Profiles some steps of an inference, and says what they spent their time on.

    make_model mobilenetv2 --small --output=m.onnx && atc --framework=5 --model=m.onnx --output=m
    profile_steps.py m.om runs
"""

import csv
import sys

import numpy

from aoe import Session
from aoe.profiler import Profiler, ProfilerLevel, schedule, tensorboard_trace_handler


def random_feed(session, generator):
    return {
        name: generator.standard_normal(shape).astype(dtype)
        for name, (shape, dtype) in session.inputs.items()
    }


def table(profiler, name):
    with open(profiler.directory / "ASCEND_PROFILER_OUTPUT" / name, newline="") as file:
        return list(csv.DictReader(file))


def main(om, output_path):
    generator = numpy.random.default_rng(0)
    with Session(om) as session:
        with Profiler(
            output_path=output_path,
            profiler_level=ProfilerLevel.Level1,
            with_stack=True,
            schedule=schedule(skip_first=2, wait=1, warmup=1, active=3, repeat=1),
            on_trace_ready=tensorboard_trace_handler(),
        ) as profiler:
            profiler.add_metadata("model", om)
            for _ in range(7):
                session.run(None, random_feed(session, generator))
                profiler.step()

    for step in table(profiler, "step_trace_time.csv"):
        print(f"step {step['Step']}: {step['Computing']} us computing, {step['Free']} us free")
    kernels = table(profiler, "kernel_details.csv")
    kernels.sort(key=lambda kernel: float(kernel["Duration(us)"]), reverse=True)
    for kernel in kernels[:3]:
        print(f"{kernel['Duration(us)']:>12} us  {kernel['Name']} ({kernel['Type']})")
    print(f"timeline: {profiler.directory / 'ASCEND_PROFILER_OUTPUT' / 'trace_view.json'}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} MODEL.om OUTPUT_DIRECTORY")
    main(*sys.argv[1:])
