// Writes through RawWriter, as a collection does.
#include "tests/profiler/synthetic_profile.h"

#include "base/check.h"
#include "base/file.h"
#include "base/json_text.h"
#include "profiler/stamp.h"

namespace aoe::profiler::tests {
using nlohmann::json;
namespace {

constexpr std::size_t kRecordsPerChunk = 4096;

template <typename T>
void append_bytes(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

SyntheticProfile::SyntheticProfile(const std::filesystem::path& parent, Generation generation,
                                   json more_info, json sample) {
  const bool is_prof = generation == Generation::kProf;
  directory_ =
      parent / (is_prof ? "PROF_000001_20261121101112131_ABCDEFGHIJKLMNOP" : "JOBABCDEFGHIJKLMNO");
  for (const char* sub : {"host/data", "device_0/data"})
    std::filesystem::create_directories(directory_ / (is_prof ? sub : "data"));
  json info = {{"pid", kProcessId},        {"monotonic_to_unix_ns", kMonotonicToUnixNs},
               {"host_uid", "0123456789"}, {"host_name", "testhost"},
               {"processor", "Test CPU"},  {"cores", 2}};
  if (more_info.is_object()) info.update(more_info);
  write_file_atomically(directory_ / (is_prof ? "host/info.json" : "info.json.0"), json_text(info));
  write_file_atomically(directory_ / (is_prof ? "host/sample.json" : "sample.json"),
                        sample.is_object() ? json_text(sample) : "{}");
  writer_ = std::make_unique<RawWriter>(RawWriterOptions{
      .directory = directory_, .generation = generation, .free_bytes = [] { return UINT64_MAX; }});
  thread(0, kThreadId, "main");
}

void SyntheticProfile::thread(std::uint16_t thread, std::int64_t os_thread_id,
                              const std::string& name) {
  std::string payload;
  append_bytes(payload, os_thread_id);
  append_bytes(payload, thread);
  append_bytes(payload, static_cast<std::uint16_t>(name.size()));
  payload += name;
  AOE_CHECK(writer_->add(Stream::kDictionary, ChunkKind::kThreads, payload),
            writer_->stop_reason());
}

std::uint32_t SyntheticProfile::string_id(const std::string& text) {
  for (std::size_t i = 0; i < strings_.size(); ++i)
    if (strings_[i] == text) return static_cast<std::uint32_t>(i);
  strings_.push_back(text);
  const auto id = static_cast<std::uint32_t>(strings_.size() - 1);
  std::string payload;
  append_bytes(payload, id);
  append_bytes(payload, static_cast<std::uint32_t>(text.size()));
  payload += text;
  AOE_CHECK(writer_->add(Stream::kDictionary, ChunkKind::kStrings, payload),
            writer_->stop_reason());
  return id;
}

void SyntheticProfile::model(const json& model) {
  AOE_CHECK(writer_->add(Stream::kModels, ChunkKind::kModel, cbor_bytes(model)),
            writer_->stop_reason());
}

template <typename Record>
void SyntheticProfile::flush_records(Stream stream, ChunkKind kind, std::vector<Record>& records) {
  if (records.empty()) return;
  AOE_CHECK(writer_->add(
                stream, kind,
                {reinterpret_cast<const char*>(records.data()), records.size() * sizeof(Record)}),
            writer_->stop_reason());
  records.clear();
}

void SyntheticProfile::event(Stream stream, const RawEvent& event) {
  std::vector<RawEvent>& events = stream == Stream::kApi ? api_ : tasks_;
  events.push_back(event);
  if (events.size() >= kRecordsPerChunk) flush_records(stream, ChunkKind::kEvents, events);
}

void SyntheticProfile::flush() {
  flush_records(Stream::kApi, ChunkKind::kEvents, api_);
  flush_records(Stream::kTasks, ChunkKind::kEvents, tasks_);
  flush_records(Stream::kTasks, ChunkKind::kCounters, counters_);
  flush_records(Stream::kSystem, ChunkKind::kSamples, samples_);
}

void SyntheticProfile::api(const std::string& name, std::int64_t begin_ns, std::int64_t end_ns,
                           std::uint32_t launched, std::uint16_t level) {
  event(Stream::kApi, {.begin_ns = begin_ns,
                       .end_ns = end_ns,
                       .value = std::uint64_t{launched} << 16 | level,
                       .name_id = string_id(name),
                       .kind = EventKind::kApi,
                       .thread = 0});
}

void SyntheticProfile::task(std::uint32_t op, std::uint32_t run, std::int64_t begin_ns,
                            std::int64_t end_ns, std::uint16_t thread) {
  event(Stream::kTasks, {.begin_ns = begin_ns,
                         .end_ns = end_ns,
                         .value = task_value(op, run),
                         .name_id = 0,
                         .kind = EventKind::kTask,
                         .thread = thread});
}

void SyntheticProfile::step(std::uint32_t run, std::int64_t begin_ns, std::int64_t end_ns) {
  event(Stream::kTasks, {.begin_ns = begin_ns,
                         .end_ns = end_ns,
                         .value = task_value(kWholeModel, run),
                         .name_id = 0,
                         .kind = EventKind::kStep,
                         .thread = 0});
}

void SyntheticProfile::stamp(const std::string& message, std::int64_t begin_ns,
                             std::int64_t end_ns) {
  event(Stream::kApi,
        {.begin_ns = begin_ns,
         .end_ns = end_ns,
         .value = stamp_value(begin_ns == end_ns ? StampType::kMarker : StampType::kStartEnd,
                              /*has_detail=*/false, /*range_id=*/0),
         .name_id = string_id(message),
         .kind = EventKind::kStamp,
         .thread = 0});
}

void SyntheticProfile::memory(const std::string& name, std::uint64_t bytes, std::int64_t begin_ns,
                              std::int64_t end_ns) {
  event(Stream::kApi, {.begin_ns = begin_ns,
                       .end_ns = end_ns,
                       .value = bytes,
                       .name_id = string_id(name),
                       .kind = EventKind::kMemory,
                       .thread = 0});
}

void SyntheticProfile::sample(const std::string& series, std::int64_t time_ns, double value) {
  samples_.push_back({.time_ns = time_ns, .value = value, .series = string_id(series)});
}

void SyntheticProfile::counters(std::uint32_t op, std::uint32_t run, std::int64_t begin_ns,
                                std::vector<std::uint64_t> values) {
  RawCounters record{.task_begin_ns = begin_ns, .thread = 0, .op_index = op, .run_and_model = run};
  record.values = {};
  for (std::size_t i = 0; i < values.size(); ++i) record.values.at(i) = values[i];
  counters_.push_back(record);
}

json synthetic_op(const std::string& name, const std::string& type, const json& input_shapes,
                  const json& output_shapes) {
  const auto tensors = [&](const json& shapes, const char* role) {
    json list = json::array();
    for (const json& shape : shapes)
      list.push_back({{"name", name + role + std::to_string(list.size())},
                      {"shape", shape},
                      {"dtype", "FLOAT"},
                      {"format", "NCHW"}});
    return list;
  };
  return {{"name", name},
          {"type", type},
          {"original_ops", json::array({name})},
          {"task_type", "AI_CORE"},
          {"impl", "direct"},
          {"format", "NCHW"},
          {"strategy", "bank"},
          {"repo_key", "12345678901234567890"},
          {"inputs", tensors(input_shapes, "_in")},
          {"outputs", tensors(output_shapes, "_out")},
          {"flops", 2000},
          {"read_bytes", 4096},
          {"write_bytes", 1024},
          {"weight_bytes", 2048},
          {"workspace_bytes", 512}};
}

json synthetic_model(const json& ops) {
  return {{"model_id", 1},
          {"model_name", "resnet"},
          {"om_path", "/models/resnet.om"},
          {"soc_version", "x86_64-test-2t"},
          {"threads", 2},
          {"peak_gflops", 100.0},
          {"memory_gb_s", 20.0},
          {"memory",
           {{"arena_bytes", 1 << 20},
            {"workspace_bytes", 4096},
            {"weights_bytes", 2 << 20},
            {"static_ops", json::array({{{"op", "conv0"}, {"bytes", 2048}}})}}},
          {"ops", ops}};
}

void fill_with_runs(SyntheticProfile& profile, std::uint32_t runs, std::uint32_t ops) {
  json table = json::array();
  for (std::uint32_t op = 0; op < ops; ++op)
    table.push_back(synthetic_op("conv" + std::to_string(op), op % 2 == 0 ? "Conv2D" : "Relu",
                                 {{1, 64, 56, 56}, {64, 64, 3, 3}}, {{1, 64, 56, 56}}));
  profile.model(synthetic_model(table));
  std::int64_t now_ns = 1'000'000'000;
  for (std::uint32_t run = 1; run <= runs; ++run) {
    const std::int64_t begin_ns = now_ns;
    now_ns += 500;
    for (std::uint32_t op = 0; op < ops; ++op) {
      profile.task(op, run_and_model(run, 1), now_ns, now_ns + 3001);
      now_ns += 3501;
    }
    profile.step(run_and_model(run, 1), begin_ns + 100, now_ns);
    profile.api("aclmdlExecute", begin_ns, now_ns + 100, run_and_model(run, 1));
    now_ns += 1000;
  }
}

}  // namespace aoe::profiler::tests
