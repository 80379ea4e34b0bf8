// Executor: runs an om on this machine.
//
//   Executor model(Om::load("m.om"), {.threads = 2});
//   model.run(inputs, outputs);      // as often as you like
//
// One Executor serves one caller at a time; several Executors (of one om, too) are independent.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/text_pool.h"
#include "runtime/om/om.h"
#include "runtime/thread_team.h"

namespace aoe::runtime {

class Executor;
struct JitStage;

/// Of a model that is run to learn something about it, while nobody may be there to end it.
constexpr double kLongestTrialLoopSeconds = 60;

struct ExecutorOptions {
  int threads = 0;  ///< 0: what the om was compiled for, or OMP_NUM_THREADS when set
  std::optional<ThreadTeam>
      team;  ///< of the om that it is a body of; else what it needs itself, bodies included
  /// Working memory that outlives the Executor, at least Om::arena_bytes; empty: the Executor allocates its own.
  std::span<std::byte> arena;
  bool is_body = false;  ///< of a step, whose om has its weights
  /// An Executor for another gear of the same file: its loaded code serves this one, too. nullptr: load it.
  const Executor* sibling = nullptr;
  /// Added to the index of a step in events: gears and bodies of a model count on.
  int first_op = 0;
  bool records_bodies = true;  ///< false: a step that runs bodies is one task, with theirs in it
  /// A Loop or Scan that takes longer ends the run with Error(kFailure); nothing: it may go on for ever.
  std::optional<double> longest_loop_s = {};
};

/// Which execution this is, for whoever profiles it.
struct RunTag {
  std::uint32_t run_and_model = 0;  ///< see profiler/recorder.h
  bool is_sampled = true;           ///< false: records no tasks of this one
  bool is_body = false;             ///< a trip of control flow, whose launch is that of its step
};

class Executor {
 public:
  /// Throws Error(kOm) when the machine lacks the ISA, the code does not load or a primitive cannot
  /// be made.
  Executor(Om om, ExecutorOptions options);
  ~Executor();
  Executor(Executor&&) noexcept;

  const Om& om() const;
  std::size_t input_count() const;
  std::size_t output_count() const;
  /// As the model declares them, dense ND. Output dimensions that only a run can tell are
  /// kUnknownDim.
  const OmTensor& input(std::size_t i) const;
  const OmTensor& output(std::size_t i) const;
  /// The texts that the om lists, for pools of its executions; gears of one file share them.
  const std::shared_ptr<const TextIndex>& texts() const;
  int threads() const;
  /// Steps, with those of bodies (runtime/om/om_bodies.h).
  int op_count() const;
  int first_op() const;
  /// All that runs, where that is generated code and nothing else; else nothing.
  std::vector<JitStage> generated_stages() const;

  /// Dense buffers in model order, any alignment. Outputs with unknown dimensions need data ==
  /// nullptr: run() then points them at memory of the Executor that is valid until the next run(),
  /// and sets their shape. Throws Error(kData) on a wrong size and Error(kFailure) when an op
  /// refuses its values. With the recorder on, each step that runs is one kTask event
  /// with value task_value(first_op + the step's index, tag.run_and_model); steps of bodies count on behind (om_bodies.h),
  /// one event a trip, and a step that runs bodies has an event for each part of its own time.
  void run(std::span<const Tensor> inputs, std::span<Tensor> outputs, const RunTag& tag = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aoe::runtime
