// The thread that writes: empties the rings now and then, samples the system, keeps to delay and duration.
#include "profiler/collect/collection.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/held_at_fork.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/thread_wall.h"
#include "profiler/collect/memory_block.h"
#include "profiler/collect/metric_groups.h"
#include "profiler/collect/task_counters.h"

namespace aoe::profiler {
namespace {

/// A ring holds 65536 events, so that a thread may record 1.3 million a second; and no more than this is lost in a crash.
constexpr std::int64_t kDrainPeriodNs = 50'000'000;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

std::mutex counted_mutex;
const HeldAtFork held_counted(counted_mutex, LockRung::kTexts);
CountedEvents counted;

KindSet kinds_of(const CollectOptions& options) {
  KindSet kinds = kind_bit(EventKind::kCounter);
  if (options.msproftx) kinds |= kind_bit(EventKind::kStamp);
  if (options.acl_api) kinds |= kind_bit(EventKind::kApi);
  if (options.runtime_api) kinds |= kind_bit(EventKind::kLaunch);
  if (options.task_time != TaskTime::kOff)
    kinds |= kind_bit(EventKind::kTask) | kind_bit(EventKind::kStep);
  if (options.training_trace.value_or(false)) kinds |= kind_bit(EventKind::kStep);
  if (options.task_memory) kinds |= kind_bit(EventKind::kMemory);
  return kinds;
}

std::int64_t ns_of(double seconds) {
  return static_cast<std::int64_t>(seconds * 1e9);
}

nlohmann::json counters_json(const std::vector<PerfEvent>& counters, const std::string& metrics) {
  nlohmann::json list = nlohmann::json::array();
  const MetricGroup* const group = find_metric_group(metrics);
  for (const PerfEvent& event : counters) {
    nlohmann::json entry = {{"name", event.name},
                            {"event", "perf type " + std::to_string(event.type) + " config " +
                                          std::to_string(event.config)},
                            {"columns", ""}};
    if (group != nullptr)
      for (const GroupCounter& counter : group->counters)
        if (event.name == counter.name) entry["columns"] = counter.columns;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

CountedEvents counted_events() {
  const std::lock_guard lock(counted_mutex);
  return counted;
}

Collection::Collection(CollectOptions options)
    : options_(std::move(options)),
      start_(read_clocks()),
      directory_(make_directory(options_, start_)),
      writer_({.directory = directory_,
               .generation = options_.generation,
               .storage_limit_bytes = options_.storage_limit_bytes}),
      sorter_(writer_),
      sampler_(options_.system) {
  to_ns(0);  // calibrates the clock now, not under the recorder's lock
  choose_counters();
  write_info(directory_, options_, start_,
             {{"counters", counters_json(counters_, counted_metrics(options_))},
              {"aic_metrics", counted_metrics(options_)}});
  drain();  // what others recorded before is not part of it
  if (options_.delay_s <= 0) start_recording();
  thread_ = std::thread(
      [this] { behind_thread_wall([this] { run(); }, [this](const char* why) { give_up(why); }); });
}

Collection::~Collection() {
  stop();
}

void Collection::forget_in_child() {
  counting.store(false, std::memory_order_release);
  profiler::stop();
}

/// The counters of the group that this machine gives, each tried on its own; none is an ordinary case, and never one that
/// ends a collection.
void Collection::choose_counters() {
  const std::string metrics = counted_metrics(options_);
  if (metrics.empty()) return;
  std::string why;
  if (auto events = perf_events_of(metrics)) {
    for (PerfEvent& event : *events) {
      const auto opened = PerfCounters::open(std::span(&event, 1));
      if (opened)
        counters_.push_back(std::move(event));
      else
        why = opened.error();
    }
  } else {
    why = events.error();
  }
  if (counters_.empty())
    logger("profiler")
        ->info("no hardware counters of {} here ({}): their columns read N/A", metrics, why);
  const std::lock_guard lock(counted_mutex);
  counted = {counted.collection + 1, std::make_shared<const std::vector<PerfEvent>>(counters_)};
}

void Collection::add_model(const nlohmann::json& model) {
  std::string payload = cbor_bytes(model);
  if (payload.size() > kMaxPayloadBytes) {
    logger("profiler")
        ->error("the op table of model {} is too large to be collected",
                model.value("model_name", ""));
    return;
  }
  const std::lock_guard lock(mutex_);
  new_models_.push_back(std::move(payload));
}

void Collection::start_recording() {
  counting.store(!counters_.empty(), std::memory_order_release);
  profiler::start(kinds_of(options_));
  is_recording_ = true;
  record_living_blocks();
}

void Collection::stop_recording() {
  profiler::stop();
  counting.store(false, std::memory_order_release);
  is_recording_ = false;
}

void Collection::run() {
  const std::int64_t record_from_ns = start_.monotonic_ns + ns_of(options_.delay_s);
  const std::int64_t record_to_ns =
      options_.duration_s > 0 ? record_from_ns + ns_of(options_.duration_s) : kNever;
  const std::int64_t sample_period_ns =
      options_.system.any() ? ns_of(1.0 / options_.system.frequency_hz()) : kNever;
  bool is_started = is_recording_;
  std::int64_t next_sample_ns = options_.system.any() ? record_from_ns : kNever;

  std::unique_lock lock(mutex_);
  do {  // at least once, however short the program is
    lock.unlock();
    const std::int64_t now_ns = read_clocks().monotonic_ns;
    if (!is_started && now_ns >= record_from_ns) {
      start_recording();
      is_started = true;
    }
    if (is_recording_ && now_ns >= record_to_ns) stop_recording();
    if (is_recording_ && now_ns >= next_sample_ns) {
      sample_system(now_ns);
      next_sample_ns += sample_period_ns * ((now_ns - next_sample_ns) / sample_period_ns + 1);
    }
    write_out();
    lock.lock();
    const std::int64_t until_ns =
        std::min({now_ns + kDrainPeriodNs, next_sample_ns, is_started ? kNever : record_from_ns,
                  is_recording_ ? record_to_ns : kNever});
    wake_.wait_for(lock, std::chrono::nanoseconds(until_ns - now_ns),
                   [this] { return is_stopping_; });
  } while (!is_stopping_ && writer_.stop_reason().empty());
  lock.unlock();
  if (is_recording_) stop_recording();
  write_out();
}

void Collection::sample_system(std::int64_t now_ns) {
  const std::vector<RawSample> samples = sampler_.sample(now_ns, read_proc(options_.system));
  for (const RawSample& sample : samples) sorter_.add_name(sample.series);
  sorter_.add_samples(samples);
}

void Collection::write_out() {
  std::vector<std::string> models;
  {
    const std::lock_guard lock(mutex_);
    models.swap(new_models_);
  }
  for (const std::string& model : models) writer_.add(Stream::kModels, ChunkKind::kModel, model);
  sorter_.drain();
  if (!writer_.stop_reason().empty() && !has_given_up_) give_up(writer_.stop_reason());
}

void Collection::give_up(std::string_view why) {
  has_given_up_ = true;
  if (is_recording_) stop_recording();
  logger("profiler")->error("profiling has stopped: {}; the program goes on", why);
}

void Collection::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_) return;
    is_stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  behind_thread_wall([this] { write_last(); },
                     [](const char* why) { logger("profiler")->error("{}", why); });
}

void Collection::write_last() {
  const std::uint64_t lost = lost_events();
  if (lost > 0)
    writer_.add(Stream::kDictionary, ChunkKind::kLost,
                {reinterpret_cast<const char*>(&lost), sizeof lost});
  nlohmann::json chunks;  // so that who reads sees whether the end of a stream is there
  for (int stream = 0; stream < kStreams; ++stream)
    chunks.push_back(writer_.chunks(static_cast<Stream>(stream)));
  write_end(directory_, options_, start_, read_clocks(), chunks);
}

}  // namespace aoe::profiler
