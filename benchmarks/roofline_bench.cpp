// roofline_bench: how near models come to what the machine can do. Each is compiled without a bank and run in turns with two
// loops: one reads an array that no cache holds, one adds products in registers. Prints a Markdown table: what a run reads of
// weights by the second, of what the first reads; its multiply-adds by the second, of the second's. The medians of the rounds' own
// shares, since the speed of memory changes with the minute.
#include <boost/program_options.hpp>
#include <cstdio>
#include <filesystem>

#include "base/statistics.h"
#include "benchmarks/bound_om.h"
#include "benchmarks/model_inputs.h"
#include "compiler/pipeline.h"
#include "tools/common/tool.h"
#include "tuner/measure/roofs.h"

namespace aoe::benchmarks {
namespace {
namespace fs = std::filesystem;
namespace po = boost::program_options;

struct Settings {
  std::vector<std::string> models;
  int threads = 2;
  int rounds = 5;
  double seconds = 0.5;
  bool mixed_precision = false;
};

/// What one run needs at least.
struct Needs {
  double weight_bytes = 0;  ///< as they are packed; of tables that rows are gathered from nothing
  double flops = 0;
};

Needs needs_of(const runtime::Om& om) {
  Needs needs;
  for (const runtime::OmStep& step : om.steps) {
    needs.flops += step.flops;
    if (step.call.type == "Gather" || step.call.type == "GatherV2") continue;
    std::vector<int> read = step.inputs;
    read.insert(read.end(), step.constants.begin(), step.constants.end());
    for (const int id : read) {
      if (id < 0) continue;
      const runtime::OmTensor& tensor = om.tensors[static_cast<std::size_t>(id)];
      if (tensor.place == runtime::Place::kWeight)
        needs.weight_bytes += static_cast<double>(storage_bytes(tensor.desc));
    }
  }
  return needs;
}

void measure(const std::string& path, const Settings& settings, const compiler::Soc& soc) {
  compiler::ModelSource source{.path = path};
  if (settings.mixed_precision) source.precision = {.allow_bf16 = true, .allow_fp16 = true};
  const compiler::PreparedModel model = compiler::prepare(source, {.soc = soc});
  compiler::Compilation compilation = compiler::compile(model, {.soc = soc});
  const Needs needs = needs_of(compilation.om);
  BoundOm om(std::move(compilation), model.graph.name, soc.threads);
  const std::vector<NamedTensor> inputs = inputs_of(om, "");
  om.feed(inputs);
  om.run(0, 2);
  std::vector<double> ms, read_share, flops_share, read, peak;
  for (int round = 0; round < settings.rounds; ++round) {
    ms.push_back(median(om.run(settings.seconds, 3)));
    read.push_back(tuner::read_gb_s(soc));
    peak.push_back(tuner::fma_peak_gflops(soc));
    read_share.push_back(needs.weight_bytes / ms.back() * 1e-6 / read.back());
    flops_share.push_back(needs.flops / ms.back() * 1e-6 / peak.back());
  }
  std::printf("| %s | %.2f | %.1f | %.1f | %.1f | %.0f%% | %.2f | %.1f | %.1f | %.0f%% |\n",
              fs::path(path).stem().c_str(), median(ms), needs.weight_bytes * 1e-6,
              needs.weight_bytes / median(ms) * 1e-6, median(read), 100 * median(read_share),
              needs.flops * 1e-9, needs.flops / median(ms) * 1e-6, median(peak),
              100 * median(flops_share));
  std::fflush(stdout);
}

ExitCode run(const Settings& settings) {
  const compiler::Soc soc = compiler::detect_soc(settings.threads);
  std::printf("soc %s, %d thread(s)\n\n", soc.version.c_str(), soc.threads);
  std::printf(
      "| model | ms | MB of weights | GB/s | a loop reads | share | GFLOP | GFLOP/s | a loop adds "
      "| "
      "share |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const std::string& model : settings.models) measure(model, settings, soc);
  return ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::benchmarks

int main(int argc, char** argv) {
  using namespace aoe::benchmarks;
  Settings settings;
  aoe::tools::Tool tool{
      .name = "roofline_bench",
      .synopsis = "roofline_bench [flags] MODEL.onnx ...",
      .summary =
          "Models against the bandwidth and the multiply-adds that the machine has right now."};
  tool.flags.add_options()("threads", po::value(&settings.threads)->default_value(2), "threads")(
      "rounds", po::value(&settings.rounds)->default_value(5),
      "of the model and both loops in turn")(
      "seconds", po::value(&settings.seconds)->default_value(0.5, "0.5"),
      "least time of the model in each")("mixed_precision",
                                         po::bool_switch(&settings.mixed_precision),
                                         "compile with --precision_mode=allow_mix_precision")(
      "model", po::value(&settings.models)->required()->value_name("FILE"), "ONNX files");
  tool.positional.add("model", -1);
  tool.run = [&settings](const po::variables_map&) { return run(settings); };
  return aoe::tools::run_tool(argc, argv, std::move(tool));
}
