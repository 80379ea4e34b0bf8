// JSON of strategies; the bank stores it as CBOR.
#include "bank/strategy.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace aoe::bank {
using nlohmann::json;

bool StrategySet::has_winner() const {
  return std::ranges::any_of(strategies,
                             [](const Strategy& s) { return s.measured.verdict == "faster"; });
}

namespace {

json to_json(const SampleSummary& samples) {
  return {
      {"median_ns", samples.median_ns}, {"spread_ns", samples.spread_ns}, {"count", samples.count}};
}

SampleSummary samples_from_json(const json& j) {
  return {j.at("median_ns"), j.at("spread_ns"), j.at("count")};
}

json to_json(const Provenance& p) {
  return {{"engine", p.engine},
          {"llvm", p.llvm},
          {"onednn", p.onednn},
          {"cpu", p.cpu},
          {"microcode", p.microcode},
          {"kernel", p.kernel},
          {"model", p.model},
          {"node", p.node},
          {"seed", p.seed},
          {"won", to_json(p.won)},
          {"by_default", to_json(p.by_default)}};
}

Provenance provenance_from_json(const json& j) {
  Provenance p;
  j.at("engine").get_to(p.engine);
  j.at("llvm").get_to(p.llvm);
  j.at("onednn").get_to(p.onednn);
  j.at("cpu").get_to(p.cpu);
  j.at("microcode").get_to(p.microcode);
  j.at("kernel").get_to(p.kernel);
  j.at("model").get_to(p.model);
  j.at("node").get_to(p.node);
  j.at("seed").get_to(p.seed);
  p.won = samples_from_json(j.at("won"));
  p.by_default = samples_from_json(j.at("by_default"));
  return p;
}

}  // namespace

json to_json(const Strategy& strategy) {
  const Measurement& m = strategy.measured;
  json value = {{"format", strategy.format},
                {"impl", strategy.impl},
                {"impl_version", strategy.impl_version},
                {"schedule", strategy.schedule},
                {"measured",
                 {{"time_ns", m.time_ns},
                  {"default_time_ns", m.default_time_ns},
                  {"verdict", m.verdict},
                  {"policy", m.policy},
                  {"threads", m.threads},
                  {"trials", m.trials},
                  {"when_utc", m.when_utc}}}};
  if (!strategy.rewrite.empty()) value["rewrite"] = parse_json(strategy.rewrite);
  if (!strategy.provenance.is_empty()) value["provenance"] = to_json(strategy.provenance);
  return value;
}

Strategy strategy_from_json(const json& j) {
  Strategy s;
  j.at("format").get_to(s.format);
  j.at("impl").get_to(s.impl);
  j.at("impl_version").get_to(s.impl_version);
  j.at("schedule").get_to(s.schedule);
  const json& m = j.at("measured");
  m.at("time_ns").get_to(s.measured.time_ns);
  m.at("default_time_ns").get_to(s.measured.default_time_ns);
  m.at("verdict").get_to(s.measured.verdict);
  m.at("policy").get_to(s.measured.policy);
  m.at("threads").get_to(s.measured.threads);
  m.at("trials").get_to(s.measured.trials);
  m.at("when_utc").get_to(s.measured.when_utc);
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
