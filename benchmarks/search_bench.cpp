// search_bench: how good the search of the tuner is, on representative tasks of the host, measured
// through workers as aoe does. Per task:
//
//   best      the fastest of a long search (the seed of none of the others), measured afresh
//   roofline  lower bound from flops, bytes and launch on a rough machine, and the share reached
//   trials    until within 5% of the best: the search from nothing, the search with what the other
//             tasks' long searches taught, and random draws; medians over the seeds
//   predicted without any measurement of the task: how many times the best's time the strategy
//             takes that the cost model, taught by the other tasks, chooses; where the default
//             leaves at least 5% to gain, the share of the gain in brackets
//
// and at the end what measuring through a worker costs compared with measuring in-process.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/statistics.h"
#include "tests/compiler/shape_line.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"
#include "tuner/measure/op_bench.h"
#include "tuner/measure/worker.h"
#include "tuner/measure/worker_measurer.h"
#include "tuner/search/features.h"
#include "tuner/search/search.h"

namespace aoe::tuner {
namespace {
using compiler::Candidate;
using compiler::Task;

constexpr const char* kTasks[] = {
    "Conv2D in=1x64x56x56 in=256x64x1x1:const in=256:const",
    "Conv2D in=1x256x14x14 in=256x256x3x3:const in=256:const pads=[1,1,1,1]",
    "Conv2D in=1x128x28x28 in=256x128x3x3:const in=256:const strides=[2,2] pads=[1,1,1,1]",
    "Conv2D in=1x96x56x56 in=96x1x3x3:const in=96:const group=96 pads=[1,1,1,1]",
    "MatMulV2 in=128x768 in=768x3072:const",
    "MatMulV2 in=12x128x64 in=12x64x128",
    "SoftmaxV2 in=12x128x128",
};
constexpr double kGood = 1.05;
constexpr std::size_t kFinalists = 5;

struct Options {
  int threads = 0;  ///< 0: of all cores
  int long_trials = 0;
  int trials = 0;
  int seeds = 0;
  std::vector<std::string> tasks;
};

/// One task and what the long search found.
struct Subject {
  std::string text;
  Task task;
  Candidate default_candidate;
  std::vector<Candidate> heuristics;
  SearchResult long_search;
  double default_ns = 0;
  double best_ns = 0;

  SearchTask search_task(const compiler::Soc& soc, const CostModel* experience) const {
    return {.task = task,
            .soc = soc,
            .default_candidate = default_candidate,
            .heuristics = heuristics,
            .experience = experience,
            .weights_in = WeightsIn::kL3};
  }
};

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Trials until a time within 5% of the best; one more than there were when none is.
int trials_until_good(const std::vector<Trial>& trials, double best_ns) {
  const auto good = std::ranges::find_if(
      trials, [&](const Trial& t) { return t.timing.median_ns() <= kGood * best_ns; });
  return static_cast<int>(good - trials.begin()) + 1;
}

/// "17", or ">64" when the limit was reached without.
std::string median_text(std::vector<double> counts, int limit) {
  const double middle = median(counts);
  return middle > limit ? fmt::format(">{}", limit) : fmt::format("{:.0f}", middle);
}

class SearchBench {
 public:
  explicit SearchBench(Options options)
      : options_(std::move(options)),
        soc_(compiler::detect_soc(options_.threads)),
        worker_({.soc = soc_, .policy = measure_policy(), .compile_threads = soc_.threads}) {}

  void run() {
    for (const std::string& text : options_.tasks) subjects_.push_back(explore(text));
    fmt::print("{:<44} {:>9} {:>9} {:>9} {:>6} | trials {:>6} {:>7} {:>7} | {:>11}\n", "task",
               "default", "best us", "roofline", "share", "search", "taught", "random",
               "predicted");
    for (const Subject& subject : subjects_) report(subject);
    report_isolation();
  }

 private:
  static MeasurePolicy measure_policy() {
    MeasurePolicy policy;
    policy.weights_in = WeightsIn::kL3;
    return policy;
  }

