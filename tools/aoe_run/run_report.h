// What aoe_run says of its runs, as text or as JSON.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tools/aoe_run/profile_table.h"
#include "tools/aoe_run/reference_outputs.h"
#include "tools/aoe_run/streams.h"

namespace aoe::tools {

struct RunReport {
  std::string model, soc_version, gear;  ///< gear: empty without
  std::size_t streams = 1;
  int warmup = 1;
  std::optional<std::int64_t> batch;  ///< samples in a run, where --batch says so
  RunTimes times;
  std::optional<std::vector<OpTime>> ops;          ///< of --profile
  std::optional<double> peak_gflops, memory_gb_s;  ///< as the om states them
  double tolerance = 0;
  std::optional<std::vector<OutputDifference>> differences;  ///< of --reference

  bool is_as_expected() const;
};

/// The value that `percent` of all are not above; of at least one, sorted.
double percentile(const std::vector<double>& sorted, double percent);

/// The last line is "latency_ms median=... min=... max=... repeat=...".
void print_text(std::ostream& out, const RunReport& report);
/// Schema "aoe.run", docs/aoe_run.md.
void print_json(std::ostream& out, const RunReport& report);

}  // namespace aoe::tools
