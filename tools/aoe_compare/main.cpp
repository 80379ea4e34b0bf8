// aoe_compare: two oms of each model, interleaved in one run: medians, their ratio, and the
// geometric mean of all ratios. Made for before against after: a change of the compiler, tuning with and without something,
// the om that was accepted last against the one that was just built (docs/ci.md).
//
//   aoe_compare squeezenet=before.om,after.om bert=a.om,b.om
//
// Prints a Markdown table, or JSON. The exit code is 8 when outputs differ by more than --limit of the range, or when one
// is slower than --min_ratio allows, noise taken off.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/json_text.h"
#include "base/log.h"
#include "base/measuring_notice.h"
#include "tools/aoe_compare/pair.h"
#include "tools/common/figure_text.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"

namespace aoe::tools {
namespace {

using nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;  // count up when a key changes its meaning or goes

struct Row {
  Pair pair;
  PairTimes times;
  bool agrees = true;
  /// Slower than allowed even by the upper end of the interval: what noise alone may have done is no regression.
  bool is_regression = false;
};

ordered_json row_json(const Row& row) {
  const PairTimes& t = row.times;
  return {{"name", row.pair.name},
          {"before_om", row.pair.before_om},
          {"after_om", row.pair.after_om},
          {"before_ms", t.before_ms},
          {"after_ms", t.after_ms},
          {"ratio", t.ratio},
          {"ratio_interval", {t.ratio_interval.low, t.ratio_interval.high}},
          {"noisy_rounds", t.noisy_rounds},
          {"difference", std::isfinite(t.difference) ? ordered_json(t.difference) : ordered_json()},
          {"agrees", row.agrees},
          {"is_regression", row.is_regression}};
}

double geometric_mean(const std::vector<Row>& rows) {
  double log_sum = 0;
  for (const Row& row : rows) log_sum += std::log(row.times.ratio);
  return std::exp(log_sum / static_cast<double>(rows.size()));
}

double least_ratio(const std::vector<Row>& rows) {
  return std::ranges::min_element(rows, {}, [](const Row& row) { return row.times.ratio; })
      ->times.ratio;
}

void print_header() {
  std::printf(
      "| model | before ms | after ms | before / after | 95%% interval | bank hits before | "
      "bank hits after | difference |\n");
  std::printf("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
}

void print_row(const Row& row) {
  constexpr int kMsDecimals = 3;
  const PairTimes& t = row.times;
  std::printf("| %s | %s | %s | %.3f | %.3f to %.3f | %s | %s | %.1e |\n", row.pair.name.c_str(),
              figure_text(t.before_ms, kMsDecimals).c_str(),
              figure_text(t.after_ms, kMsDecimals).c_str(), t.ratio, t.ratio_interval.low,
              t.ratio_interval.high, t.before_hits.c_str(), t.after_hits.c_str(), t.difference);
  std::fflush(stdout);
}

void print_end(const std::vector<Row>& rows, double min_ratio, double limit) {
  std::printf("\ngeometric mean %.3f, least %.3f\n", geometric_mean(rows), least_ratio(rows));
  for (const Row& row : rows) {
    if (row.times.noisy_rounds > 0)
      std::printf("%s: %d rounds met noise and do not count\n", row.pair.name.c_str(),
                  row.times.noisy_rounds);
    if (!row.agrees)
      std::printf("%s: outputs differ by %.1e, more than %.1e of their range\n",
                  row.pair.name.c_str(), row.times.difference, limit);
    if (row.is_regression)
      std::printf("%s: slower than %.3f allows, beyond the noise\n", row.pair.name.c_str(),
                  min_ratio);
  }
}

void print_as_json(const std::vector<Row>& rows, double min_ratio) {
  ordered_json pairs = ordered_json::array();
  for (const Row& row : rows) pairs.push_back(row_json(row));
  const ordered_json all = {{"schema", "aoe.compare"},
                            {"version", kSchemaVersion},
                            {"geometric_mean", geometric_mean(rows)},
                            {"least", least_ratio(rows)},
                            {"min_ratio", min_ratio},
                            {"pairs", pairs}};
  std::cout << json_text(all, 2) << '\n';
}

double least_zero(const po::variables_map& flags, const std::string& name) {
  const auto value = flags[name].as<double>();
  if (value < 0) reject("--" + name, "must be at least 0");
  return value;
}

ExitCode run(const po::variables_map& flags) {
  PairSettings settings{.threads = number_of(flags, "threads", 0, 1024).value(),
                        .loads = number_of(flags, "loads", 1, 1000).value(),
                        .rounds = number_of(flags, "rounds", 1, 100000).value(),
                        .seconds = flags["seconds"].as<double>()};
  if (settings.seconds <= 0) reject("--seconds", "must be more than 0");
  if (flags.contains("om_key")) settings.om_keys = runtime::OmKeys::read(text_of(flags, "om_key"));
  const double limit = least_zero(flags, "limit"), min_ratio = least_zero(flags, "min_ratio");
  const bool is_json = flags.contains("json");
  std::vector<Row> rows;
  for (const std::string& text : flags["pair"].as<std::vector<std::string>>())
    rows.push_back({.pair = parse_pair(text), .times = {}});
  for (const Row& row : rows) check(row.pair, settings);
  const MeasuringNotice notice(*logger("aoe_compare"));
  if (!is_json) print_header();
  for (Row& row : rows) {
    row.times = measure(row.pair, settings);
    row.agrees = row.times.difference <= limit;
    row.is_regression = row.times.ratio_interval.high < min_ratio;
    if (!is_json) print_row(row);
  }
  if (is_json)
    print_as_json(rows, min_ratio);
  else
    print_end(rows, min_ratio, limit);
  const bool is_fine =
      std::ranges::all_of(rows, [](const Row& row) { return row.agrees && !row.is_regression; });
  return is_fine ? ExitCode::kSuccess : ExitCode::kOutputsDiffer;
}

}  // namespace
}  // namespace aoe::tools

int main(int argc, char** argv) {
  using namespace aoe::tools;
  Tool tool{
      .name = "aoe_compare",
      .synopsis = "aoe_compare NAME=BEFORE.om,AFTER.om ... [flags]",
      .summary =
          "Two oms of each model, interleaved in one run: medians, their ratio, and the geometric "
          "mean of all ratios.\nExit code 8 when outputs differ by more than the limit, or one is "
          "slower than --min_ratio allows.",
      .examples =
          "  aoe_compare squeezenet=before.om,after.om bert=a.om,b.om\n"
          "  aoe_compare --min_ratio=0.97 --json net=accepted.om,new.om   # in CI\n"};
  auto add = tool.flags.add_options();
  add("pair",
      po::value<std::vector<std::string>>()->required()->value_name("NAME=BEFORE.om,AFTER.om"),
      "may be given several times, --pair left out");
  add("threads", number_or(0, "N"), "0: what the om was compiled for");
  add("loads", number_or(6, "N"),
      "each om is loaded so often, by a process of its own: where memory and threads lie counts; "
      "an "
      "interval over loads needs 6");
  add("rounds", number_or(18, "N"), "interleaved rounds, divided among the loads");
  add("seconds", po::value<double>()->default_value(0.1, "0.1")->value_name("S"),
      "of each om in each round");
  add("limit", po::value<double>()->default_value(1e-3, "0.001")->value_name("SHARE"),
      "largest difference allowed, of the outputs' range");
  add("min_ratio", po::value<double>()->default_value(0, "0")->value_name("RATIO"),
      "before / after: below it, even by the upper end of its interval, is a regression");
  add("om_key", text("FILE.pub"), "load only oms that this key signed (aoe_sign)");
  add("json", "machine-readable output");
  tool.positional.add("pair", -1);
  tool.run = aoe::tools::run;
  return run_tool(argc, argv, std::move(tool));
}
