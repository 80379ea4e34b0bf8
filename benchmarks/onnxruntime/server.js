// ONNX Runtime behind a pipe: one JSON request a line on stdin, one JSON answer a line on stdout.
//   {"load": "m.onnx", "threads": 2}                                 -> {}      in the place of the model before
//   {"feed": [{"name", "type", "dims", "file"}]}                     -> {}      raw little-endian files
//   {"run": {"seconds": 0.3, "least": 3}}                            -> {"times_ms": [...]}
//   {}                                                           -> {}      once it is ready
//   {"dump": "dir"}                                                  -> {"outputs": [{"name", "type", "dims", "file"}]}
// A failure answers {"error": "..."}.
'use strict';
const fs = require('fs');
const path = require('path');
const readline = require('readline');
const ort = require('onnxruntime-node');

ort.env.logLevel = 'error';
const arrays = {float32: Float32Array, float64: Float64Array, float16: globalThis.Float16Array || Uint16Array,
                int64: BigInt64Array, int32: Int32Array, int16: Int16Array, int8: Int8Array,
                uint64: BigUint64Array, uint32: Uint32Array, uint16: Uint16Array, uint8: Uint8Array, bool: Uint8Array};
let session = null;
let feeds = {};

const handlers = {
  async load({load, threads}) {
    if (session) await session.release();
    session = null;
    feeds = {};
    session = await ort.InferenceSession.create(load, {
      intraOpNumThreads: threads, interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all',
      logSeverityLevel: 3});
    return {};
  },
  async feed({feed}) {
    for (const {name, type, dims, file} of feed) {
      const bytes = fs.readFileSync(file);
      const data = new arrays[type](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
      feeds[name] = new ort.Tensor(type, data, dims);
    }
    return {};
  },
  async run({run}) {
    const times = [];
    const end = process.hrtime.bigint() + BigInt(Math.round(run.seconds * 1e9));
    while (times.length < run.least || process.hrtime.bigint() < end) {
      const begin = process.hrtime.bigint();
      await session.run(feeds);
      times.push(Number(process.hrtime.bigint() - begin) / 1e6);
    }
    return {times_ms: times};
  },
  async dump({dump}) {
    const results = await session.run(feeds);
    const outputs = session.outputNames.map((name, index) => {
      const {type, dims, data} = results[name];
      const file = path.join(dump, `ort_${index}.raw`);
      fs.writeFileSync(file, Buffer.from(data.buffer, data.byteOffset, data.byteLength));
      return {name, type, dims, file};
    });
    return {outputs};
  },
};

async function main() {
  for await (const line of readline.createInterface({input: process.stdin})) {
    let answer;
    try {
      const request = JSON.parse(line);
      const [what] = Object.keys(request);
      answer = what === undefined ? {} : await handlers[what](request);
    } catch (error) {
      answer = {error: String(error.message || error).replace(/\s+/g, ' ')};
    }
    process.stdout.write(JSON.stringify(answer) + '\n');
  }
}
main();
