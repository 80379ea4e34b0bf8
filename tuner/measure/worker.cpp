// The worker's side of the protocol. Requests (key "do") and their answers:
//   version                                                                       -> {version}
//   setup    {threads, compile_threads, policy, memory_limit_bytes}              -> nothing
//   task     {task}                                                              -> nothing
//   compile  {strategies}                    -> {finished: i, timing} for each, then {done: true}
//   measure  {index, best_ns | null}                                             -> {timing}
//   race     {indices}                                                           -> {timings}
//   subgraphs {reference, paths}                                                -> {timings}
//   models   {paths, rounds, limit_s | null}          -> {models, loads, rounds_each} or {error}
// In front of the answer to subgraphs and models, every kRoundsToldEverySeconds: {longest_round_s}.
#include "tuner/measure/worker.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/check.h"
#include "base/error.h"
#include "base/system_failure.h"
#include "tuner/deadline.h"
#include "tuner/measure/model_bench.h"
#include "tuner/measure/subgraph_bench.h"
#include "tuner/measure/task_json.h"
#include "tuner/measure/wire.h"

namespace aoe::tuner {
using nlohmann::json;
namespace {

/// Bytes of address space in use now.
rlim_t address_space_bytes() {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

/// Rounds of a measurement, for a parent that waits.
class Rounds {
 public:
  /// Behind each; what it took so far when that is to be told. Telling takes time from what is measured, so: now and then.
  std::optional<double> ended() {
    const TimePoint now = std::chrono::steady_clock::now();
    longest_s_ = std::max(longest_s_, seconds_between(begin_, now));
    begin_ = now;
    if (told_ && seconds_between(*told_, now) < kRoundsToldEverySeconds) return {};
    told_ = now;
    return longest_s_;
  }

 private:
  TimePoint begin_ = std::chrono::steady_clock::now();
  std::optional<TimePoint> told_;
  double longest_s_ = 0;
};

/// Above what is mapped already: libraries, thread stacks and sanitizers reserve much and use
/// little.
void limit_memory(std::uint64_t additional_bytes) {
  const rlim_t bytes = address_space_bytes() + additional_bytes;
  const rlimit limit{bytes, bytes};
  ::setrlimit(RLIMIT_AS, &limit);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
}

class Worker {
 public:
  Worker(int fd, BuildOm build) : fd_(fd) { options_.build = std::move(build); }

  void serve() {
    json request;
    while (receive_message(fd_, request) == ReceiveStatus::kMessage) {
      const std::string what = request.at("do");
      if (what == "version") {
        answer({{"version", worker_version()}});
      } else if (what == "setup") {
        setup(request);
      } else if (what == "task") {
        bench_ = std::make_unique<OpBench>(task_from_json(request.at("task")), options_, *caches_);
      } else if (what == "compile") {
        compile(request);
      } else if (what == "measure") {
        measure(request);
      } else if (what == "race") {
        race(request);
      } else if (what == "subgraphs") {
        subgraphs(request);
      } else if (what == "models") {
        models(request);
      } else {
        AOE_CHECK(false, "unknown request " + what);
      }
    }
  }

 private:
  void setup(const json& request) {
    options_.soc = compiler::detect_soc(request.at("threads"));
    options_.compile_threads = request.at("compile_threads");
    options_.policy = policy_from_json({{"measure", request.at("policy")}}, "worker").measure;
    caches_ = std::make_unique<CacheState>(options_.soc, options_.policy.weights_in);
    limit_memory(request.at("memory_limit_bytes"));
  }

  void compile(const json& request) {
    std::vector<bank::Strategy> strategies;
    for (const json& strategy : request.at("strategies"))
      strategies.push_back(bank::strategy_from_json(strategy));
    bench_->compile(strategies, [this](std::size_t i, const Timing& timing) {
      answer({{"finished", i}, {"timing", to_json(timing)}});
    });
    answer({{"done", true}});
  }

  void measure(const json& request) {
    const double best_ns = number_or_infinity(request.at("best_ns"));
    answer({{"timing", to_json(bench_->measure(request.at("index"), best_ns))}});
  }

  void race(const json& request) {
    json timings = json::array();
    for (const Timing& timing : bench_->race(request.at("indices")))
      timings.push_back(to_json(timing));
    answer({{"timings", std::move(timings)}});
  }

  static std::vector<std::filesystem::path> paths_of(const json& request) {
    std::vector<std::filesystem::path> paths;
    for (const json& path : request.at("paths")) paths.emplace_back(path.get<std::string>());
    return paths;
  }

  void subgraphs(const json& request) {
    const std::filesystem::path reference = request.at("reference").get<std::string>();
    if (!subgraph_bench_ || subgraph_bench_->reference() != reference)
      subgraph_bench_ = std::make_unique<SubgraphBench>(
          reference, options_.policy, options_.soc.threads, *caches_, [this] { round_ended(); });
    rounds_ = {};
    json timings = json::array();
    for (const Timing& timing : subgraph_bench_->race(paths_of(request)))
      timings.push_back(to_json(timing));
    answer({{"timings", std::move(timings)}});
  }

  void models(const json& request) {
    const std::vector<std::filesystem::path> paths = paths_of(request);
    rounds_ = {};
    ModelBench bench;
    try {
      const double limit_s = number_or_infinity(request.at("limit_s"));
      bench = bench_models(paths, options_.policy, options_.soc, request.at("rounds"), limit_s,
                           [this] { round_ended(); });
    } catch (const std::exception& e) {
      answer({{"error", e.what()}});
      return;
    }
    json models = json::array();
    for (const ModelTiming& timing : bench.timings) models.push_back(to_json(timing));
    answer({{"models", std::move(models)},
            {"loads", bench.plan.loads},
            {"rounds_each", bench.plan.rounds_each}});
  }

  void round_ended() {
    if (const auto longest_s = rounds_.ended()) answer({{"longest_round_s", *longest_s}});
  }

  /// A parent that is gone needs no answer; the next receive ends the loop.
  void answer(const json& message) { send_message(fd_, message); }

  int fd_;
  BenchOptions options_;
  std::unique_ptr<CacheState> caches_;
  std::unique_ptr<OpBench> bench_;
  std::unique_ptr<SubgraphBench> subgraph_bench_;
  Rounds rounds_;  ///< of the request at hand
};

}  // namespace

std::string worker_version() {
  constexpr int kMessages = 5;  // count up when they change
  return std::string(AOE_VERSION) + "-" + std::to_string(kMessages);
}

void run_if_worker(int argc, char** argv, BuildOm build) {
  if (argc != 2 || std::strcmp(argv[1], kWorkerArgument) != 0) return;
  // A parent that was killed cannot close a hanging candidate's worker.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int exit_code = 0;
  try {
    Worker(kWorkerSocket, std::move(build)).serve();
  } catch (const std::exception& e) {
    const std::string text = std::string("worker: ") + text_of_exception(e) + "\n";
    exit_code = static_cast<int>(is_system_failure(e) ? ExitCode::kFailure : ExitCode::kInternal);
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0) exit_code = 1;
  }
  // Static destructors of libraries that a candidate may have damaged are not worth running.
  std::_Exit(exit_code);
}

}  // namespace aoe::tuner