  /// The long search: no patience, many random candidates.
  Subject explore(const std::string& text) {
    Subject subject{.text = text, .task = compiler::parse_shape_line(text).task};
    subject.heuristics = compiler::default_candidates(subject.task, soc_);
    const auto estimate = [&](const Candidate& c) {
      return c.impl->plan(subject.task, c.format, soc_)->estimate_ns(c.schedule);
    };
    std::ranges::stable_sort(subject.heuristics, {}, estimate);
    subject.default_candidate = subject.heuristics.front();
    const double hopeless_ns = 30 * estimate(subject.default_candidate);
    std::erase_if(subject.heuristics,
                  [&](const Candidate& c) { return estimate(c) > hopeless_ns; });
    SearchPolicy policy;
    policy.patience = options_.long_trials;
    policy.min_expected_gain = 0;
    policy.explore = 0.3;
    Random random(0);
    subject.long_search = search(subject.search_task(soc_, nullptr), worker_, policy,
                                 {.trials = options_.long_trials}, random);
    settle_times(subject);
    std::cerr << fmt::format("{}: {} trials, default {:.1f} us, best {:.1f} us, {}\n", text,
                             subject.long_search.trials.size(), subject.default_ns / 1e3,
                             subject.best_ns / 1e3, to_text(subject.long_search.best()->candidate));
    return subject;
  }

  /// The fastest of many noisy times flatters; fresh ones of the first few do not. Measured as in
  /// a search, since it is compared with trials.
  void settle_times(Subject& subject) {
    std::vector<Candidate> candidates = {subject.default_candidate};
    for (const Trial* trial : subject.long_search.ranked())
      if (candidates.size() <= kFinalists) candidates.push_back(trial->candidate);
    const std::vector<double> times = fresh_times(subject.task, candidates);
    subject.default_ns = times.front();
    subject.best_ns = std::ranges::min(times);
  }

  std::vector<double> fresh_times(const Task& task, const std::vector<Candidate>& candidates) {
    constexpr int kRounds = 5;
    const double unknown_ns = std::numeric_limits<double>::infinity();
    std::vector<std::vector<double>> rounds(candidates.size());
    for (int round = 0; round < kRounds; ++round) {
      const std::vector<Timing> timings = worker_.measure(task, candidates, unknown_ns);
      for (std::size_t i = 0; i < timings.size(); ++i) rounds[i].push_back(timings[i].median_ns());
    }
    std::vector<double> times;
    for (const std::vector<double>& of_one : rounds) times.push_back(median(of_one));
    return times;
  }

  CostModel taught_by_others(const Subject& left_out) const {
    CostModel model;
    std::vector<Lesson> lessons;
    for (const Subject& other : subjects_) {
      if (&other == &left_out) continue;
      const double default_ns = other.long_search.default_trial().timing.median_ns();
      for (const Trial& trial : other.long_search.trials)
        if (auto lesson =
                lesson_of(*trial.candidate.impl, trial.features, trial.timing, default_ns))
          lessons.push_back(std::move(*lesson));
    }
    model.learn(std::move(lessons));
    return model;
  }

  int searched(const Subject& subject, const CostModel* experience, std::uint64_t seed) {
    SearchPolicy policy;
    Random random(seed);
    const SearchResult result = search(subject.search_task(soc_, experience), worker_, policy,
                                       {.trials = options_.trials}, random);
    const int count = trials_until_good(result.trials, subject.best_ns);
    // A search that gave up early would have gone on in vain.
    return count > static_cast<int>(result.trials.size()) ? options_.trials + 1 : count;
  }

  /// The default, then any legal Schedule of any (Impl, Format).
  int drawn(const Subject& subject, std::uint64_t seed) {
    Random random(seed);
    std::vector<Candidate> candidates = {subject.default_candidate};
    std::uniform_int_distribution<std::size_t> any(0, subject.heuristics.size() - 1);
    while (static_cast<int>(candidates.size()) < options_.trials) {
      Candidate candidate = subject.heuristics[any(random)];
      const auto plan = candidate.impl->plan(subject.task, candidate.format, soc_);
      if (auto schedule = draw(*plan, random)) candidate.schedule = std::move(*schedule);
      candidates.push_back(std::move(candidate));
    }
    std::vector<Trial> trials;
    const double unknown_ns = std::numeric_limits<double>::infinity();
    const auto timings = worker_.measure(subject.task, candidates, unknown_ns);
    for (std::size_t i = 0; i < candidates.size(); ++i)
      trials.push_back({candidates[i], timings[i], false, {}});
    return trials_until_good(trials, subject.best_ns);
  }

  /// Slowdown against the best, and where the default leaves something to gain how much of it.
  std::string predicted_text(const Subject& subject, const CostModel& experience) {
    const Candidate predicted = predict(subject.search_task(soc_, &experience)).front().candidate;
    const double predicted_ns = fresh_times(subject.task, {predicted}).front();
    const std::string text = fmt::format("{:.2f}", predicted_ns / subject.best_ns);
    const double gain_ns = subject.default_ns - subject.best_ns;
    if (gain_ns < (kGood - 1) * subject.default_ns) return text;
    return text + fmt::format(" ({:.0f}%)", 100 * (subject.default_ns - predicted_ns) / gain_ns);
  }

