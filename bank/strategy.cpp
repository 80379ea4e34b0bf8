// JSON of strategies; the bank stores it as CBOR.
#include "bank/strategy.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace aoe::bank {
using nlohmann::json;

bool StrategySet::has_winner() const {
  return std::ranges::any_of(strategies,
                             [](const Strategy& s) { return s.measured.verdict == "faster"; });
}

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
  if (!strategy.rewrite.empty()) value["rewrite"] = json::parse(strategy.rewrite);
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
