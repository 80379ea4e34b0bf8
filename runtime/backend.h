// Backend: a way in which steps of an om are carried out. One file per backend in runtime/backends/, found by its
// `void register_<file stem>(BackendRegistry&)`; adding one touches no other file. The compiler names it in a Kernel, whose
// payload (generated code, parameters, packed constants) becomes that of a step; the backend loads the step from there.
//
// A Backend is stateless. An Executor opens a Loader of each, which holds what its steps share, and has it make Runnables, of
// which alone it knows when it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/om/om.h"
#include "runtime/thread_team.h"

namespace aoe::runtime {

class StepBuffers;
class TensorTable;
struct JitStage;
struct TaskRecording;

/// What the rest of the engine has to know of a backend.
struct BackendTraits {
  std::string_view name;     ///< in oms: "jit"
  std::string_view path;     ///< in reports on how steps run: "generated"
  std::string_view library;  ///< in tables of ops, where nothing better is known: "generated"
  const char* launch = "";   ///< name of its launches in profiles: "LaunchGenerated"
  bool runs = true;          ///< false: nothing runs, outputs lie where the inputs do
  bool is_plain = false;     ///< plain loops: "AI_CPU" in profiles
  bool has_bodies = false;   ///< constants of a step are oms that it runs
  bool reads_constants =
      false;  ///< inputs of the node that are constants are inputs of the step, not packed
  bool finds_sizes = false;  ///< takes tensors whose sizes only a run can tell
  bool keeps_openmp_team = false;
  Memory memory = Memory::kHost;  ///< where the tensors of its steps lie
};

/// What a step may know of the Executor that it is loaded for; outlives what is loaded.
struct LoadContext {
  const Om& om;
  TensorTable& tensors;
  StepBuffers& buffers;
  std::vector<std::uint32_t> step_names;  ///< interned
  int threads = 1;
  ThreadTeam team = ThreadTeam::kHelpers;
  int first_op = 0;                      ///< see ExecutorOptions
  bool records_bodies = true;            ///< see ExecutorOptions
  std::optional<double> longest_loop_s;  ///< see ExecutorOptions
  int& next_op;  ///< of the next body that is loaded; who loads one counts on

  /// Of steps whose backend keeps_openmp_team.
  int library_threads() const { return team == ThreadTeam::kOpenMp ? threads : 1; }
};

/// Steps that are handed over at once.
class Runnable {
 public:
  virtual ~Runnable() = default;
  /// On the buffers and tensors that are bound. Each step is a task of its own.
  virtual void run(const TaskRecording& recording) = 0;
  /// All it does, where that is generated code and nothing else.
  virtual std::span<const JitStage> stages() const { return {}; }
};

class Loader {
 public:
  virtual ~Loader() = default;
  /// Steps that run one behind the other with no other backend's between them. Adds one Runnable or several. Throws
  /// Error(kOm) when a step cannot be carried out here.
  virtual void load(std::span<const std::size_t> steps,
                    std::vector<std::unique_ptr<Runnable>>& to) = 0;
};

/// What is wrong with a step of an om, in words behind its name.
struct StepFault {
  std::size_t step = 0;
  std::string what;
};

class Backend {
 public:
  explicit Backend(const BackendTraits& traits) : traits_(traits) {}
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  const BackendTraits& traits() const { return traits_; }
  /// Looks at steps of this backend that were read from a file: what passes cannot make them leave their buffers, however
  /// the file came to be. Their tensors are in range and inside their section or the arena, their sizes are known where
  /// the backend does not find them; outputs and the workspace are nobody else's. Nothing: no fault.
  virtual std::optional<StepFault> fault(const Om& om,
                                         std::span<const std::size_t> steps) const = 0;
  /// The tensor that the step may write its first output over; -1: none.
  virtual int overwritten_by(const OmStep&) const { return -1; }
  /// `sibling`: this backend's Loader for another gear of the same file, whose code serves this one too; nullptr: none.
  /// Also of an om without such steps. Throws Error(kOm) when the om's code does not load.
  virtual std::unique_ptr<Loader> open(const LoadContext& context, const Loader* sibling) const = 0;

 private:
  BackendTraits traits_;
};

/// The first step of which `fault` says something.
std::optional<StepFault> first_fault(
    const Om& om, std::span<const std::size_t> steps,
    const std::function<std::string(const Om& om, const OmStep& step)>& fault);

/// A Backend whose steps share nothing: each is a function.
class StepwiseBackend : public Backend {
 public:
  using Backend::Backend;
  virtual std::function<void()> load(const LoadContext& context, std::size_t step) const = 0;
  /// Of one step; empty: nothing.
  virtual std::string fault(const Om& om, const OmStep& step) const = 0;
  std::optional<StepFault> fault(const Om& om, std::span<const std::size_t> steps) const final;
  std::unique_ptr<Loader> open(const LoadContext& context, const Loader* sibling) const final;
};

class BackendRegistry {
 public:
  void add(std::unique_ptr<Backend> backend);
  /// nullptr when there is none of this name.
  const Backend* find(std::string_view name) const;
  std::span<const std::unique_ptr<Backend>> all() const { return backends_; }

 private:
  std::vector<std::unique_ptr<Backend>> backends_;
};

/// All backends of runtime/backends/; built once, immutable.
const BackendRegistry& backends();

/// One that is there.
const Backend& backend(std::string_view name);

}  // namespace aoe::runtime