  void report(const Subject& subject) {
    const CostModel experience = taught_by_others(subject);
    std::vector<double> alone, taught, random;
    for (int seed = 1; seed <= options_.seeds; ++seed) {
      alone.push_back(searched(subject, nullptr, static_cast<std::uint64_t>(seed)));
      taught.push_back(searched(subject, &experience, static_cast<std::uint64_t>(seed)));
      random.push_back(drawn(subject, static_cast<std::uint64_t>(seed)));
    }
    const double roofline = roofline_ns(subject.task, soc_);
    fmt::print("{:<44} {:>9.1f} {:>9.1f} {:>9.1f} {:>5.0f}% | {:>13} {:>7} {:>7} | {:>11}\n",
               subject.text.substr(0, 44), subject.default_ns / 1e3, subject.best_ns / 1e3,
               roofline / 1e3, 100 * roofline / subject.best_ns,
               median_text(alone, options_.trials), median_text(taught, options_.trials),
               median_text(random, options_.trials), predicted_text(subject, experience));
    std::cout.flush();
  }

  /// The same candidates of every task, in batches: through the worker and in this process.
  void report_isolation() {
    constexpr std::size_t kCandidates = 16;
    const SearchPolicy policy;
    double worker_s = 0, in_process_s = 0;
    const BenchOptions bench_options{.soc = soc_,
                                     .policy = measure_policy(),
                                     .compile_threads = soc_.threads,
                                     .build = build_op_om};
    const CacheState caches(soc_, WeightsIn::kL3);
    for (const Subject& subject : subjects_) {
      std::vector<Candidate> candidates;
      for (const Trial* trial : subject.long_search.ranked())
        if (candidates.size() < kCandidates) candidates.push_back(trial->candidate);
      const double unknown_ns = std::numeric_limits<double>::infinity();
      worker_s += seconds_of([&] { (void)worker_.measure(subject.task, candidates, unknown_ns); });
      in_process_s += seconds_of([&] {
        OpBench bench(subject.task, bench_options, caches);
        std::vector<bank::Strategy> strategies;
        for (const Candidate& c : candidates) strategies.push_back(compiler::strategy_of(c));
        bench.compile(strategies, [](std::size_t, const Timing&) {});
        for (std::size_t i = 0; i < candidates.size(); ++i) (void)bench.measure(i, unknown_ns);
      });
    }
    fmt::print("isolation: worker {:.2f} s, in-process {:.2f} s, ratio {:.2f}\n", worker_s,
               in_process_s, worker_s / in_process_s);
  }

  Options options_;
  compiler::Soc soc_;
  WorkerMeasurer worker_;
  std::vector<Subject> subjects_;
};

ExitCode run(const tools::po::variables_map& flags) {
  Options options{.threads = tools::threads_of(flags),
                  .long_trials = flags["long"].as<int>(),
                  .trials = flags["trials"].as<int>(),
                  .seeds = flags["seeds"].as<int>()};
  if (flags.contains("task")) options.tasks = flags["task"].as<std::vector<std::string>>();
  if (options.tasks.empty()) options.tasks.assign(std::begin(kTasks), std::end(kTasks));
  SearchBench(std::move(options)).run();
  return ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::tuner

int main(int argc, char** argv) {
  using namespace aoe::tools;
  aoe::tuner::run_if_worker(argc, argv);
  Tool tool{.name = "search_bench",
            .synopsis = "search_bench [flags] [TASK ...]",
            .summary =
                "How good the tuner's search is: trials until within 5% of the best of a "
                "long search. TASK is a shape line (tests/compiler/shape_line.h).",
            .examples =
                "  search_bench --long=200 --trials=64 --seeds=3\n"
                "  search_bench \"SoftmaxV2 in=4x100\"\n"};
  auto add = tool.flags.add_options();
  add("long", number_or(256, "N"), "trials of the long search");
  add("trials", number_or(64, "N"), "trials of each short one");
  add("seeds", number_or(3, "N"), "short searches of each kind");
  add("task", po::value<std::vector<std::string>>(), "default: seven representative ones");
  add_threads_flag(tool.flags, "of the kernels; default: all cores");
  tool.positional.add("task", -1);
  tool.run = aoe::tuner::run;
  return run_tool(argc, argv, std::move(tool));
}
