// JSON of strategies; the bank stores it as CBOR.
#include "bank/strategy.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_fields.h"
#include "base/json_text.h"

namespace aoe::bank {
using nlohmann::json;

bool StrategySet::has_winner() const {
  return std::ranges::any_of(strategies,
                             [](const Strategy& s) { return s.measured.verdict == "faster"; });
}

namespace {

constexpr auto kSampleFields = std::tuple(JsonField("median_ns", &SampleSummary::median_ns),
                                          JsonField("spread_ns", &SampleSummary::spread_ns),
                                          JsonField("count", &SampleSummary::count));
constexpr auto kProvenanceFields =
    std::tuple(JsonField("engine", &Provenance::engine), JsonField("llvm", &Provenance::llvm),
               JsonField("onednn", &Provenance::onednn), JsonField("cpu", &Provenance::cpu),
               JsonField("microcode", &Provenance::microcode),
               JsonField("kernel", &Provenance::kernel), JsonField("model", &Provenance::model),
               JsonField("node", &Provenance::node), JsonField("seed", &Provenance::seed));
constexpr auto kMeasurementFields = std::tuple(
    JsonField("time_ns", &Measurement::time_ns),
    JsonField("default_time_ns", &Measurement::default_time_ns),
    JsonField("verdict", &Measurement::verdict), JsonField("policy", &Measurement::policy),
    JsonField("threads", &Measurement::threads), JsonField("trials", &Measurement::trials),
    JsonField("when_utc", &Measurement::when_utc));
constexpr auto kStrategyFields = std::tuple(
    JsonField("format", &Strategy::format), JsonField("impl", &Strategy::impl),
    JsonField("impl_version", &Strategy::impl_version), JsonField("schedule", &Strategy::schedule));

json to_json(const Provenance& p) {
  json value = json_of_fields(p, kProvenanceFields);
  value["won"] = json_of_fields(p.won, kSampleFields);
  value["by_default"] = json_of_fields(p.by_default, kSampleFields);
  return value;
}

Provenance provenance_from_json(const json& j) {
  Provenance p;
  read_fields(j, p, kProvenanceFields);
  read_fields(j.at("won"), p.won, kSampleFields);
  read_fields(j.at("by_default"), p.by_default, kSampleFields);
  return p;
}

}  // namespace

json to_json(const Strategy& strategy) {
  json value = json_of_fields(strategy, kStrategyFields);
  value["measured"] = json_of_fields(strategy.measured, kMeasurementFields);
  if (!strategy.rewrite.empty()) value["rewrite"] = parse_json(strategy.rewrite);
  if (!strategy.provenance.is_empty()) value["provenance"] = to_json(strategy.provenance);
  return value;
}

Strategy strategy_from_json(const json& j) {
  Strategy s;
  read_fields(j, s, kStrategyFields);
  read_fields(j.at("measured"), s.measured, kMeasurementFields);
  if (const auto rewrite = j.find("rewrite"); rewrite != j.end()) s.rewrite = rewrite->dump();
  if (const auto from = j.find("provenance"); from != j.end())
    s.provenance = provenance_from_json(*from);
  return s;
}

json to_json(const StrategySet& set) {
  json list = json::array();
  for (const Strategy& strategy : set.strategies) list.push_back(to_json(strategy));
  return list;
}

StrategySet strategy_set_from_json(const json& j) {
  StrategySet set;
  for (const json& each : j) set.strategies.push_back(strategy_from_json(each));
  return set;
}

}  // namespace aoe::bank
