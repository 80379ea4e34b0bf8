#!/usr/bin/python3
"""Trains the perceptron of make_model for some steps, collected by profiling_options.

    make_model mlp-training --small --output=mlp.onnx
    atc --framework=5 --model=mlp.onnx --output=mlp
    session_training.py mlp.om prof && msprof --export=on --output=prof
"""

import sys

import numpy

from aoe import Session


def main(om, output):
    generator = numpy.random.default_rng(0)
    options = {"output": output, "training_trace": "on", "aic_metrics": "PipeUtilization"}
    with Session(om, profiling_mode=True, profiling_options=options) as session:
        feed = {
            name: (generator.standard_normal(shape) * 0.1).astype(dtype)
            for name, (shape, dtype) in session.inputs.items()
        }
        weights = [name for name in feed if f"{name}.new" in session.outputs]
        for step in range(10):
            loss, *new = session.run(["loss"] + [f"{name}.new" for name in weights], feed)
            feed.update(zip(weights, new))
            print(f"step {step}: loss {float(loss):.6f}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} MODEL.om OUTPUT_DIRECTORY")
    main(*sys.argv[1:])
