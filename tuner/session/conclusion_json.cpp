// Conclusions, field by field.
#include "tuner/session/conclusion_json.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace aoe::tuner {
using nlohmann::json;
namespace {

json gain_to_json(const ModeGain& gain) {
  return {{"mode", gain.mode},
          {"before_us", gain.before_us},
          {"after_us", gain.after_us},
          {"is_update", gain.is_update}};
}

}  // namespace

json to_json(const Conclusion& conclusion) {
  json strategies = json::array();
  for (const bank::Strategy& strategy : conclusion.strategies)
    strategies.push_back(bank::to_json(strategy));
  json gains = json::array();
  for (const ModeGain& gain : conclusion.gains) gains.push_back(gain_to_json(gain));
  return {{"decision", static_cast<int>(conclusion.decision)},
          {"strategies", std::move(strategies)},
          {"default_ns", conclusion.default_ns},
          {"best_ns", conclusion.best_ns},
          {"paired", {conclusion.paired.speedup, conclusion.paired.low, conclusion.paired.high}},
          {"gains", std::move(gains)},
          {"cause", conclusion.cause},
          {"measured", conclusion.measured}};
}

Conclusion conclusion_from_json(const json& j) {
  const int decision = j.at("decision");
  if (decision < 0 || decision > static_cast<int>(Decision::kStopped))
    throw std::runtime_error("an unknown decision");
  Conclusion conclusion{.decision = static_cast<Decision>(decision)};
  for (const json& strategy : j.at("strategies"))
    conclusion.strategies.push_back(bank::strategy_from_json(strategy));
  conclusion.default_ns = j.at("default_ns");
  conclusion.best_ns = j.at("best_ns");
  const json& paired = j.at("paired");
  conclusion.paired = {.speedup = paired.at(0), .low = paired.at(1), .high = paired.at(2)};
  for (const json& gain : j.at("gains"))
    conclusion.gains.push_back(
        {gain.at("mode"), gain.at("before_us"), gain.at("after_us"), gain.at("is_update")});
  conclusion.cause = j.at("cause");
  conclusion.measured = j.value("measured", 0);
  return conclusion;
}

}  // namespace aoe::tuner
