// Finds the files of a raw directory and hands their chunks to the visitor.
#include "profiler/raw/raw_reader.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>

#include "base/error.h"
#include "base/json_file.h"
#include "base/json_text.h"
#include "base/nesting.h"
#include "base/to_number.h"
#include "profiler/raw/chunk_reader.h"

namespace aoe::profiler {
namespace fs = std::filesystem;
namespace {

/// The number behind "<stem>.slice_"; nullopt for other files.
std::optional<std::uint64_t> slice_number(const std::string& name, const std::string& stem) {
  const std::string prefix = stem + ".slice_";
  if (!name.starts_with(prefix)) return std::nullopt;
  return to_number<std::uint64_t>(std::string_view(name).substr(prefix.size()));
}

std::map<std::uint64_t, fs::path> slices_of(const fs::path& directory, Stream stream,
                                            Generation generation) {
  const StreamFiles& files = files_of(stream);
  const fs::path stem =
      directory / (generation == Generation::kProf ? files.prof_stem : files.job_stem);
  std::map<std::uint64_t, fs::path> slices;
  std::error_code missing;  // a directory that is not there holds no slices
  for (const fs::directory_entry& entry : fs::directory_iterator(stem.parent_path(), missing))
    if (const auto number =
            slice_number(entry.path().filename().string(), stem.filename().string()))
      slices[*number] = entry.path();
  return slices;
}

/// Takes values off the front of a payload.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}
  bool at_end() const { return rest_.empty(); }

  template <typename T>
  bool take(T& value) {
    if (rest_.size() < sizeof value) return false;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return true;
  }
  bool take(std::string_view& text, std::size_t size) {
    if (rest_.size() < size) return false;
    text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

 private:
  std::string_view rest_;
};

bool visit_strings(std::string_view payload, RawVisitor& visitor) {
  Cursor cursor(payload);
  std::uint32_t id = 0;
  std::uint32_t length = 0;
  std::string_view text;
  while (!cursor.at_end()) {
    if (!cursor.take(id) || !cursor.take(length) || !cursor.take(text, length)) return false;
    visitor.on_string(id, text);
  }
  return true;
}

bool visit_threads(std::string_view payload, RawVisitor& visitor) {
  Cursor cursor(payload);
  std::int64_t os_thread_id = 0;
  std::uint16_t thread = 0;
  std::uint16_t length = 0;
  std::string_view name;
  while (!cursor.at_end()) {
    if (!cursor.take(os_thread_id) || !cursor.take(thread) || !cursor.take(length) ||
        !cursor.take(name, length))
      return false;
    visitor.on_thread(thread, os_thread_id, name);
  }
  return true;
}

bool visit_model(std::string_view payload, RawVisitor& visitor) {
  if (!nests_little_cbor(payload)) return false;
  const nlohmann::json model = cbor_or_discarded(payload);
  if (!model.is_object()) return false;
  visitor.on_model(model);
  return true;
}

/// Copied, because the payload is not aligned for them.
template <typename Record>
bool records_of(std::string_view payload, std::vector<Record>& records) {
  if (payload.size() % sizeof(Record) != 0) return false;
  records.resize(payload.size() / sizeof(Record));
  if (!records.empty()) std::memcpy(records.data(), payload.data(), payload.size());
  return true;
}

/// Reads one directory; keeps what is known between chunks.
/// How many chunks each stream got, as the end of an orderly collection says; 0 when nothing says so.
std::array<std::uint64_t, kStreams> chunks_written(const fs::path& directory,
                                                   Generation generation) {
  std::array<std::uint64_t, kStreams> counts{};
  std::ifstream in(directory / (generation == Generation::kProf ? "host/end_info" : "end_info.0"));
  const nlohmann::json end = json_or_discarded(std::string(std::istreambuf_iterator<char>(in), {}));
  if (!end.is_object() || !end.contains("chunks") || !end["chunks"].is_array()) return counts;
  for (std::size_t i = 0; i < std::min(counts.size(), end["chunks"].size()); ++i)
    if (end["chunks"][i].is_number_unsigned()) counts[i] = end["chunks"][i].get<std::uint64_t>();
  return counts;
}

class DirectoryReader {
 public:
  DirectoryReader(const fs::path& directory, RawVisitor& visitor)
      : directory_(directory),
        generation_(generation_of_directory(directory)),
        chunks_written_(chunks_written(directory, generation_)),
        visitor_(visitor) {}

