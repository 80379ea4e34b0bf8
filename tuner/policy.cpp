// Policies <-> JSON: one list of fields per policy serves reading, writing and the check for
// unknown keys.
#include "tuner/policy.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.h"

namespace aoe::tuner {
using nlohmann::json;

namespace {

template <typename P, typename F>
requires std::same_as<std::remove_const_t<P>, MeasurePolicy>
void each_field(P& p, F&& f) {
  f("name", p.name);
  f("weights_in", p.weights_in);
  f("warmup_runs", p.warmup_runs);
  f("min_samples", p.min_samples);
  f("max_samples", p.max_samples);
  f("min_duration_ms", p.min_duration_ms);
  f("drop_after_samples", p.drop_after_samples);
  f("drop_ratio", p.drop_ratio);
  f("min_race_rounds", p.min_race_rounds);
  f("max_race_rounds", p.max_race_rounds);
  f("race_duration_ms", p.race_duration_ms);
  f("race_drop_ratio", p.race_drop_ratio);
  f("min_model_rounds", p.min_model_rounds);
  f("max_model_rounds", p.max_model_rounds);
  f("model_loads", p.model_loads);
  f("model_duration_ms", p.model_duration_ms);
  f("calm_ratio", p.calm_ratio);
  f("calm_wait_s", p.calm_wait_s);
  f("run_timeout_s", p.run_timeout_s);
  f("compile_timeout_s", p.compile_timeout_s);
  f("memory_limit_mb", p.memory_limit_mb);
}

template <typename P, typename F>
requires std::same_as<std::remove_const_t<P>, SearchPolicy>
void each_field(P& p, F&& f) {
  f("trials_per_percent", p.trials_per_percent);
  f("min_trials", p.min_trials);
  f("familiar_share", p.familiar_share);
  f("taught_share", p.taught_share);
  f("teachers", p.teachers);
  f("max_trials", p.max_trials);
  f("batch_size", p.batch_size);
  f("patience", p.patience);
  f("min_expected_gain", p.min_expected_gain);
  f("noise", p.noise);
  f("explore", p.explore);
  f("population", p.population);
  f("generations", p.generations);
  f("parents", p.parents);
  f("finalists", p.finalists);
  f("schedule_trials", p.schedule_trials);
  f("schedule_share", p.schedule_share);
  f("time_limit_s", p.time_limit_s);
}

template <typename P, typename F>
requires std::same_as<std::remove_const_t<P>, ConfirmPolicy>
void each_field(P& p, F&& f) {
  f("rounds", p.rounds);
  f("min_gain", p.min_gain);
}

template <typename T>
json value_of(const T& field) {
  return field;
}
json value_of(WeightsIn place) {
  return name(place);
}

template <typename P>
json write(const P& policy) {
  json j = json::object();
  each_field(policy, [&](const char* key, const auto& field) { j[key] = value_of(field); });
  return j;
}

void read_value(const json& value, std::string& field) {
  if (!value.is_string()) throw std::invalid_argument("must be a text");
  field = value;
}

void read_value(const json& value, WeightsIn& field) {
  for (const WeightsIn place :
       {WeightsIn::kAuto, WeightsIn::kL2, WeightsIn::kL3, WeightsIn::kMemory}) {
    if (value != name(place)) continue;
    field = place;
    return;
  }
  throw std::invalid_argument("must be one of auto, l2, l3, memory");
}

template <typename T>
requires std::is_arithmetic_v<T>
void read_value(const json& value, T& field) {
  if (!value.is_number() || (std::is_integral_v<T> && !value.is_number_integer()))
    throw std::invalid_argument(std::is_integral_v<T> ? "must be an integer" : "must be a number");
  if (value < 0) throw std::invalid_argument("must not be negative");
  if constexpr (std::is_integral_v<T>)
    if (!std::in_range<T>(value.get<std::uint64_t>()))
      throw std::invalid_argument("must be at most " +
                                  std::to_string(std::numeric_limits<T>::max()));
  field = value.get<T>();
}

template <typename P>
void read(const json& j, P& policy, const std::string& where) {
  if (!j.is_object()) throw Error(ExitCode::kUsage, "must be an object", where);
  std::set<std::string> known;
  each_field(policy, [&](const char* key, auto& field) {
    known.insert(key);
    const auto found = j.find(key);
    if (found == j.end()) return;
    try {
      read_value(*found, field);
    } catch (const std::invalid_argument& e) {
      throw Error(ExitCode::kUsage, std::string("\"") + key + "\" " + e.what(), where);
    }
  });
  for (const auto& [key, value] : j.items())
    if (!known.contains(key)) throw Error(ExitCode::kUsage, "unknown key \"" + key + "\"", where);
}

/// Zero here would mean a loop without an end or a decision without a measurement.
void check_positive(const Policy& p, const std::string& where) {
  const std::pair<const char*, double> must_be_positive[] = {
      {"measure.min_samples", p.measure.min_samples},
      {"measure.max_samples", p.measure.max_samples},
      {"measure.drop_after_samples", p.measure.drop_after_samples},
      {"measure.min_race_rounds", p.measure.min_race_rounds},
      {"measure.max_race_rounds", p.measure.max_race_rounds},
      {"measure.min_model_rounds", p.measure.min_model_rounds},
      {"measure.max_model_rounds", p.measure.max_model_rounds},
      {"measure.model_loads", p.measure.model_loads},
      {"measure.warmup_runs", p.measure.warmup_runs},
      {"measure.run_timeout_s", p.measure.run_timeout_s},
      {"measure.compile_timeout_s", p.measure.compile_timeout_s},
      {"search.batch_size", p.search.batch_size},
      {"search.teachers", p.search.teachers},
      {"search.population", p.search.population},
      {"search.parents", p.search.parents},
      {"search.finalists", p.search.finalists},
      {"confirm.rounds", p.confirm.rounds}};
  for (const auto& [key, value] : must_be_positive)
    if (value <= 0) throw Error(ExitCode::kUsage, std::string(key) + " must be positive", where);
}

}  // namespace

std::string_view name(WeightsIn place) {
  switch (place) {
    case WeightsIn::kAuto:
      return "auto";
    case WeightsIn::kL2:
      return "l2";
    case WeightsIn::kL3:
      return "l3";
    case WeightsIn::kMemory:
      break;
  }
  return "memory";
}

Policy policy_from_json(const json& j, const std::string& where) {
  if (!j.is_object()) throw Error(ExitCode::kUsage, "must be a JSON object", where);
  Policy policy;
  for (const auto& [key, value] : j.items()) {
    if (key == "measure")
      read(value, policy.measure, where + " (measure)");
    else if (key == "search")
      read(value, policy.search, where + " (search)");
    else if (key == "confirm")
      read(value, policy.confirm, where + " (confirm)");
    else if (key != "preset" && key != "description")
      throw Error(ExitCode::kUsage, "unknown key \"" + key + "\"", where);
  }
  if (const auto preset = j.find("preset"); preset != j.end() && preset->is_string())
    policy.preset = *preset;
  check_positive(policy, where);
  return policy;
}

json to_json(const MeasurePolicy& policy) {
  return write(policy);
}

json to_json(const Policy& policy) {
  return {{"preset", policy.preset},
          {"measure", write(policy.measure)},
          {"search", write(policy.search)},
          {"confirm", write(policy.confirm)}};
}

}  // namespace aoe::tuner
