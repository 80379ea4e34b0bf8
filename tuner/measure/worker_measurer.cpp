// Batches of candidates through a worker process, whatever happens to it.
#include "tuner/measure/worker_measurer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json_text.h"
#include "base/log.h"
#include "tuner/measure/task_json.h"
#include "tuner/measure/worker.h"

namespace aoe::tuner {
using compiler::Candidate;
using compiler::Task;
using nlohmann::json;
namespace {

/// Each candidate compiled ahead holds its weights twice until it has run.
constexpr std::size_t kCompileAheadBytes = std::size_t{1} << 30;
/// Whole models get more time than single operators, until the first round of them has ended: loading is part of it.
constexpr double kModelTimeoutFactor = 20;
/// A round may take so many times what the longest one took.
constexpr double kRoundTimeoutFactor = 10;

std::uint64_t memory_limit_bytes(const MeasurePolicy& policy) {
  if (policy.memory_limit_mb > 0) return static_cast<std::uint64_t>(policy.memory_limit_mb) << 20;
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 2;
}

Timing stopped() {
  return Timing::failure(Outcome::kStopped, "tuning was stopped");
}

/// A kill from outside need not be the fault of what was measured: that gets one more chance, in a
/// fresh worker.
bool may_repeat(const Timing& loss, bool is_repeat, const std::string& what) {
  if (loss.outcome != Outcome::kKilled) return false;
  logger("tuner")->warn("the measuring process was {} while it was at {}, which {}", loss.cause,
                        what, is_repeat ? "counts as failed" : "is measured once more");
  return !is_repeat;
}

}  // namespace

/// Of one batch: what failed, and whether the worker survived it.
struct WorkerMeasurer::CompileResult {
  std::vector<std::optional<Timing>> failures;  ///< by candidate
  bool worker_lost = false;
  Timing loss;  ///< when it was
};

/// The candidates of one call, in order, and how far it is.
struct WorkerMeasurer::Queue {
  std::span<const Candidate> candidates;
  std::vector<Timing> timings;
  std::size_t next = 0;
  bool is_repeat = false;  ///< the next one was tried, and the worker killed

