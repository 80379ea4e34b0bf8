// Presets: what is shipped loads, what is misspelt does not.
#include "tuner/policy.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"

namespace aoe::tuner {
namespace {
using nlohmann::json;

std::string error_of(const json& j) {
  try {
    (void)policy_from_json(j, "p.json");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kUsage);
    return e.what();
  }
  return "no error";
}

TEST(Policy, DefaultPresetIsTheDefaultsOfTheFields) {
  const auto path = std::filesystem::path(AOE_CONFIGS_DIR) / "tuning/default.json";
  const Policy loaded =
      policy_from_json(parse_json(read_file(path, ExitCode::kData)), "default.json");
  EXPECT_EQ(to_json(loaded), to_json(Policy{}));
}

TEST(Policy, ShippedPresetsLoadAndDifferInEffort) {
  const auto load = [](const std::string& name) {
    const auto path = std::filesystem::path(AOE_CONFIGS_DIR) / "tuning" / (name + ".json");
    return policy_from_json(parse_json(read_file(path, ExitCode::kData)), name);
  };
  EXPECT_LT(load("quick").search.max_trials, load("default").search.max_trials);
  EXPECT_LT(load("default").search.max_trials, load("deep").search.max_trials);
  EXPECT_EQ(load("quick").preset, "quick");
  // Strategies of one preset must be valid for the others.
  EXPECT_EQ(load("quick").measure.name, load("deep").measure.name);
}

TEST(Policy, SurvivesTheWayToTheWorker) {
  MeasurePolicy policy;
  policy.weights_in = WeightsIn::kL3;
  policy.min_samples = 9;
  policy.drop_ratio = 3.5;
  const Policy back = policy_from_json({{"measure", to_json(policy)}}, "wire");
  EXPECT_EQ(to_json(back.measure), to_json(policy));
  EXPECT_EQ(back.measure.weights_in, WeightsIn::kL3);
}

TEST(Policy, RefusesWhatItDoesNotKnowNamingIt) {
  EXPECT_EQ(error_of({{"serach", json::object()}}), "p.json: unknown key \"serach\"");
  EXPECT_EQ(error_of({{"search", {{"max_trails", 3}}}}),
            "p.json (search): unknown key \"max_trails\"");
  EXPECT_EQ(error_of({{"search", {{"max_trials", "many"}}}}),
            "p.json (search): \"max_trials\" must be an integer");
  EXPECT_EQ(error_of({{"search", {{"max_trials", 2.5}}}}),
            "p.json (search): \"max_trials\" must be an integer");
  EXPECT_EQ(error_of({{"search", {{"noise", -1}}}}),
            "p.json (search): \"noise\" must not be negative");
  EXPECT_EQ(error_of({{"measure", {{"max_samples", 4294967300}}}}),
            "p.json (measure): \"max_samples\" must be at most 2147483647");
  EXPECT_EQ(error_of({{"measure", {{"weights_in", "l4"}}}}),
            "p.json (measure): \"weights_in\" must be one of auto, l2, l3, memory");
  EXPECT_EQ(error_of({{"search", {{"batch_size", 0}}}}),
            "p.json: search.batch_size must be positive");
  EXPECT_EQ(error_of(json::array()), "p.json: must be a JSON object");
}

}  // namespace
}  // namespace aoe::tuner
