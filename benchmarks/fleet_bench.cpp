// fleet_bench: what a task costs the coordinator of a fleet: many simulated nodes answer as fast as they can, the coordinator gives
// out orders, reads answers and commits them to a bank, as a run of `aoe --workers` does. Nothing is measured or compiled.
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "bank/values.h"
#include "base/check.h"
#include "tests/temp_dir.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"
#include "tuner/fleet/fleet.h"
#include "tuner/fleet/node_link.h"
#include "tuner/session/conclusion_json.h"
#include "tuner/session/ledger.h"
#include "tuner/session/spread_search.h"

namespace aoe::benchmarks {
namespace {
using nlohmann::json;
using tuner::Fleet;
namespace po = tools::po;

constexpr const char* kSoc = "x86_64-bench-2t";

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

double resident_mb() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// A task as a bank sees it.
class BenchTask final : public tuner::Tunable {
 public:
  explicit BenchTask(std::size_t number) : name_(fmt::format("n{}", number)) {
    key = {fmt::format(R"({{"op":"Conv2D","inputs":[[1,{},56,56],[64,{},3,3]],"version":1}})",
                       number, number),
           kSoc};
  }
  const std::string& first_node() const override { return name_; }
  int places() const override { return 1; }
  std::string type_text() const override { return "Conv2D"; }
  Result<void> accepts(const bank::Strategy&, const compiler::Soc&) const override { return {}; }
  bank::Strategy default_strategy(const bank::Strategy& other) const override { return other; }
  std::string text_of(const bank::Strategy& strategy) const override { return strategy.impl; }

 private:
  std::string name_;
};

bank::Strategy strategy() {
  return {.format = "NC1HWC0",
          .impl = "direct",
          .impl_version = 3,
          .schedule = {{"ic_block", 64}, {"oc_vectors", 2}, {"oh_block", 4}, {"ow_block", 14}},
          .measured = {1e5, 1.2e5, "faster", "in-model-2", 2, 64, "2026-01-01T00:00:00Z"}};
}

/// What a node answers, with as many measurements as a search makes.
json answer(int measurements) {
  bank::Record record{.strategy = strategy()};
  for (int i = 0; i < 24; ++i) record.features.emplace_back(fmt::format("feature_{}", i), 0.5 * i);
  json records = json::array();
  for (int i = 0; i < measurements; ++i) records.push_back(bank::record_to_json(record));
  tuner::Conclusion conclusion{.decision = tuner::Decision::kAdd};
  conclusion.strategies = {strategy()};
  conclusion.default_ns = 1.2e5;
  conclusion.best_ns = 1e5;
  conclusion.measured = measurements;
  return {{"conclusion", tuner::to_json(conclusion)},
          {"race_records", json::array()},
          {"records", std::move(records)}};
}

/// They are here already.
class NoLauncher final : public tuner::Launcher {
 public:
  void start(const tuner::Spool&) override {}
  std::size_t wanted() override { return 1; }
  std::vector<tuner::EndedNode> ended() override { return {}; }
  bool has_hope(std::string&) override { return true; }
  void stop() override {}
};

/// All of them in one thread: each answers its order when it is looked at.
class Nodes {
 public:
  Nodes(const tuner::Spool& spool, int count, const json& answer) : answer_(answer) {
    const json about = {{"soc_version", kSoc}};
    for (int i = 0; i < count; ++i)
      links_.push_back(std::make_unique<tuner::NodeLink>(spool, fmt::format("bench-{}", i), about));
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested())
        for (const auto& link : links_)
          if (link->next_order()) link->answer(answer_);
    });
  }

 private:
  const json& answer_;
  std::vector<std::unique_ptr<tuner::NodeLink>> links_;
  std::jthread thread_;
};

struct Spent {
  double wall_s = 0, coordinator_s = 0;
};

/// One run: all its tasks are sent, answered and committed.
Spent run_tasks(Fleet& fleet, bank::KnowledgeBank& bank, const std::filesystem::path& result,
                std::size_t first, std::size_t count) {
  std::vector<BenchTask> tasks;
  for (std::size_t i = 0; i < count; ++i) tasks.emplace_back(first + i);
  tuner::TuningBank tuning_bank(bank, bank::BankKind::kOp, result);
  tuner::Ledger ledger(tuning_bank);
  const auto begin = std::chrono::steady_clock::now();
  const double cpu_begin = thread_seconds();
  tuner::SpreadSearch spread(fleet, {.soc_version = kSoc, .index = 0}, {});
  for (const BenchTask& task : tasks) spread.send(task, std::nullopt, json{{"do", "search"}}, {});
  std::size_t settled = 0;
  for (auto found = spread.wait({}); !found.empty(); found = spread.wait({})) {
    ledger.hold();
    for (tuner::SpreadSearch::Answered& each : found) {
      AOE_CHECK(each.conclusion.decision == tuner::Decision::kAdd, each.conclusion.cause);
      ledger.keep_records(each.tunable->key, std::move(each.records));
      ledger.settle(*each.tunable, std::move(each.conclusion), std::nullopt);
    }
    ledger.flush();
    settled += found.size();
  }
  AOE_CHECK(settled == count, "tasks that nobody has decided");
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
          thread_seconds() - cpu_begin};
}

ExitCode run(const po::variables_map& flags) {
  const int nodes = flags["nodes"].as<int>(), measurements = flags["measurements"].as<int>();
  const auto tasks = static_cast<std::size_t>(flags["tasks"].as<int>());
  const int runs = flags["runs"].as<int>();
  const tests::TempDir directory;
  Fleet fleet({directory / "spool"}, std::make_unique<NoLauncher>(),
              {.lost_after_s = 1e6});  // no sign of life but answers
  const std::lock_guard turn(fleet);
  const json what = answer(measurements);
  const Nodes simulated({directory / "spool"}, nodes, what);
  fleet.wait_until([&] { return fleet.living(kSoc) == static_cast<std::size_t>(nodes); }, {});
  bank::KnowledgeBank bank(directory / "bank", {.soc_version = kSoc});
  fmt::print("{} nodes, {} measurements a task\n", nodes, measurements);
  fmt::print("{:>5} {:>9} {:>9} {:>14} {:>19} {:>12}\n", "run", "tasks", "tasks/s",
             "measurements/s", "coordinator(us/task)", "resident(MB)");
  for (int i = 0; i < runs; ++i) {
    const Spent spent = run_tasks(fleet, bank, directory / "result.json",
                                  static_cast<std::size_t>(i) * tasks, tasks);
    const double count = static_cast<double>(tasks);
    fmt::print("{:>5} {:>9} {:>9.0f} {:>14.0f} {:>19.0f} {:>12.0f}\n", i + 1, tasks,
               count / spent.wall_s, count * measurements / spent.wall_s,
               1e6 * spent.coordinator_s / count, resident_mb());
  }
  return ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::benchmarks

int main(int argc, char** argv) {
  using namespace aoe::tools;
  Tool tool;
  tool.name = "fleet_bench";
  tool.synopsis = "fleet_bench [--nodes=N] [--tasks=N] [--measurements=N] [--runs=N]";
  tool.summary = "What a task costs the coordinator of a fleet, with simulated nodes.";
  auto add = tool.flags.add_options();
  add("nodes", number_or(10000, "N"), "simulated nodes");
  add("tasks", number_or(20000, "N"), "tasks of a run");
  add("measurements", number_or(16, "N"), "that a node makes for a task");
  add("runs", number_or(5, "N"), "one after the other: memory is to stay what it was");
  tool.run = aoe::benchmarks::run;
  return run_tool(argc, argv, std::move(tool));
}