  std::vector<RawLoss> run() && {
    std::size_t files = 0;
    for (int stream = 0; stream < kStreams; ++stream)
      files += read_stream(static_cast<Stream>(stream));
    if (files == 0)
      throw Error(ExitCode::kData, "holds no raw data files", directory_.string(),
                  "give a directory that msprof or acl.json collected");
    if (lost_events_ > 0)
      losses_.push_back({lost_in_, 0, lost_events_ * sizeof(RawEvent),
                         std::to_string(lost_events_) +
                             " events came faster than they could be written, and were dropped"});
    return std::move(losses_);
  }

 private:
  std::size_t read_stream(Stream stream) {
    const auto slices = slices_of(directory_, stream, generation_);
    std::uint64_t expected = 0;
    for (const auto& [number, path] : slices) {
      ChunkReader reader(path, losses_);
      std::size_t known_losses = losses_.size();
      while (const auto chunk = reader.next()) {
        // Damaged chunks are missing in the count as well, but that is said already.
        if (chunk->sequence > expected && losses_.size() == known_losses)
          losses_.push_back({path, chunk->offset, 0,
                             "before it, " + std::to_string(chunk->sequence - expected) +
                                 " chunks of this stream are missing"});
        expected = chunk->sequence + 1;
        if (!visit(*chunk, path))
          losses_.push_back(
              {path, chunk->offset, chunk->payload.size(), "a chunk's content has no meaning"});
        known_losses = losses_.size();
      }
    }
    const std::uint64_t written = chunks_written_[static_cast<std::size_t>(stream)];
    if (written > expected)
      losses_.push_back({directory_ / slice_name(stream, generation_,
                                                 slices.empty() ? 0 : slices.rbegin()->first),
                         0, 0,
                         "the last " + std::to_string(written - expected) +
                             " chunks of this stream are damaged or missing"});
    return slices.size();
  }

  bool visit(const Chunk& chunk, const fs::path& path) {
    switch (chunk.kind) {
      case ChunkKind::kStrings:
        return visit_strings(chunk.payload, visitor_);
      case ChunkKind::kThreads:
        return visit_threads(chunk.payload, visitor_);
      case ChunkKind::kModel:
        return visit_model(chunk.payload, visitor_);
      case ChunkKind::kEvents:
        if (!records_of(chunk.payload, events_)) return false;
        visitor_.on_events(events_);
        return true;
      case ChunkKind::kCounters:
        if (!records_of(chunk.payload, counters_)) return false;
        visitor_.on_counters(counters_);
        return true;
      case ChunkKind::kSamples:
        if (!records_of(chunk.payload, samples_)) return false;
        visitor_.on_samples(samples_);
        return true;
      case ChunkKind::kLost:
        lost_in_ = path;
        return Cursor(chunk.payload).take(lost_events_);
    }
    return false;
  }

  const fs::path& directory_;
  const Generation generation_;
  const std::array<std::uint64_t, kStreams> chunks_written_;
  RawVisitor& visitor_;
  std::vector<RawLoss> losses_;
  std::vector<RawEvent> events_;
  std::vector<RawCounters> counters_;
  std::vector<RawSample> samples_;
  std::uint64_t lost_events_ = 0;
  fs::path lost_in_;
};

/// {} and a loss when it is missing or no JSON object.
nlohmann::json read_object(const fs::path& path, std::vector<RawLoss>& losses) {
  std::string why = "is no JSON object";
  try {
    nlohmann::json object = read_json_file(path, ExitCode::kData);
    if (object.is_object()) return object;
  } catch (const Error& e) {
    why = e.what();
  }
  losses.push_back({path, 0, 0, why});
  return nlohmann::json::object();
}

}  // namespace

Generation generation_of_directory(const fs::path& directory) {
  std::error_code ignored;
  if (fs::is_directory(directory / "host", ignored)) return Generation::kProf;
  if (fs::is_directory(directory / "data", ignored)) return Generation::kJob;
  throw Error(ExitCode::kData,
              fs::exists(directory, ignored) ? "holds no profiling data" : "is not there",
              directory.string(), "give a PROF_* or JOB* directory");
}

RawInfo read_info(const fs::path& directory, std::vector<RawLoss>& losses) {
  const Generation generation = generation_of_directory(directory);
  const bool is_prof = generation == Generation::kProf;
  return {generation, directory,
          read_object(directory / (is_prof ? "host/info.json" : "info.json.0"), losses),
          read_object(directory / (is_prof ? "host/sample.json" : "sample.json"), losses)};
}

std::vector<RawLoss> read_raw(const fs::path& directory, RawVisitor& visitor) {
  return DirectoryReader(directory, visitor).run();
}

}  // namespace aoe::profiler
