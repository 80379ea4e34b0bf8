"""ONNX Runtime of Python behind a pipe: what server.js answers, where Node.js is not there. Requests and answers: see there."""
import json
import os
import sys
import time

import numpy
import onnxruntime

onnxruntime.set_default_logger_severity(3)
session, feeds = None, {}


def load(path, threads):
    global session, feeds
    feeds = {}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return {}


def feed(inputs):
    for each in inputs:
        values = numpy.fromfile(each["file"], dtype=each["type"])
        feeds[each["name"]] = values.reshape(each["dims"])
    return {}


def run(seconds, least):
    times = []
    end = time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        begin = time.perf_counter()
        session.run(None, feeds)
        times.append((time.perf_counter() - begin) * 1e3)
    return {"times_ms": times}


def dump(folder):
    outputs = []
    for index, (output, value) in enumerate(zip(session.get_outputs(), session.run(None, feeds))):
        file = os.path.join(folder, f"ort_{index}.raw")
        value.tofile(file)
        outputs.append({"name": output.name, "type": str(value.dtype), "dims": list(value.shape), "file": file})
    return {"outputs": outputs}


def answer_to(request):
    if "load" in request:
        return load(request["load"], request["threads"])
    if "feed" in request:
        return feed(request["feed"])
    if "run" in request:
        return run(request["run"]["seconds"], request["run"]["least"])
    return dump(request["dump"]) if "dump" in request else {}


for line in sys.stdin:
    try:
        answer = answer_to(json.loads(line))
    except Exception as error:  # whatever ONNX Runtime refuses is an answer
        answer = {"error": " ".join(str(error).split())}
    print(json.dumps(answer), flush=True)