  bool is_done() const { return next == candidates.size(); }
  void settle(Timing timing) {
    timings[next++] = std::move(timing);
    is_repeat = false;
  }
  void lose(const Timing& loss) {
    if (may_repeat(loss, is_repeat, to_text(candidates[next])))
      is_repeat = true;
    else
      settle(loss);
  }
};

void check_worker(const std::filesystem::path& program) {
  constexpr std::chrono::seconds kPatience(60);  // a busy machine reads libraries slowly
  WorkerProcess worker(program);
  worker.send({{"do", "version"}});
  json answer;
  const ReceiveStatus status = worker.receive(answer, kPatience, kPatience, {});
  if (status != ReceiveStatus::kMessage)
    throw Error(ExitCode::kFailure,
                "is not the program that measures: " + worker.bury(status, kPatience).cause,
                program.string(), "install aoe again");
  const std::string version = answer.value("version", "");
  if (version != worker_version())
    throw Error(ExitCode::kFailure,
                "is of version " + version + ", and this is " + worker_version(), program.string(),
                "install both from one build");
}

WorkerMeasurer::WorkerMeasurer(WorkerOptions options) : options_(std::move(options)) {
  if (options_.policy.weights_in == WeightsIn::kAuto)
    options_.policy.weights_in = WeightsIn::kMemory;
}

WorkerMeasurer::~WorkerMeasurer() = default;

void WorkerMeasurer::set_weights_in(WeightsIn weights_in) {
  AOE_CHECK(weights_in != WeightsIn::kAuto, "the place of weights is not decided");
  if (options_.policy.weights_in == weights_in) return;
  options_.policy.weights_in = weights_in;
  worker_.reset();
}

void WorkerMeasurer::ensure_worker() {
  if (worker_) return;
  worker_ = std::make_unique<WorkerProcess>(options_.program);
  worker_task_.clear();
  ++workers_started_;
  worker_->send({{"do", "setup"},
                 {"threads", options_.soc.threads},
                 {"compile_threads", options_.compile_threads},
                 {"policy", to_json(options_.policy)},
                 {"memory_limit_bytes", memory_limit_bytes(options_.policy)}});
}

void WorkerMeasurer::ensure_task(const Task& task) {
  ensure_worker();
  const json message = to_json(task);
  std::string digest = to_hex(hash128(cbor_bytes(message)));
  if (digest == worker_task_) return;
  worker_task_ = std::move(digest);
  worker_->send({{"do", "task"}, {"task", message}});
}

Timing WorkerMeasurer::lose_worker(ReceiveStatus status, double timeout_s) {
  Timing death = worker_->bury(status, std::chrono::duration<double>(timeout_s));
  worker_.reset();
  logger("tuner")->debug("worker lost: outcome={} cause={}", name(death.outcome), death.cause);
  return death;
}

/// What comes after the end of the bounds does not come.
ReceiveStatus WorkerMeasurer::receive(json& message, double timeout_s) {
  using Seconds = std::chrono::duration<double>;
  const ReceiveStatus status =
      worker_->receive(message, Seconds(timeout_s), Seconds(bounds_.end.left_s()), options_.stop);
  constexpr double kRoundingS = 1e-3;
  const bool is_late = status == ReceiveStatus::kTimeout && bounds_.end.left_s() < kRoundingS;
  return is_late ? ReceiveStatus::kStopped : status;
}

/// One request, one answer, and what is told of rounds in front of it: after that no round may take much longer. Not ok: the
/// worker is lost, and why.
Timing WorkerMeasurer::ask(const json& request, double timeout_s, json& answer) {
  worker_->send(request);
  for (;;) {
    const ReceiveStatus status = receive(answer, timeout_s);
    if (status != ReceiveStatus::kMessage) return lose_worker(status, timeout_s);
    const auto longest_s = answer.find("longest_round_s");
    if (longest_s == answer.end()) return {};
    timeout_s = kRoundsToldEverySeconds + std::max(options_.policy.run_timeout_s,
                                                   kRoundTimeoutFactor * longest_s->get<double>());
  }
}

WorkerMeasurer::CompileResult WorkerMeasurer::compile(const Task& task,
                                                      std::span<const Candidate> candidates) {
  ensure_task(task);
  CompileResult result;
  result.failures.resize(candidates.size());
  json strategies = json::array();
  for (const Candidate& candidate : candidates)
    strategies.push_back(bank::to_json(compiler::strategy_of(candidate)));
  worker_->send({{"do", "compile"}, {"strategies", std::move(strategies)}});
  const double timeout_s = options_.policy.compile_timeout_s;
  for (;;) {
    json message;
    const ReceiveStatus status = receive(message, timeout_s);
    if (status != ReceiveStatus::kMessage) {
      result.loss = lose_worker(status, timeout_s);
      result.worker_lost = true;
      return result;
    }
    const auto finished = message.find("finished");
    if (finished == message.end()) return result;
    if (!finished->is_number_unsigned() || *finished >= candidates.size()) {
      worker_.reset();
      result.loss = Timing::failure(
          Outcome::kCrashed, "the worker answered for a candidate that it had not been given");
      result.worker_lost = true;
      return result;
    }
    Timing timing = timing_from_json(message.at("timing"));
    if (!timing.ok()) result.failures[finished->get<std::size_t>()] = std::move(timing);
  }
}

std::size_t WorkerMeasurer::compile_ahead(const Task& task) const {
  // Packed weights may be several times their plain size (Winograd).
  const std::size_t bytes = 8 * constant_bytes(task) + 1;
  return std::clamp<std::size_t>(kCompileAheadBytes / bytes, 1, 64);
}

std::vector<Timing> WorkerMeasurer::measure(const Task& task, std::span<const Candidate> candidates,
                                            double best_ns) {
  Queue queue{candidates, std::vector<Timing>(candidates.size())};
  std::size_t ahead = compile_ahead(task);
  while (!queue.is_done()) {
    if (is_over()) {
      queue.settle(stopped());
      continue;
    }
    const auto batch =
        candidates.subspan(queue.next).first(std::min(ahead, candidates.size() - queue.next));
    const CompileResult compiled = compile(task, batch);
    if (!compiled.worker_lost)
      measure_batch(compiled, queue, best_ns);
    else if (batch.size() > 1)
      ahead = 1;  // one of several did it: one by one shows which
    else
      queue.lose(compiled.loss);
  }
  return std::move(queue.timings);
}

/// Ends early when the worker dies: the rest of the batch died with it and is compiled again.
void WorkerMeasurer::measure_batch(const CompileResult& compiled, Queue& queue, double& best_ns) {
  for (std::size_t k = 0; k < compiled.failures.size(); ++k) {
    if (compiled.failures[k]) {
      queue.settle(*compiled.failures[k]);
      continue;
    }
    json answer;
    const Timing asked =
        ask({{"do", "measure"}, {"index", k}, {"best_ns", finite_or_null(best_ns)}},
            options_.policy.run_timeout_s, answer);
    if (!asked.ok()) return queue.lose(asked);
    Timing timing = timing_from_json(answer.at("timing"));
    if (!timing.dropped) best_ns = std::min(best_ns, timing.median_ns());
    queue.settle(std::move(timing));
  }
}

std::vector<Timing> WorkerMeasurer::race(const Task& task, std::span<const Candidate> candidates) {
  std::vector<Timing> timings = race_once(task, candidates);
  const auto killed = std::ranges::find(timings, Outcome::kKilled, &Timing::outcome);
  if (killed == timings.end() || !may_repeat(*killed, false, "a race")) return timings;
  return race_once(task, candidates);
}

std::vector<Timing> WorkerMeasurer::race_once(const Task& task,
                                              std::span<const Candidate> candidates) {
  if (is_over()) return std::vector<Timing>(candidates.size(), stopped());
  const CompileResult compiled = compile(task, candidates);
  if (compiled.worker_lost) return std::vector<Timing>(candidates.size(), compiled.loss);
  std::vector<Timing> timings(candidates.size());
  std::vector<std::size_t> racers;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (compiled.failures[i])
      timings[i] = *compiled.failures[i];
    else
      racers.push_back(i);
  }
  json answer;
  const double timeout_s = options_.policy.run_timeout_s * static_cast<double>(racers.size() + 1);
  const Timing asked = ask({{"do", "race"}, {"indices", racers}}, timeout_s, answer);
  for (std::size_t k = 0; k < racers.size(); ++k)
    timings[racers[k]] = asked.ok() ? timing_from_json(answer.at("timings").at(k)) : asked;
  return timings;
}

