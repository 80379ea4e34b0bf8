// One add_<kind>() per kind of event; each is a prepared INSERT.
#include "profiler/database/importer.h"

#include <unistd.h>

#include <cstring>
#include <limits>
#include <optional>
#include <sstream>

#include "base/file.h"
#include "base/log.h"
#include "base/new_file.h"
#include "profiler/database/op_table.h"
#include "profiler/database/overlap.h"
#include "profiler/database/profile_directory.h"
#include "profiler/database/schema.h"
#include "profiler/database/step_trace.h"
#include "profiler/stamp.h"

namespace aoe::profiler {
namespace {

constexpr std::int64_t kApiTypeTrace = 50003;
constexpr std::int64_t kRuns = std::int64_t{1} << (32 - kModelBits);  // run numbers wrap here

std::int64_t model_of(std::uint32_t run_and_model) {
  return run_and_model & ((1u << kModelBits) - 1);
}

template <typename T>
T bits_as(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::string payload_text(const StampDetail& detail) {
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  switch (detail.payload_type) {
    case PayloadType::kUint64:
      text << detail.payload;
      break;
    case PayloadType::kInt64:
      text << bits_as<std::int64_t>(detail.payload);
      break;
    case PayloadType::kDouble:
      text << bits_as<double>(detail.payload);
      break;
    case PayloadType::kUint32:
      text << bits_as<std::uint32_t>(detail.payload);
      break;
    case PayloadType::kInt32:
      text << bits_as<std::int32_t>(detail.payload);
      break;
    case PayloadType::kFloat:
      text.precision(std::numeric_limits<float>::max_digits10);
      text << bits_as<float>(detail.payload);
      break;
    default:
      text << "N/A";  // damaged
  }
  return text.str();
}

Connection create_tables(const std::filesystem::path& path) {
  Connection connection = Connection::create(path);
  connection.execute("BEGIN");
  connection.execute(kCreateTables);
  return connection;
}

}  // namespace

Importer::Importer(const std::filesystem::path& database, const SessionFacts& facts)
    : facts_(facts),
      connection_(create_tables(database)),
      string_(connection_.prepare("INSERT INTO STRING_IDS VALUES(?, ?)")),
      api_(connection_.prepare("INSERT INTO API_CALL VALUES(?, ?, ?, ?, nullif(?, 0), ?)")),
      task_(connection_.prepare("INSERT INTO TASK VALUES(?, ?, 0, ?, NULL, " +
                                std::to_string(facts.process_id) + ", ?, NULL, ?, ?, ?, ?)")),
      step_(connection_.prepare("INSERT INTO MODEL_EXECUTION VALUES(?, ?, ?, ?, ?, ?)")),
      stamp_(connection_.prepare(
          "INSERT INTO MSTX_EVENTS VALUES(?, ?, ?, nullif(?, 0), ?, ?, ?, ?, ?, NULL, ?, ?, ?)")),
      program_step_(connection_.prepare("INSERT INTO PROGRAM_STEP VALUES(?, ?, ?, ?)")),
      memory_(connection_.prepare("INSERT INTO MEMORY VALUES(?, ?, ?, ?, ?, ?)")),
      sample_(connection_.prepare("INSERT INTO SAMPLE VALUES(?, ?, ?)")),
      counters_(connection_.prepare(
          "INSERT INTO TASK_COUNTERS VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
  store_facts();
  for (const char* name : {"ModelExecute", "launch"}) intern(name);  // of rows in CANN_API
}

void Importer::store_meta(std::string_view name, std::string_view value) {
  connection_.prepare("INSERT INTO META_DATA VALUES(?, ?)").run(name, value);
}

void Importer::store_facts() {
  const auto number = [](auto value) { return std::to_string(value); };
  store_meta("SCHEMA_VERSION",
             number(kSchemaMajor) + "." + number(kSchemaMinor) + "." + number(kSchemaMicro));
  store_meta("SCHEMA_VERSION_MAJOR", number(kSchemaMajor));
  store_meta("SCHEMA_VERSION_MINOR", number(kSchemaMinor));
  store_meta("SCHEMA_VERSION_MICRO", number(kSchemaMicro));
  store_meta("GENERATION", facts_.generation == Generation::kProf ? "PROF" : "JOB");
  store_meta("PROCESS_ID", number(facts_.process_id));
  store_meta("MONOTONIC_TO_UNIX_NS", number(facts_.monotonic_to_unix_ns));
  store_meta("METRIC_GROUP", facts_.metric_group);
  if (facts_.frequency_mhz > 0) store_meta("FREQUENCY_MHZ", number(facts_.frequency_mhz));
  if (facts_.cores > 0) store_meta("CORES", number(facts_.cores));
  connection_.prepare("INSERT INTO HOST_INFO VALUES(?, ?)").run(facts_.host_uid, facts_.host_name);
  connection_.prepare("INSERT INTO NPU_INFO VALUES(0, ?)").run(facts_.processor);
  connection_.prepare("INSERT INTO RANK_DEVICE_MAP VALUES(0, 0)").run();
  Statement counter = connection_.prepare("INSERT INTO COUNTER VALUES(?, ?, ?)");
  for (std::size_t slot = 0; slot < facts_.counters.size(); ++slot)
    counter.run(slot, facts_.counters[slot].name, facts_.counters[slot].event);
}

std::int64_t Importer::intern(std::string_view text) {
  const auto [entry, is_new] =
      string_ids_.try_emplace(std::string(text), static_cast<std::int64_t>(string_ids_.size()) + 1);
  if (is_new) {
    string_.run(entry->second, text);
    texts_.push_back(&entry->first);
  }
  return entry->second;
}

std::int64_t Importer::component_of(std::int64_t name_id) {
  const std::string_view name = *texts_[static_cast<std::size_t>(name_id) - 1];
  return intern(name.substr(0, name.find(' ')));
}

void Importer::on_string(std::uint32_t id, std::string_view text) {
  // The recorder counts ids up from 0; a far larger one is not worth the memory of a table.
  constexpr std::uint32_t kMostStrings = 1u << 24;
  if (id >= kMostStrings) return;
  if (id >= raw_string_ids_.size()) raw_string_ids_.resize(id + 1, 0);
  raw_string_ids_[id] = intern(text);
}

std::int64_t Importer::name(std::uint32_t raw_id) {
  if (raw_id < raw_string_ids_.size() && raw_string_ids_[raw_id] != 0)
    return raw_string_ids_[raw_id];
  return intern("N/A");  // its name is among the losses
}

void Importer::on_thread(std::uint16_t thread, std::int64_t os_thread_id,
                         std::string_view thread_name) {
  global_tids_[thread] = facts_.process_id << 32 | os_thread_id;
  connection_.prepare("INSERT OR REPLACE INTO THREAD VALUES(?, ?, ?)")
      .run(thread, global_tids_[thread], thread_name);
}

std::int64_t Importer::global_tid(std::uint16_t thread) const {
  const auto found = global_tids_.find(thread);
  return found == global_tids_.end() ? facts_.process_id << 32 | thread : found->second;
}

void Importer::on_model(const nlohmann::json& model) {
  OpTable table(connection_, [this](std::string_view text) { return intern(text); });
  const StoredModel stored = table.store(model);
  models_[stored.model_id].op_task_types = stored.op_task_types;
}

std::int64_t Importer::full_run(std::uint32_t run_and_model, RunOrder order) {
  // Within one kind of record the runs of a model come nearly in order, so the run meant is the one
  // with these low bits that is nearest to the latest.
  std::int64_t& latest = models_[model_of(run_and_model)].latest_run[order];
  std::int64_t step = (static_cast<std::int64_t>(run_and_model >> kModelBits) - latest) % kRuns;
  if (step < -kRuns / 2) step += kRuns;
  const std::int64_t run = latest + step;
  latest = std::max(latest, run);
  return run;
}

void Importer::add_api(const RawEvent& event) {
  const std::int64_t level = event.kind == EventKind::kPass
                                 ? kApiTypeTrace
                                 : static_cast<std::int64_t>(event.value & 0xffff);
  const std::int64_t connection = event.kind == EventKind::kPass
                                      ? 0
                                      : static_cast<std::int64_t>(event.value >> 16 & 0xffffffff);
  api_.run(unix_ns(event.begin_ns), unix_ns(event.end_ns), level, global_tid(event.thread),
           connection, name(event.name_id));
}

void Importer::add_task(const RawEvent& event) {
  const auto op_index = std::size_t{op_index_of(event.value)};
  const std::uint32_t run_and_model = run_and_model_of(event.value);
  const std::int64_t run = full_run(run_and_model, kTaskRuns);
  const ModelState& model = models_[model_of(run_and_model)];
  std::optional<std::int64_t> task_type;
  if (op_index < model.op_task_types.size()) task_type = model.op_task_types[op_index];
  task_.run(unix_ns(event.begin_ns), unix_ns(event.end_ns), run_and_model, task_type, event.thread,
            op_index, model_of(run_and_model), run);
}

void Importer::add_program_step(const RawEvent& event) {
  program_step_.run(run_and_model_of(event.value), unix_ns(event.begin_ns), unix_ns(event.end_ns),
                    global_tid(event.thread));
}

void Importer::add_step(const RawEvent& event) {
  if (op_index_of(event.value) == kProgramStep) return add_program_step(event);
  const std::uint32_t run_and_model = run_and_model_of(event.value);
  step_.run(model_of(run_and_model), full_run(run_and_model, kStepRuns), unix_ns(event.begin_ns),
            unix_ns(event.end_ns), global_tid(event.thread), run_and_model);
}

void Importer::add_stamp(const RawEvent& event) {
  std::int64_t begin_tid = global_tid(event.thread);
  std::optional<std::int64_t> category, category_name, tag, payload_type;
  std::optional<std::string> payload;
  if (const auto found = stamp_details_.extract(event.thread);
      !found.empty() && (event.value & kStampHasDetail) != 0) {
    const RawEvent& raw = found.mapped();
    const auto detail =
        StampDetail::unpack(static_cast<std::uint64_t>(raw.begin_ns),
                            static_cast<std::uint64_t>(raw.end_ns), raw.name_id, raw.value);
    if (detail.has_category) category = detail.category;
    if (detail.category_name_id != StampDetail::kNone)
      category_name = name(detail.category_name_id);
    if (detail.tag_id != StampDetail::kNone) tag = name(detail.tag_id);
    if (detail.has_payload) {
      payload_type = static_cast<std::int64_t>(detail.payload_type);
      payload = payload_text(detail);
    }
    if (detail.begin_thread != 0) begin_tid = facts_.process_id << 32 | detail.begin_thread;
  }
  std::optional<std::string_view> payload_view;
  if (payload) payload_view = *payload;
  stamp_.run(unix_ns(event.begin_ns), unix_ns(event.end_ns), stamp_type_of(event.value),
             range_id_of(event.value), category, name(event.name_id), begin_tid,
             global_tid(event.thread), tag, category_name, payload_type, payload_view);
}

void Importer::add_memory(const RawEvent& event) {
  // "arena resnet50": the first word is the component.
  const std::int64_t name_id = name(event.name_id);
  memory_.run(unix_ns(event.begin_ns), unix_ns(event.end_ns), event.value, name_id,
              component_of(name_id), global_tid(event.thread));
}

void Importer::add_sample(std::int64_t time_ns, std::uint32_t name_id, double value) {
  sample_.run(unix_ns(time_ns), name(name_id), value);
}

void Importer::on_events(std::span<const RawEvent> events) {
  for (const RawEvent& event : events) {
    if (event.kind == kStampDetail) {
      stamp_details_[event.thread] = event;
      continue;
    }
    first_ns_ = std::min(first_ns_, event.begin_ns);
    last_ns_ = std::max(last_ns_, event.end_ns);
    switch (event.kind) {
      case EventKind::kApi:
      case EventKind::kPass:
        add_api(event);
        break;
      case EventKind::kTask:
        add_task(event);
        break;
      case EventKind::kStep:
        add_step(event);
        break;
      case EventKind::kStamp:
        add_stamp(event);
        break;
      case EventKind::kMemory:
        add_memory(event);
        break;
      case EventKind::kCounter:
        add_sample(event.begin_ns, event.name_id, static_cast<double>(event.value));
        break;
      case EventKind::kLaunch:  // raw data has them as API events
        break;
    }
  }
  event_count_ += events.size();
}

void Importer::on_counters(std::span<const RawCounters> counters) {
  for (const RawCounters& c : counters)
    counters_.run(unix_ns(c.task_begin_ns), c.thread, model_of(c.run_and_model),
                  full_run(c.run_and_model, kCounterRuns), c.op_index, c.values[0], c.values[1],
                  c.values[2], c.values[3], c.values[4], c.values[5], c.values[6], c.values[7]);
  event_count_ += counters.size();
}

void Importer::on_samples(std::span<const RawSample> samples) {
  for (const RawSample& sample : samples) add_sample(sample.time_ns, sample.series, sample.value);
  event_count_ += samples.size();
}

void Importer::finish(const std::vector<RawLoss>& losses) {
  Statement loss = connection_.prepare("INSERT INTO RAW_LOSS VALUES(?, ?, ?, ?)");
  for (const RawLoss& lost : losses)
    loss.run(lost.file.string(), lost.offset, lost.bytes, lost.why);
  if (event_count_ > 0 && first_ns_ <= last_ns_)
    connection_.prepare("INSERT INTO SESSION_TIME_INFO VALUES(?, ?)")
        .run(unix_ns(first_ns_), unix_ns(last_ns_));
  store_meta("EVENTS", std::to_string(event_count_));
  connection_.execute(kCreateIndexes);
  connection_.execute(kDeriveMemory);
  derive_overlap(connection_);
  derive_step_trace(connection_, facts_.fp_point, facts_.bp_point, facts_.training_trace);
  connection_.execute("COMMIT");
}

namespace {

void write_log(const std::filesystem::path& directory, const ImportResult& result) {
  std::string text = timestamp_now() + ": " + std::to_string(result.events) +
                     " events imported into " +
                     std::filesystem::relative(result.database, directory).string() + ", " +
                     std::to_string(result.losses.size()) + " losses\n";
  for (const RawLoss& loss : result.losses)
    text += loss.file.string() + ": " + std::to_string(loss.bytes) + " bytes at " +
            std::to_string(loss.offset) + " lost: " + loss.why + "\n";
  make_directories(log_directory(directory));
  write_file_atomically(log_directory(directory) / "import.log", text);
}

}  // namespace

namespace {

/// A file beside another one, whose name nobody can have foreseen: it takes the other's place, or goes.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(std::filesystem::path target) : target_(std::move(target)) {
    (void)create_file_beside(target_, 0644, path_);
  }
  ~UnfinishedFile() {
    std::error_code ignored;  // nothing more can be done about a leftover
    if (!is_finished_) std::filesystem::remove(path_, ignored);
    forget_unfinished(path_);
  }
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void finish() {
    std::filesystem::rename(path_, target_);
    is_finished_ = true;
  }

 private:
  const std::filesystem::path target_;
  std::filesystem::path path_;
  bool is_finished_ = false;
};

}  // namespace

ImportResult import_raw(const std::filesystem::path& directory, const StepPoints& points) {
  std::vector<RawLoss> losses;
  const RawInfo info = read_info(directory, losses);
  ImportResult result{.database = database_path(directory)};
  make_directories(result.database.parent_path());
  UnfinishedFile unfinished(result.database);
  SessionFacts facts = session_facts(info);
  if (!points.fp_point.empty() || !points.bp_point.empty()) facts.training_trace = true;
  if (!points.fp_point.empty()) facts.fp_point = points.fp_point;
  if (!points.bp_point.empty()) facts.bp_point = points.bp_point;
  Importer importer(unfinished.path(), facts);
  for (RawLoss& loss : read_raw(directory, importer)) losses.push_back(std::move(loss));
  importer.finish(losses);
  unfinished.finish();
  result.events = importer.events();
  result.losses = std::move(losses);
  for (const RawLoss& loss : result.losses)
    logger("profiler")
        ->warn("{}: {} bytes at {} lost: {}", loss.file.string(), loss.bytes, loss.offset,
               loss.why);
  write_log(directory, result);
  return result;
}

}  // namespace aoe::profiler
