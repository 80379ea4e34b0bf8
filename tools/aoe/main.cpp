// aoe: tunes the subgraphs or the operators of an ONNX model on this machine.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <thread>

#include "base/file.h"
#include "base/log.h"
#include "compiler/graph_strategies.h"
#include "graph/precision.h"
#include "tools/aoe/job.h"
#include "tools/aoe/progress.h"
#include "tools/aoe/report.h"
#include "tools/aoe/scratch_directory.h"
#include "tools/aoe/settings.h"
#include "tools/common/banks.h"
#include "tools/common/float16_choice.h"
#include "tools/common/model_graph.h"
#include "tools/common/stop_signals.h"
#include "tools/common/tool.h"
#include "tuner/measure/machine_load.h"
#include "tuner/measure/worker.h"
#include "tuner/measure/worker_measurer.h"
#include "tuner/precision/mixed_precision.h"
#include "tuner/tuner.h"

namespace aoe::tools {
namespace {
namespace fs = std::filesystem;

void make_directory(const fs::path& directory) {
  std::error_code status;
  fs::create_directories(directory, status);
  if (status)
    throw Error(ExitCode::kOutput, "cannot be created: " + status.message(), directory.string(),
                "set ASCEND_WORK_PATH to a writable place");
}

ExitCode exit_code(const tuner::TuneOutcome& outcome) {
  switch (outcome.state) {
    case tuner::TuningState::kSuccessful:
      return ExitCode::kSuccess;
    case tuner::TuningState::kFailed:
      return ExitCode::kFailure;
    case tuner::TuningState::kIncomplete:
      break;
  }
  return ExitCode::kInterrupted;
}

/// The run is whole, but the next one and atc would not know of it.
Error bank_error(const std::vector<tuner::RescuedBank>& rescued) {
  std::string commands;
  for (const tuner::RescuedBank& each : rescued)
    commands += (commands.empty() ? "" : " && ") + ("aoe_bank import " + each.file.string());
  return Error(ExitCode::kBank, rescued.front().cause + "; the model and the result are written",
               {}, "when the bank works again: " + commands);
}

/// Noise is worth a word, but no refusal: on a build machine it may be all there is.
void warn_of_load() {
  constexpr std::chrono::milliseconds kWatch(200);  // 20 ticks of the kernel's clock a core
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto used = tuner::watch_busy_cores(kWatch, cores);
  const auto warning = used ? tuner::load_warning(*used, cores) : std::nullopt;
  if (warning) logger("aoe")->warn("{}", *warning);
}

void lower_precision(graph::Graph& graph, const tuner::TuneOptions& tuning, bool allows_fp16) {
  compiler::CompileOptions options;
  options.soc = tuning.soc;
  options.soc.has_fp16 &= allows_fp16;
  options.compile_threads = tuning.compile_threads;
  const tuner::MixedPrecision choice = tuner::choose_bf16(graph, options);
  logger("aoe")->info("bfloat16 in {} of {} products, error {:.1e} of the range", choice.lowered,
                      choice.candidates, choice.error);
}

/// What a tuning run works on: the operators of the graph as subgraph tuning has left it, or its
/// subgraphs.
struct Work {
  graph::Graph graph;
  std::optional<graph::Graph> full_precision;  ///< in float32, when `graph` is not
};

void apply_graph_bank(graph::Graph& graph, Settings& settings, const Banks& graph_banks) {
  settings.tuning.subgraphs =
      compiler::apply_graph_strategies(graph, graph_banks.layered(), settings.tuning.soc);
  if (!settings.tuning.subgraphs.empty())
    logger("aoe")->info("graph bank {}: {} subgraphs hit the bank",
                        graph_banks.location.directory.string(), settings.tuning.subgraphs.size());
}

Work prepare(Settings& settings, const Banks& graph_banks) {
  const bool is_rounded = settings.job_type == JobType::kOperators &&
                          settings.model.precision.float16 != graph::Float16Rounding::kOff;
  if (is_rounded)
    keep_float16_to_budget(settings.model, {},
                           {.soc = settings.tuning.soc,
                            .compile_threads = settings.tuning.compile_threads,
                            .fixed = {},
                            .subgraphs = {}},
                           "aoe");
  graph::GearedGraph model =
      is_rounded ? read_graph(settings.model, {}) : read_graph_in_float32(settings.model, {});
  Work work{.graph = std::move(model.graph)};
  check_filter(settings.tuning.filter, work.graph, "--tune_ops_file " + settings.tune_ops_file);
  settings.tuning.gears = model.gears;
  if (settings.job_type == JobType::kSubgraphs) return work;  // in float32, whatever comes later
  apply_graph_bank(work.graph, settings, graph_banks);
  if (graph::has_byte_products(work.graph) || is_rounded)
    work.full_precision =
        read_graph_in_float32(settings.model, {.disabled = {graph::kBytePass}}).graph;
  if (settings.model.precision.allow_bf16) {
    if (!work.full_precision) work.full_precision = work.graph;
    keep_dtypes(work.graph, settings.model.op_precision);
    lower_precision(work.graph, settings.tuning, settings.model.precision.allow_fp16);
    graph::forget_kept_dtypes(work.graph);
  }
  return work;
}

ExitCode tune(const po::variables_map& flags) {
  Settings settings = read_settings(flags);
  std::optional<Job> job = settings.reload
                               ? Job::find(*settings.reload, settings.work_path, settings.job)
                               : std::nullopt;
  const StopSignals signals;
  settings.tuning.stop = signals.token();
  const bool is_sgat = settings.job_type == JobType::kSubgraphs;
  const std::string& soc_version = settings.tuning.soc.version;
  const Banks op_banks = open_banks(bank::BankKind::kOp, bank::BankUse::kTune, soc_version);
  const Banks graph_banks = open_banks(bank::BankKind::kGraph, bank::BankUse::kTune, soc_version);
  const Work work = prepare(settings, graph_banks);
  if (work.full_precision) settings.tuning.full_precision = &*work.full_precision;

  op_banks.custom->require_writable();
  if (is_sgat) graph_banks.custom->require_writable();  // which keeps operators as well
  if (!job) job = Job::create(settings.work_path, settings.job);
  job->place(settings.tuning, settings.om_suffix);
  warn_of_load();
  make_directory(settings.tuning.tuned_om_path.parent_path());
  remove_abandoned_scratch(
      settings.tuning.work_directory.parent_path().parent_path().parent_path());
  const ScratchDirectory scratch(settings.tuning.work_directory);
  tuner::WorkerMeasurer measurer({.soc = settings.tuning.soc,
                                  .policy = settings.tuning.policy.measure,
                                  .compile_threads = settings.tuning.compile_threads,
                                  .stop = settings.tuning.stop});
  const Banks& banks = is_sgat ? graph_banks : op_banks;
  const bank::LayeredSource op_strategies = op_banks.layered();
  tuner::TuneOutcome outcome;
  {
    ProgressDisplay display;
    if (settings.shows_progress)
      settings.tuning.on_progress = [&](const tuner::Progress& progress) {
        display.show(progress);
      };
    outcome = is_sgat ? tuner::tune_subgraphs({.graph = work.graph,
                                               .graph_bank = *banks.custom,
                                               .built_in = banks.built_in.get(),
                                               .op_strategies = &op_strategies,
                                               .op_bank = op_banks.custom.get()},
                                              measurer, settings.tuning)
                      : tuner::tune_operators(work.graph, *banks.custom, banks.built_in.get(),
                                              measurer, settings.tuning);
  }
  if (outcome.om_written && !settings.output.empty())
    write_file_atomically(settings.output, read_file(settings.tuning.tuned_om_path, ExitCode::kOm));
  print_report(std::cout, settings, outcome, banks.custom->directory());
  if (!outcome.rescued.empty()) throw bank_error(outcome.rescued);
  return exit_code(outcome);
}

}  // namespace
}  // namespace aoe::tools

