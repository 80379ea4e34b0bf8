// Compiles and measures the untuned model.
#include "tuner/session/baseline.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "tuner/measure/cache_state.h"
#include "tuner/measure/statistics.h"

namespace aoe::tuner {

double Baseline::median_ms() const {
  return median(timing.samples_ns) / 1e6;
}

compiler::CompileOptions compile_options_of(const TuneOptions& options) {
  compiler::CompileOptions compile;
  compile.soc = options.soc;
  compile.compile_threads = options.compile_threads;
  return compile;
}

std::optional<Baseline> measure_baseline(const graph::Graph& graph,
                                         const compiler::CompileOptions& compile,
                                         Measurer& measurer, const TuneOptions& options) {
  Baseline baseline{.compilation = compiler::compile(graph, compile),
                    .om_path = options.work_directory / "untuned.om"};
  const runtime::Om& om = baseline.compilation.om;
  write_file_atomically(baseline.om_path, om.serialize());
  baseline.weights_in =
      resolved(options.policy.measure.weights_in, om.weights.size() + om.arena_bytes, options.soc);
  measurer.set_weights_in(baseline.weights_in);
  baseline.policy_text =
      fmt::format("{} weights_in={}", options.policy.measure.name, name(baseline.weights_in));
  const std::filesystem::path paths[] = {baseline.om_path};
  auto timings = measurer.run_models(paths);
  if (options.stop.stop_requested()) return std::nullopt;
  if (!timings)
    throw Error(ExitCode::kFailure, "the untuned model does not run: " + timings.error(),
                graph.name);
  baseline.timing = std::move(timings->front());
  logger("tuner")->info("model={} untuned_ms={:.3f} weights_in={}", graph.name,
                        baseline.median_ms(), name(baseline.weights_in));
  return baseline;
}

AoeResult result_of_run(const TuneOptions& options) {
  AoeResult result;
  result.tuning_name = options.tuning_name;
  result.soc_version = options.soc.version;
  result.threads = options.soc.threads;
  for (const GearValues& gear : options.gears.values) result.gears.push_back(gear_text(gear));
  return result;
}

}  // namespace aoe::tuner
