// Timings: their medians and their JSON.
#include "tuner/measure/measurer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/statistics.h"
#include "base/words.h"

namespace aoe::tuner {
using nlohmann::json;
namespace {
constexpr std::array<std::string_view, 8> kOutcomeNames = {
    "ok",     "compile_error", "crashed",      "timeout",
    "killed", "out_of_memory", "wrong_result", "stopped"};
}

std::string_view name(Outcome outcome) {
  return kOutcomeNames[static_cast<std::size_t>(outcome)];
}

std::optional<Outcome> outcome_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kOutcomeNames.size(); ++i)
    if (kOutcomeNames[i] == name) return static_cast<Outcome>(i);
  return std::nullopt;
}

Timing Timing::failure(Outcome outcome, std::string cause) {
  return {outcome, std::move(cause), {}, false};
}

double Timing::median_ns() const {
  if (!ok() || samples_ns.empty()) return std::numeric_limits<double>::infinity();
  return median(samples_ns);
}

json finite_or_null(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

double number_or_infinity(const json& j) {
  return j.is_null() ? std::numeric_limits<double>::infinity() : j.get<double>();
}

json to_json(const Timing& timing) {
  return {{"outcome", name(timing.outcome)},
          {"cause", timing.cause},
          {"samples_ns", timing.samples_ns},
          {"dropped", timing.dropped}};
}

Timing timing_from_json(const json& j) {
  const auto outcome = outcome_from_name(j.at("outcome").get<std::string>());
  AOE_CHECK(outcome.has_value(), "a timing without a known outcome");
  return {*outcome, j.at("cause"), j.at("samples_ns"), j.at("dropped")};
}

void ModelTiming::append(const ModelTiming& later) {
  AOE_CHECK(steps_ns.size() == later.steps_ns.size(), "timings of one om");
  for (const std::size_t begin : later.load_begins)
    load_begins.push_back(samples_ns.size() + begin);
  samples_ns.insert(samples_ns.end(), later.samples_ns.begin(), later.samples_ns.end());
  for (std::size_t s = 0; s < steps_ns.size(); ++s)
    steps_ns[s].insert(steps_ns[s].end(), later.steps_ns[s].begin(), later.steps_ns[s].end());
}

double ModelTiming::calm_ns() const {
  AOE_CHECK(!samples_ns.empty(), "a run that nobody made");
  std::vector<double> between_ns = samples_ns;
  double calm_ns = 0;
  for (const std::vector<double>& step_ns : steps_ns) {
    calm_ns += std::ranges::min(step_ns);
    std::ranges::transform(between_ns, step_ns, between_ns.begin(), std::minus<>());
  }
  return calm_ns + std::ranges::min(between_ns);
}

json to_json(const ModelTiming& timing) {
  return {{"samples_ns", timing.samples_ns},
          {"steps_ns", timing.steps_ns},
          {"load_begins", timing.load_begins}};
}

ModelTiming model_timing_from_json(const json& j) {
  return {j.at("samples_ns"), j.at("steps_ns"), j.at("load_begins")};
}

std::string to_text(const compiler::Schedule& schedule) {
  return joined(schedule, ",",
                [](const auto& axis) { return axis.first + "=" + std::to_string(axis.second); });
}

std::string to_text(const compiler::Candidate& candidate) {
  return std::string(candidate.impl->name()) + "/" + candidate.format.name + "/" +
         to_text(candidate.schedule);
}

std::string to_text(const bank::Strategy& s) {
  return s.impl + "/" + s.format + "/" + to_text(s.schedule);
}

}  // namespace aoe::tuner