int main(int argc, char** argv) {
  aoe::tuner::run_if_worker(argc, argv);
  using namespace aoe::tools;
  Tool tool;
  tool.name = "aoe";
  tool.synopsis = "aoe --job_type=1|2 --framework=5 --model=M.onnx [flags]";
  tool.summary =
      "Tunes the subgraphs (1) or operators (2) of a model by measuring on this machine, keeps "
      "the\n"
      "winning strategies\n"
      "in the knowledge bank, and writes the tuned model and a result file.";
  tool.examples =
      "  aoe --job_type=1 --framework=5 --model=resnet50.onnx\n"
      "  aoe --job_type=2 --framework=5 --model=resnet50.onnx\n"
      "  aoe -j 2 -f 5 -m bert.onnx --input_shape=\"input_ids:1,128\" --output=bert_tuned\n"
      "  aoe -j 2 -m m.onnx --input_shape=\"data:-1,3,224,224\" --dynamic_batch_size=\"1,4,8\"\n"
      "  REPEAT_TUNE=True aoe -j 2 -m resnet50.onnx --time_limit=120\n\n"
      "Variables: TUNE_BANK_PATH and ASCEND_CACHE_PATH (bank), ASCEND_WORK_PATH (files), "
      "REPEAT_TUNE,\n"
      "  TE_PARALLEL_COMPILER (compile threads), OMP_NUM_THREADS, AOE_CONFIG_DIR, NO_COLOR\n";
  add_flags(tool.flags);
  tool.run = tune;
  return run_tool(argc, argv, std::move(tool));
}
