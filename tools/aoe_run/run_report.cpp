// Figures of sorted latencies.
#include "tools/aoe_run/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/json_text.h"
#include "base/utf8.h"
#include "tools/common/figure_text.h"

namespace aoe::tools {
using nlohmann::ordered_json;
namespace {

constexpr int kSchemaVersion = 1;  // count up when a key changes its meaning or goes
constexpr double kPercentiles[] = {50, 90, 95, 99};

struct Latencies {
  explicit Latencies(const RunTimes& times) : sorted_ms(times.latencies_ns) {
    for (double& each : sorted_ms) each /= 1e6;
    std::ranges::sort(sorted_ms);
  }
  double median() const {
    return (sorted_ms[(sorted_ms.size() - 1) / 2] + sorted_ms[sorted_ms.size() / 2]) / 2;
  }
  double mean() const {
    return std::accumulate(sorted_ms.begin(), sorted_ms.end(), 0.0) /
           static_cast<double>(sorted_ms.size());
  }

  std::vector<double> sorted_ms;
};

std::string ms_text(double ms) {
  constexpr int kDecimals = 3;
  return figure_text(ms, kDecimals);
}

double runs_per_s(const RunReport& report) {
  return static_cast<double>(report.times.latencies_ns.size()) / report.times.wall_s;
}

double samples_per_s(const RunReport& report) {
  return runs_per_s(report) * static_cast<double>(*report.batch);
}

ordered_json number_or_null(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

ordered_json latency_json(const Latencies& latencies) {
  ordered_json j = {{"median", latencies.median()},
                    {"mean", latencies.mean()},
                    {"min", latencies.sorted_ms.front()},
                    {"max", latencies.sorted_ms.back()}};
  for (const double percent : kPercentiles)
    j[fmt::format("p{:.0f}", percent)] = percentile(latencies.sorted_ms, percent);
  return j;
}

ordered_json op_json(const OpTime& op) {
  return {{"op", op.name},
          {"type", op.type},
          {"task", op.task},
          {"impl", op.impl},
          {"median_us", op.median_ns / 1e3},
          {"flops", op.flops},
          {"bytes", op.bytes},
          {"share", op.share},
          {"roofline", op.roofline ? ordered_json(*op.roofline) : ordered_json(nullptr)}};
}

void print_differences(std::ostream& out, const RunReport& report) {
  for (const OutputDifference& each : *report.differences)
    out << fmt::format("output {}: {} (error {:.3g}, tolerance {:.3g})\n", printable(each.name),
                       each.is_within ? "as the reference" : "DIFFERS", each.error,
                       report.tolerance);
}

}  // namespace

bool RunReport::is_as_expected() const {
  return !differences || std::ranges::all_of(*differences, &OutputDifference::is_within);
}

double percentile(const std::vector<double>& sorted, double percent) {
  const auto count = static_cast<double>(sorted.size());
  const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * count));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

void print_text(std::ostream& out, const RunReport& report) {
  const Latencies latencies(report.times);
  if (report.ops) print_ops(out, *report.ops);
  if (report.differences) print_differences(out, report);
  std::string percentiles = "percentiles_ms";
  for (const double percent : kPercentiles)
    percentiles +=
        fmt::format(" p{:.0f}={}", percent, ms_text(percentile(latencies.sorted_ms, percent)));
  out << percentiles << "\n";
  out << fmt::format("throughput runs_per_s={:.2f}", runs_per_s(report));
  if (report.batch) out << fmt::format(" samples_per_s={:.2f}", samples_per_s(report));
  out << fmt::format(" streams={}\n", report.streams);
  out << fmt::format("latency_ms median={} min={} max={} repeat={}\n", ms_text(latencies.median()),
                     ms_text(latencies.sorted_ms.front()), ms_text(latencies.sorted_ms.back()),
                     latencies.sorted_ms.size());
}

void print_json(std::ostream& out, const RunReport& report) {
  ordered_json j = {
      {"schema", "aoe.run"},
      {"version", kSchemaVersion},
      {"model", report.model},
      {"soc_version", report.soc_version},
      {"gear", report.gear.empty() ? ordered_json(nullptr) : ordered_json(report.gear)},
      {"streams", report.streams},
      {"warmup", report.warmup},
      {"runs", report.times.latencies_ns.size()},
      {"wall_s", report.times.wall_s},
      {"latency_ms", latency_json(Latencies(report.times))}};
  j["throughput"] = {{"runs_per_s", runs_per_s(report)},
                     {"samples_per_s",
                      report.batch ? ordered_json(samples_per_s(report)) : ordered_json(nullptr)}};
  if (report.ops) {
    j["peak_gflops"] = number_or_null(report.peak_gflops.value_or(NAN));
    j["memory_gb_s"] = number_or_null(report.memory_gb_s.value_or(NAN));
    j["ops"] = ordered_json::array();
    for (const OpTime& op : *report.ops) j["ops"].push_back(op_json(op));
  }
  if (report.differences) {
    j["tolerance"] = report.tolerance;
    j["outputs"] = ordered_json::array();
    for (const OutputDifference& each : *report.differences)
      j["outputs"].push_back(
          {{"name", each.name}, {"error", number_or_null(each.error)}, {"within", each.is_within}});
  }
  out << json_text(j, 2, BadUtf8::kReplaced) << "\n";
}

}  // namespace aoe::tools
