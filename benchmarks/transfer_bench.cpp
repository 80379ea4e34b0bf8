// transfer_bench: how much of the gain that tuning gives do the records of other shapes give alone,
// without a single measurement of the model's own tasks? The untuned model, the model with predicted
// strategies and the tuned model run interleaved; printed are their times and
//
//   share = (untuned - predicted) / (untuned - tuned)
//
// where tuning proves a gain; elsewhere there is nothing to share, and predictions should cost nothing.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <numeric>
#include <set>

#include "bank/knowledge_bank.h"
#include "base/error.h"
#include "base/file.h"
#include "base/statistics.h"
#include "base/temporary_directory.h"
#include "compiler/compiler.h"
#include "graph/import/onnx_import.h"
#include "graph/passes.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"
#include "tuner/measure/cache_state.h"
#include "tuner/measure/worker.h"
#include "tuner/measure/worker_measurer.h"
#include "tuner/search/search.h"
#include "tuner/tasks/neighbours.h"
#include "tuner/tasks/operator_list.h"

namespace aoe::tuner {
namespace {
namespace fs = std::filesystem;

constexpr std::size_t kNeighbours = 8;

struct Settings {
  fs::path bank, tuned_bank;
  int threads = 0;  ///< 0: of all cores
  bool print_tasks = false;
};

/// What a bank knows of tasks that are not among `left_out`.
struct Experience {
  CostModel model;
  std::vector<Neighbour> winners;

  Experience(const bank::KnowledgeBank& bank, const std::set<std::string>& left_out) {
    std::vector<Lesson> lessons;
    for (const bank::BankEntry& entry : bank.entries()) {
      if (left_out.contains(entry.key.description)) continue;
      for (Lesson& lesson : lessons_of(bank.records(entry.key)))
        lessons.push_back(std::move(lesson));
      if (auto winner = neighbour_of(entry)) winners.push_back(std::move(*winner));
    }
    model.learn(std::move(lessons));
  }
};

/// Strategies that nobody measured.
class Predictions : public bank::StrategySource {
 public:
  void add(const OperatorTask& task, const std::vector<Prediction>& predictions) {
    bank::StrategySet& set = sets_[task.key.description];
    for (const Prediction& p : predictions) {
      set.strategies.push_back(compiler::strategy_of(p.candidate));
      set.strategies.back().measured.time_ns = p.expected_ns;
    }
  }
  std::optional<bank::StrategySet> find(const bank::TaskKey& key) const override {
    const auto found = sets_.find(key.description);
    return found == sets_.end() ? std::nullopt : std::optional(found->second);
  }
  std::string description() const override { return "predictions"; }

 private:
  std::map<std::string, bank::StrategySet> sets_;  ///< by the task's description
};

class Transfer {
 public:
  explicit Transfer(const Settings& settings)
      : settings_(settings),
        soc_(compiler::detect_soc(settings.threads)),
        bank_(settings.bank, {.soc_version = soc_.version, .read_only = true}),
        tuned_bank_(settings.tuned_bank, {.soc_version = soc_.version, .read_only = true}) {}

  void run(const std::string& path) {
    graph::Graph graph = graph::import_onnx(path, {});
    graph::run_passes(graph, {});
    const compiler::Compilation untuned = compiler::compile(graph, {.soc = soc_});
    const std::vector<OperatorTask> tasks = collect_operators(graph, untuned, soc_, {});
    std::set<std::string> own;
    for (const OperatorTask& task : tasks) own.insert(task.key.description);
    const Experience experience(bank_, own);

    const Predictions predictions = predict_all(tasks, experience, untuned);
    const compiler::Compilation predicted =
        compiler::compile(graph, {.soc = soc_, .strategies = &predictions});
    const compiler::Compilation tuned =
        compiler::compile(graph, {.soc = soc_, .strategies = &tuned_bank_});
    const std::vector<const compiler::Compilation*> models = {&untuned, &predicted, &tuned};
    const std::vector<ModelTiming> timings = time(models);
    if (settings_.print_tasks) print_tasks(tasks, timings, models);
    report(graph.name, tasks.size(), timings);
  }

  void print_mean() const {
    if (!shares_.empty())
      fmt::print(
          "mean share of {} models with a gain: {:.0f}%\n", shares_.size(),
          100 * std::reduce(shares_.begin(), shares_.end()) / static_cast<double>(shares_.size()));
  }

 private:
  void report(const std::string& name, std::size_t tasks, const std::vector<ModelTiming>& timings) {
    const Comparison predicted = faster_by(timings[0], timings[1]),
                     tuned = faster_by(timings[0], timings[2]);
    std::string share = "nothing to share";
    if (tuned.is_faster()) {
      shares_.push_back((1 - 1 / predicted.speedup) / (1 - 1 / tuned.speedup));
      share = fmt::format("share of the gain {:.0f}%", 100 * shares_.back());
    }
    fmt::print("{}: {} tasks, untuned {:.3f} ms; predicted {}, tuned {}; {}\n", name, tasks,
               median(timings[0].samples_ns) / 1e6, text_of(predicted), text_of(tuned), share);
  }

