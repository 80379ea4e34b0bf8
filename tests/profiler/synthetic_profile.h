// A raw profiling directory with known contents: for the tests of import and export, and for
// benchmarks/profiler_import.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/raw/raw_format.h"
#include "profiler/raw/raw_writer.h"

namespace aoe::profiler::tests {

/// Times of the clock of the recorder; Unix time is kMonotonicToUnixNs later.
inline constexpr std::int64_t kMonotonicToUnixNs = 1'700'000'000'000'000'000;
inline constexpr std::int64_t kProcessId = 4242;
inline constexpr std::int64_t kThreadId = 4243;

/// The writer of one directory. What a test does not say has the values of a small inference.
class SyntheticProfile {
 public:
  /// `parent`/PROF_000001_.../ or `parent`/JOB.../
  SyntheticProfile(const std::filesystem::path& parent, Generation generation,
                   nlohmann::json more_info = {}, nlohmann::json sample = {});

  void model(const nlohmann::json& model);
  void api(const std::string& name, std::int64_t begin_ns, std::int64_t end_ns,
           std::uint32_t run_and_model, std::uint16_t level = 20000);
  void task(std::uint32_t op, std::uint32_t run_and_model, std::int64_t begin_ns,
            std::int64_t end_ns, std::uint16_t thread = 0);
  void step(std::uint32_t run_and_model, std::int64_t begin_ns, std::int64_t end_ns);
  void stamp(const std::string& message, std::int64_t begin_ns, std::int64_t end_ns);
  void memory(const std::string& name, std::uint64_t bytes, std::int64_t begin_ns,
              std::int64_t end_ns);
  void sample(const std::string& series, std::int64_t time_ns, double value);
  void counters(std::uint32_t op, std::uint32_t run_and_model, std::int64_t begin_ns,
                std::vector<std::uint64_t> values);
  void thread(std::uint16_t thread, std::int64_t os_thread_id, const std::string& name);

  /// Writes what is still in memory. Call it before reading.
  void flush();
  const std::filesystem::path& directory() const { return directory_; }

 private:
  void event(Stream stream, const RawEvent& event);
  std::uint32_t string_id(const std::string& text);
  template <typename Record>
  void flush_records(Stream stream, ChunkKind kind, std::vector<Record>& records);

  std::filesystem::path directory_;
  std::unique_ptr<RawWriter> writer_;
  std::vector<std::string> strings_;
  std::vector<RawEvent> api_, tasks_;
  std::vector<RawCounters> counters_;
  std::vector<RawSample> samples_;
};

/// run number << 12 | model id
inline std::uint32_t run_and_model(std::uint32_t run, std::uint32_t model) {
  return run << kModelBits | model;
}

/// One op of a model's table: FLOAT tensors of the given shapes, AI_CORE, from the bank.
nlohmann::json synthetic_op(const std::string& name, const std::string& type,
                            const nlohmann::json& input_shapes,
                            const nlohmann::json& output_shapes);
/// model_id 1, "resnet", 2 threads, 100 GFLOPS, 20 GB/s.
nlohmann::json synthetic_model(const nlohmann::json& ops);

/// `runs` executions of a model of `ops` ops, each op 3.001 us with 0.5 us between them, an API call
/// around each run. Events: runs * (ops + 2).
void fill_with_runs(SyntheticProfile& profile, std::uint32_t runs, std::uint32_t ops);

}  // namespace aoe::profiler::tests
