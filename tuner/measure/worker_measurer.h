// Measurer by a worker process that is reused between candidates and replaced after a crash; whole models are run by one for
// each load of them. What was measured when the worker was killed from outside is measured once more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>

#include "compiler/soc.h"
#include "tuner/measure/measurer.h"
#include "tuner/measure/model_bench.h"
#include "tuner/measure/worker_process.h"
#include "tuner/policy.h"

namespace aoe::tuner {

/// This program again: one that calls run_if_worker().
inline constexpr const char* kThisProgram = "/proc/self/exe";

struct WorkerOptions {
  compiler::Soc soc;     ///< the host's; the worker detects its own for the same number of threads
  MeasurePolicy policy;  ///< weights_in kAuto counts as kMemory
  int compile_threads = 1;
  std::stop_token stop;                          ///< pending measurements end as kStopped
  std::filesystem::path program = kThisProgram;  ///< what is started as the worker
};

/// Starts the program and asks it for its version. Throws Error(kFailure) that names it when it is no worker, or one of another
/// version than this code.
void check_worker(const std::filesystem::path& program);

class WorkerMeasurer final : public Measurer {
 public:
  explicit WorkerMeasurer(WorkerOptions options);
  ~WorkerMeasurer() override;

  std::vector<Timing> measure(const compiler::Task& task,
                              std::span<const compiler::Candidate> candidates,
                              double best_ns) override;
  std::vector<Timing> race(const compiler::Task& task,
                           std::span<const compiler::Candidate> candidates) override;
  std::vector<Timing> race_subgraphs(const std::filesystem::path& reference,
                                     std::span<const std::filesystem::path> oms) override;
  Result<std::vector<ModelTiming>> run_models(std::span<const std::filesystem::path> oms) override;

  void set_bounds(const MeasureBounds& bounds) override { bounds_ = bounds; }
  void set_weights_in(WeightsIn weights_in) override;
  int workers_started() const { return workers_started_; }

 private:
  struct CompileResult;
  struct Queue;
  void ensure_worker();
  void ensure_task(const compiler::Task& task);
  CompileResult compile(const compiler::Task& task,
                        std::span<const compiler::Candidate> candidates);
  std::size_t compile_ahead(const compiler::Task& task) const;
  void measure_batch(const CompileResult& compiled, Queue& queue, double& best_ns);
  std::vector<Timing> race_once(const compiler::Task& task,
                                std::span<const compiler::Candidate> candidates);
  bool is_over() const { return options_.stop.stop_requested() || bounds_.end.has_passed(); }
  ReceiveStatus receive(nlohmann::json& message, double timeout_s);
  Timing ask(const nlohmann::json& request, double timeout_s, nlohmann::json& answer);
  /// The same of oms, once more in a fresh worker when that was killed; `what` they are, in words.
  Timing ask_about_oms(nlohmann::json request, std::span<const std::filesystem::path> oms,
                       double timeout_s, const char* what, nlohmann::json& answer);
  /// One load of them, by a worker that has done nothing else.
  Result<ModelBench> run_load(std::span<const std::filesystem::path> oms, int rounds,
                              double limit_s);
  Timing lose_worker(ReceiveStatus status, double timeout_s);

  WorkerOptions options_;
  MeasureBounds bounds_;
  std::unique_ptr<WorkerProcess> worker_;
  std::string worker_task_;  ///< digest of what the worker has at hand
  int workers_started_ = 0;
};

}  // namespace aoe::tuner
