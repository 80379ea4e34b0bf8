// Compiles and measures the untuned model.
#include "tuner/session/baseline.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/statistics.h"
#include "base/versions.h"
#include "runtime/host_soc.h"
#include "tuner/measure/cache_state.h"

namespace aoe::tuner {

bank::Provenance origin_here(const std::string& model, std::uint64_t seed) {
  const runtime::HostIdentity host = runtime::host_identity();
  return {.engine = engine_version(),
          .llvm = llvm_version(),
          .onednn = onednn_version(),
          .cpu = host.cpu,
          .microcode = host.microcode,
          .kernel = host.kernel,
          .model = model,
          .seed = seed};
}

double Baseline::median_ms() const {
  return median(timing.samples_ns) / 1e6;
}

Baseline compile_baseline(const graph::Graph& graph, const compiler::CompileOptions& compile,
                          const TuneOptions& options) {
  const TimePoint begin = options.now();
  Baseline baseline{.compilation = compiler::compile(graph, compile),
                    .om_path = options.work_directory / "untuned.om"};
  const runtime::Om& om = baseline.compilation.om;
  baseline.weights_in =
      resolved(options.policy.measure.weights_in, om.weights.size() + om.arena_bytes, options.soc);
  baseline.policy_text =
      fmt::format("{} weights_in={}", options.policy.measure.name, name(baseline.weights_in));
  baseline.origin = origin_here(graph.name, options.seed);
  baseline.compile_s = seconds_between(begin, options.now());
  return baseline;
}

bool measure_baseline(Baseline& baseline, const graph::Graph& graph, Measurer& measurer,
                      const TuneOptions& options) {
  const TimePoint begin = options.now();
  write_file_atomically(baseline.om_path, baseline.compilation.om.file().pieces());
  measurer.set_weights_in(baseline.weights_in);
  const std::filesystem::path paths[] = {baseline.om_path};
  auto timings = measurer.run_models(paths);
  if (options.stop.stop_requested()) return false;
  if (!timings) {
    if (options.deadline.has_passed()) return false;
    throw Error(ExitCode::kFailure, "the untuned model does not run: " + timings.error(),
                graph.name);
  }
  baseline.timing = std::move(timings->front());
  baseline.measure_s = seconds_between(begin, options.now());
  logger("tuner")->info("model={} untuned_ms={:.3f} weights_in={}", graph.name,
                        baseline.median_ms(), name(baseline.weights_in));
  return true;
}

}  // namespace aoe::tuner