  static Comparison faster_by(const ModelTiming& before, const ModelTiming& after) {
    constexpr double kMargin = 0.01;
    return compare_groups(before.samples_ns, after.samples_ns, before.load_begins, kMargin);
  }
  static std::string text_of(const Comparison& c) {
    return fmt::format("{:.3f} ({:.3f} to {:.3f}) times as fast, {}", c.speedup, c.low, c.high,
                       aoe::name(c.verdict));
  }

  Predictions predict_all(const std::vector<OperatorTask>& tasks, const Experience& experience,
                          const compiler::Compilation& untuned) const {
    const WeightsIn weights_in =
        resolved(WeightsIn::kAuto, untuned.om.weights.size() + untuned.om.arena_bytes, soc_);
    Predictions predictions;
    for (const OperatorTask& task : tasks) {
      const SearchTask what{
          .task = task.task,
          .soc = soc_,
          .default_candidate = task.default_candidate,
          .seeds = seeds_from_neighbours(task, experience.winners, soc_, kNeighbours),
          .heuristics = task.heuristics,
          .experience = &experience.model,
          .weights_in = weights_in};
      predictions.add(task, predict(what));
    }
    return predictions;
  }

  /// In the models, all ops of a task together.
  static void print_tasks(const std::vector<OperatorTask>& tasks,
                          const std::vector<ModelTiming>& timings,
                          const std::vector<const compiler::Compilation*>& models) {
    std::map<graph::NodeId, std::array<double, 3>> node_us;
    for (std::size_t m = 0; m < timings.size(); ++m)
      for (std::size_t s = 0; s < timings[m].steps_ns.size(); ++s)
        node_us[models[m]->steps[s].node][m] += median(timings[m].steps_ns[s]) / 1e3;
    for (const OperatorTask& task : tasks) {
      std::array<double, 3> us{};
      for (const graph::NodeId node : task.ids)
        for (std::size_t m = 0; m < us.size(); ++m) us[m] += node_us[node][m];
      const auto report =
          std::ranges::find(models[1]->nodes, task.ids.front(), &compiler::NodeReport::id);
      fmt::print("  {:<40} untuned {:8.1f} us, predicted {:8.1f} us, tuned {:8.1f} us; {} {} {}\n",
                 task.shape_text(), us[0], us[1], us[2], report->impl, report->format,
                 to_text(report->schedule));
    }
  }

  std::vector<ModelTiming> time(const std::vector<const compiler::Compilation*>& contenders) const {
    const TemporaryDirectory directory("transfer_bench");
    std::vector<fs::path> paths;
    for (const compiler::Compilation* contender : contenders) {
      paths.push_back(directory.path() / (std::to_string(paths.size()) + ".om"));
      write_file_atomically(paths.back(), contender->om.serialize());
    }
    auto timings = tuner::WorkerMeasurer({.soc = soc_}).run_models(paths);
    if (!timings) throw Error(ExitCode::kFailure, timings.error());
    return *std::move(timings);
  }

  const Settings& settings_;
  compiler::Soc soc_;
  bank::KnowledgeBank bank_, tuned_bank_;
  std::vector<double> shares_;  ///< of the models that tuning made faster
};

ExitCode run(const tools::po::variables_map& flags) {
  const std::string bank = tools::text_of(flags, "bank");
  const std::string tuned_bank = tools::text_of(flags, "tuned_bank");
  const Settings settings{.bank = bank,
                          .tuned_bank = tuned_bank.empty() ? bank : tuned_bank,
                          .threads = tools::threads_of(flags),
                          .print_tasks = flags["tasks"].as<bool>()};
  Transfer transfer(settings);
  for (const std::string& model : flags["model"].as<std::vector<std::string>>())
    transfer.run(model);
  transfer.print_mean();
  return ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::tuner

int main(int argc, char** argv) {
  using namespace aoe::tools;
  aoe::tuner::run_if_worker(argc, argv);
  Tool tool{.name = "transfer_bench",
            .synopsis = "transfer_bench --bank=DIR [flags] MODEL.onnx ...",
            .summary =
                "How much of the gain of tuning the records of other shapes give alone, "
                "without a measurement of the model's own tasks."};
  auto add = tool.flags.add_options();
  add("bank", text("DIR")->required(), "op bank of one soc_version whose records teach");
  add("tuned_bank", text("DIR"), "op bank with the models' own strategies; default: the same");
  add("tasks", po::bool_switch(), "a line for each task");
  add("model", po::value<std::vector<std::string>>()->required(), "ONNX models");
  add_threads_flag(tool.flags, "of the models; default: all cores");
  tool.positional.add("model", -1);
  tool.run = aoe::tuner::run;
  return run_tool(argc, argv, std::move(tool));
}
