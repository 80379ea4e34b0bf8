// Reads a raw profiler directory, damaged ones too: what is whole is visited, what is lost is said.
//
//   struct Counter : RawVisitor { void on_events(std::span<const RawEvent> e) override { n += e.size(); } ... };
//   const std::vector<RawLoss> losses = read_raw("PROF_000001_...", counter);
//
// What events mean:
//   kApi     value = level (20000 acl, 15000 model, 10000 node, 5000 runtime) in the low 16 bits, then 32 bits of connection
//            id: 0, or the run_and_model of the tasks that the call launched.
//   kTask    one op; value = task_value(op index in the model's table, run_and_model), see recorder.h.
//   kStep    one execution of a model; value as kTask, with op index kWholeModel. With kProgramStep: a step that the program
//            itself says, its number in place of run and model.
//   kStamp, kStampDetail   marks and ranges of the program, see stamp.h; a stamp that has a detail comes right behind it.
//   kMemory  value = bytes, name = what for ("arena NAME", "weights NAME", "aclrtMalloc", ...). A block gives one event
//            with begin == end when it is allocated, and when it is released one with its time of allocation and release.
//            Blocks that are still there at the end give the first event only.
//
// The JSON of a model (on_model):
//   {"model_id", "model_name", "om_path", "soc_version", "threads", "peak_gflops", "memory_gb_s" (null when unknown),
//    "memory": {"arena_bytes", "workspace_bytes", "weights_bytes", "static_ops": [{"op", "bytes"}]},
//    "ops": [{"name", "type" (types of a fused op joined by '+'), "original_ops": [ONNX node names],
//             "task_type": "AI_CORE" | "AI_CPU" | "" (never runs: its outputs lie where its inputs do),
//             "impl", "format", "strategy": "bank" | "default", "repo_key",
//             "inputs": [{"name", "shape", "dtype", "format"}], "outputs": [...],
//             "flops", "read_bytes" (weights included), "write_bytes", "weight_bytes", "workspace_bytes"}]}
// Events refer to ops by their index in "ops". Equal names of inputs and outputs are one tensor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/raw/raw_format.h"

namespace aoe::profiler {

/// Whether a PROF_* or a JOB*; throws Error(kData) when it is neither.
Generation generation_of_directory(const std::filesystem::path& directory);

struct RawInfo {
  Generation generation;
  std::filesystem::path directory;
  nlohmann::json info;    ///< info.json or info.json.0: process, machine, clocks; {} when damaged
  nlohmann::json sample;  ///< sample.json: what was asked for; {} when damaged
};

/// Something that is not there, or not whole. bytes == 0 when nobody can tell how much.
struct RawLoss {
  std::filesystem::path file;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::string why;
};

class RawVisitor {
 public:
  virtual ~RawVisitor() = default;
  // Strings, threads and models come before the events that use them, unless they are among the losses.
  virtual void on_string(std::uint32_t id, std::string_view text) = 0;
  virtual void on_thread(std::uint16_t thread, std::int64_t os_thread_id,
                         std::string_view name) = 0;
  virtual void on_model(const nlohmann::json& model) = 0;
  virtual void on_events(std::span<const RawEvent> events) = 0;
  virtual void on_counters(std::span<const RawCounters> counters) = 0;
  virtual void on_samples(std::span<const RawSample> samples) = 0;
};

/// Throws Error(kData) when this is no directory of raw data; damaged files are losses.
RawInfo read_info(const std::filesystem::path& directory, std::vector<RawLoss>& losses);

/// Visits each sound chunk of each stream, one stream after the other, with no more than one chunk in memory. Never throws
/// for damaged data; throws Error(kData) when this is no directory of raw data or a file cannot be read.
std::vector<RawLoss> read_raw(const std::filesystem::path& directory, RawVisitor& visitor);

}  // namespace aoe::profiler