Timing WorkerMeasurer::ask_about_oms(json request, std::span<const std::filesystem::path> oms,
                                     double timeout_s, const char* what, json& answer) {
  if (is_over()) return stopped();
  request["paths"] = json::array();
  for (const auto& path : oms) request["paths"].push_back(path.string());
  ensure_worker();
  Timing asked = ask(request, timeout_s, answer);
  if (!may_repeat(asked, false, what)) return asked;
  ensure_worker();
  return ask(request, timeout_s, answer);
}

std::vector<Timing> WorkerMeasurer::race_subgraphs(const std::filesystem::path& reference,
                                                   std::span<const std::filesystem::path> oms) {
  // The reference runs first, and takes its time.
  const double timeout_s =
      kModelTimeoutFactor * options_.policy.run_timeout_s + options_.policy.compile_timeout_s;
  json answer;
  const Timing asked = ask_about_oms({{"do", "subgraphs"}, {"reference", reference.string()}}, oms,
                                     timeout_s, "a subgraph", answer);
  std::vector<Timing> timings(oms.size(), asked);
  for (std::size_t i = 0; asked.ok() && i < oms.size(); ++i)
    timings[i] = timing_from_json(answer.at("timings").at(i));
  return timings;
}

Result<ModelBench> WorkerMeasurer::run_load(std::span<const std::filesystem::path> oms, int rounds,
                                            double limit_s) {
  worker_.reset();
  json answer;
  const Timing asked = ask_about_oms(
      {{"do", "models"}, {"rounds", rounds}, {"limit_s", finite_or_null(limit_s)}}, oms,
      kModelTimeoutFactor * options_.policy.run_timeout_s, "a whole model", answer);
  if (!asked.ok()) return Unexpected(fmt::format("{}: {}", name(asked.outcome), asked.cause));
  if (answer.contains("error")) return Unexpected(answer["error"].get<std::string>());
  ModelBench bench{.timings = {},
                   .plan = {.loads = answer.at("loads"), .rounds_each = answer.at("rounds_each")}};
  for (const json& model : answer.at("models"))
    bench.timings.push_back(model_timing_from_json(model));
  return bench;
}

/// Loads that the end of the bounds comes before are not missed: what was measured stands.
Result<std::vector<ModelTiming>> WorkerMeasurer::run_models(
    std::span<const std::filesystem::path> oms) {
  const Deadline limit = Deadline::in(bounds_.model_s);
  auto bench = run_load(oms, 0, bounds_.model_s);
  if (!bench) return Unexpected(bench.error());
  for (int load = 1; load < bench->plan.loads && !limit.has_passed(); ++load) {
    const auto more = run_load(oms, bench->plan.rounds_each, limit.left_s());
    if (!more && is_over()) break;
    if (!more) return Unexpected(more.error());
    for (std::size_t i = 0; i < oms.size(); ++i) bench->timings[i].append(more->timings[i]);
  }
  return std::move(bench->timings);
}

}  // namespace aoe::tuner
