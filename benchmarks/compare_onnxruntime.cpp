// compare_onnxruntime: ONNX Runtime, the untuned om and the tuned om of each model, interleaved in
// one run, and whether their outputs agree. Prints a Markdown table; the exit code is 8 when an
// output differs by more than the limit.
#include <algorithm>
#include <boost/program_options.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/temporary_directory.h"
#include "benchmarks/bound_om.h"
#include "benchmarks/disturbers.h"
#include "benchmarks/model_inputs.h"
#include "benchmarks/onnxruntime_peer.h"
#include "compiler/pipeline.h"
#include "options/banks.h"
#include "tools/common/tool.h"

namespace aoe::benchmarks {
namespace {
namespace fs = std::filesystem;
namespace po = boost::program_options;

struct Settings {
  std::vector<std::string> models;
  int threads = 2;
  int rounds = 9;
  double seconds = 0.25;
  double limit = 1e-3;
  int disturbers = 0;
  bool slow_core = false;
  bool mixed_precision = false;
  std::string input_shape;  ///< as of atc
  std::string sizes;        ///< of runs, where these leave some open
  std::string feed;         ///< "sr:16000": this number in all of an input, which stays an input
  fs::path server;
};

BoundOm bound(const compiler::PreparedModel& model, const compiler::CompileOptions& options) {
  return {compiler::compile(model, options), model.graph.name, options.soc.threads};
}

double largest_difference(BoundOm& om, const std::vector<NamedTensor>& expected) {
  const std::vector<Tensor>& outputs = om.outputs();
  double worst = 0;
  for (std::size_t o = 0; o < outputs.size(); ++o)
    worst = std::max(worst, difference(outputs[o], expected.at(o).value->view()));
  return worst;
}

struct Row {
  std::string model;
  double peer_ms = 0, untuned_ms = 0, tuned_ms = 0;
  double untuned_ratio = 0, tuned_ratio = 0;  ///< medians of the rounds' own ratios
  double untuned_difference = 0, tuned_difference = 0;
  int hits = 0;
  std::size_t subgraph_hits = 0;
};

/// What aoe has won, as atc would apply it.
struct BankSources {
  const bank::StrategySource& op;
  const bank::StrategySource& graph;
};

Row compare(const std::string& path, const Settings& settings, const compiler::Soc& soc,
            const BankSources& banks, const fs::path& scratch) {
  compiler::ModelSource source{.path = path};
  source.import.input_shapes = graph::parse_input_shapes(
      settings.input_shape,
      settings.sizes.empty() ? graph::OpenSizes::kRefused : graph::OpenSizes::kTaken);
  BoundOm untuned = bound(compiler::prepare(source, {.soc = soc}), {.soc = soc});
  if (settings.mixed_precision) source.precision = {.allow_bf16 = true, .allow_fp16 = true};
  const compiler::PreparedModel model =
      compiler::prepare(source, {.soc = soc, .graph_bank = &banks.graph});
  BoundOm tuned = bound(model, {.soc = soc, .strategies = &banks.op});
  OnnxRuntimePeer peer(settings.server);
  peer.load(path, settings.threads);
  const std::vector<NamedTensor> inputs = inputs_of(untuned, settings.feed, settings.sizes);
  untuned.feed(inputs);
  tuned.feed(inputs);
  peer.feed(inputs, scratch);

  Row row{.model = fs::path(path).stem().string()};
  const std::vector<NamedTensor> expected = peer.outputs(scratch);
  row.untuned_difference = largest_difference(untuned, expected);
  row.tuned_difference = largest_difference(tuned, expected);
  row.hits = tuned.bank_hits();
  row.subgraph_hits = model.subgraphs.size();

  const Disturbers disturbers(settings.disturbers, settings.slow_core);
  std::vector<double> peer_ms, untuned_ms, tuned_ms, untuned_ratio, tuned_ratio;
  for (int round = -1; round < settings.rounds; ++round) {
    double ms[3] = {};
    for (int turn = 0; turn < 3; ++turn) {
      const int who = (turn + round + 1) % 3;  // no contender always runs first
      peer.wait_until_idle();
      ms[who] = median(who == 0   ? peer.run(settings.seconds, 3)
                       : who == 1 ? untuned.run(settings.seconds, 3)
                                  : tuned.run(settings.seconds, 3));
    }
    if (round < 0) continue;  // warm-up
    peer_ms.push_back(ms[0]);
    untuned_ms.push_back(ms[1]);
    tuned_ms.push_back(ms[2]);
    untuned_ratio.push_back(ms[0] / ms[1]);
    tuned_ratio.push_back(ms[0] / ms[2]);
  }
  row.peer_ms = median(peer_ms);
  row.untuned_ms = median(untuned_ms);
  row.tuned_ms = median(tuned_ms);
  row.untuned_ratio = median(untuned_ratio);
  row.tuned_ratio = median(tuned_ratio);
  return row;
}

void print_header(const compiler::Soc& soc) {
  std::printf(
      "soc %s, %d thread(s); ratio = ONNX Runtime ms / our ms; difference = largest, of the "
      "output's range\n\n",
      soc.version.c_str(), soc.threads);
  std::printf(
      "| model | ONNX Runtime ms | untuned om ms | tuned om ms | untuned ratio | tuned ratio | "
      "bank hits | subgraph hits | untuned difference | tuned difference |\n");
  std::printf("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
}

void print(const Row& row) {
  std::printf("| %s | %.3f | %.3f | %.3f | %.2f | %.2f | %d | %zu | %.1e | %.1e |\n",
              row.model.c_str(), row.peer_ms, row.untuned_ms, row.tuned_ms, row.untuned_ratio,
              row.tuned_ratio, row.hits, row.subgraph_hits, row.untuned_difference,
              row.tuned_difference);
  std::fflush(stdout);
}

ExitCode run(const Settings& settings) {
  const compiler::Soc soc = compiler::detect_soc(settings.threads);
  const auto open = [&](bank::BankKind kind) {
    return options::open_banks(kind, bank::BankUse::kRead, soc.version);
  };
  const options::Banks op_banks = open(bank::BankKind::kOp);
  const options::Banks graph_banks = open(bank::BankKind::kGraph);
  const bank::LayeredSource op = op_banks.layered(), graph = graph_banks.layered();
  const TemporaryDirectory scratch("aoe_compare");
  print_header(soc);
  double log_untuned = 0, log_tuned = 0, least_tuned = INFINITY, worst = 0;
  for (const std::string& model : settings.models) {
    const Row row = compare(model, settings, soc, {op, graph}, scratch.path());
    print(row);
    log_untuned += std::log(row.untuned_ratio);
    log_tuned += std::log(row.tuned_ratio);
    least_tuned = std::min(least_tuned, row.tuned_ratio);
    worst = std::max({worst, row.untuned_difference, row.tuned_difference});
  }
  const auto count = static_cast<double>(settings.models.size());
  std::printf(
      "\ngeometric mean: untuned %.3f, tuned %.3f; least tuned ratio %.3f; largest difference "
      "%.1e\n",
      std::exp(log_untuned / count), std::exp(log_tuned / count), least_tuned, worst);
  if (worst <= settings.limit) return ExitCode::kSuccess;
  std::fprintf(stderr, "outputs differ by more than %.1e of their range\n", settings.limit);
  return ExitCode::kOutputsDiffer;
}

}  // namespace
}  // namespace aoe::benchmarks

int main(int argc, char** argv) {
  using namespace aoe::benchmarks;
  Settings settings;
  settings.server = fs::path(AOE_BENCHMARKS_DIR) / "onnxruntime/server.js";
  aoe::tools::Tool tool{.name = "compare_onnxruntime",
                        .synopsis = "compare_onnxruntime [flags] MODEL.onnx ...",
                        .summary = "Untuned and tuned oms of models against ONNX Runtime."};
  tool.flags.add_options()("threads", po::value(&settings.threads)->default_value(2),
                           "threads of both")("rounds",
                                              po::value(&settings.rounds)->default_value(9),
                                              "interleaved rounds; each times all three once")(
      "seconds", po::value(&settings.seconds)->default_value(0.25, "0.25"),
      "least time of one turn")("mixed_precision", po::bool_switch(&settings.mixed_precision),
                                "compile the tuned om with --precision_mode=allow_mix_precision")(
      "disturbers", po::value(&settings.disturbers)->default_value(0),
      "processes that spin on the cores while times are taken")(
      "slow_core", po::bool_switch(&settings.slow_core),
      "one core at half its speed while times are taken; needs CAP_SYS_NICE")(
      "input_shape", po::value(&settings.input_shape), "of inputs with open sizes, as of atc")(
      "sizes", po::value(&settings.sizes), "of runs, where --input_shape leaves some open")(
      "feed", po::value(&settings.feed),
      "\"sr:16000\": the numbers of an input, instead of random ones")(
      "server", po::value(&settings.server)->value_name("FILE"),
      "onnxruntime/server.js (default) of Node.js' ONNX Runtime, or server.py of Python's")(
      "limit", po::value(&settings.limit)->default_value(1e-3),
      "largest difference, of the output's range")(
      "model", po::value(&settings.models)->required()->value_name("FILE"), "ONNX files");
  tool.positional.add("model", -1);
  tool.run = [&settings](const po::variables_map&) { return run(settings); };
  return aoe::tools::run_tool(argc, argv, std::move(tool));
}
