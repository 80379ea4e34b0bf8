// A verdict is a record of the bank, under a task of its own: the untuned om, this machine and the policy.
#include "tuner/session/model_memory.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/log.h"
#include "runtime/host_soc.h"
#include "runtime/om/om_graph.h"

namespace aoe::tuner {
using nlohmann::json;
namespace {

json to_json(const Interval& interval) {
  return {interval.low, interval.high};
}

/// What the fields of a measurement have no place for.
std::string detail_of(const RememberedModel& model) {
  const ModelVerdict& verdict = model.verdict;
  return json_text(json{{"tuned", model.tuned},
                        {"demoted", model.demoted},
                        {"keeps_untuned", model.keeps_untuned},
                        {"before_interval_ms", to_json(verdict.before_interval_ms)},
                        {"speedup", verdict.paired.speedup},
                        {"speedup_interval", {verdict.paired.low, verdict.paired.high}},
                        {"pairs", verdict.pairs},
                        {"measure_s", model.measure_s},
                        {"steps_ns", model.steps_ns}});
}

RememberedModel model_of(const bank::Record& record) {
  const json detail = parse_json(record.detail);
  const auto interval = [&](const char* key) {
    const json& both = detail.at(key);
    return Interval{both.at(0), both.at(1)};
  };
  const auto verdict = verdict_from_name(record.strategy.measured.verdict);
  if (!verdict) throw std::runtime_error("an unknown verdict");
  const Interval speedup = interval("speedup_interval");
  return {.tuned = detail.at("tuned"),
          .demoted = detail.at("demoted"),
          .keeps_untuned = detail.at("keeps_untuned"),
          .verdict = {.before_ms = record.strategy.measured.default_time_ns / 1e6,
                      .before_interval_ms = interval("before_interval_ms"),
                      .paired = {.speedup = detail.at("speedup"),
                                 .low = speedup.low,
                                 .high = speedup.high,
                                 .verdict = *verdict},
                      .pairs = detail.at("pairs"),
                      .measured_utc = record.strategy.measured.when_utc},
          .measure_s = detail.at("measure_s"),
          .steps_ns = detail.at("steps_ns")};
}

}  // namespace

ModelMemory::ModelMemory(TuningBank& bank, const TuneOptions& options, const runtime::Om& untuned)
    : bank_(bank),
      untuned_(to_hex(runtime::run_digest(untuned))),
      policy_name_(options.policy.measure.name),
      threads_(options.soc.threads) {
  const runtime::HostIdentity host = runtime::host_identity();
  key_ = {.description = json_text(json{{"model", untuned_},
                                        {"cpu", host.cpu},
                                        {"microcode", host.microcode},
                                        {"policy", to_json(options.policy)}}),
          .soc_version = options.soc.version};
}

std::optional<RememberedModel> ModelMemory::recall(std::size_t steps) const {
  const std::vector<bank::Record> records = bank_.records(key_);
  if (records.empty()) return std::nullopt;
  try {
    RememberedModel model = model_of(records.back());
    if (model.steps_ns.size() == steps) return model;
  } catch (const std::exception& e) {
    logger("tuner")->warn("what the bank knows of this model's times is passed over: {}", e.what());
  }
  return std::nullopt;
}

void ModelMemory::keep(const RememberedModel& model) {
  bank::Record record{.strategy = {}, .detail = detail_of(model)};
  record.strategy.measured = {.time_ns = model.verdict.after_ms() * 1e6,
                              .default_time_ns = model.verdict.before_ms * 1e6,
                              .verdict = std::string(name(model.verdict.paired.verdict)),
                              .policy = policy_name_,
                              .threads = threads_,
                              .trials = model.verdict.pairs,
                              .when_utc = model.verdict.measured_utc};
  bank_.commit({.strategies = {}, .records = {{key_, std::move(record)}}});
}

}  // namespace aoe::tuner
