// Resolves everything about an om once, then runs it: segments of generated code, library
// primitives, reference steps. Tested by tests/runtime/executor_test.cpp.
#include "runtime/executor.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "profiler/collect/memory_block.h"
#include "profiler/recorder.h"
#include "runtime/control_step.h"
#include "runtime/forked_thread.h"
#include "runtime/host_cores.h"
#include "runtime/isa.h"
#include "runtime/jit_team.h"
#include "runtime/onednn_kernel.h"
#include "runtime/reference_step.h"
#include "runtime/shared_buffers.h"
#include "runtime/task_recording.h"
#include "runtime/tensor_table.h"

namespace aoe::runtime {
namespace {

/// An om that was just built lies in several strings, unverified and unaligned: it takes the way
/// through the file format.
Om as_loaded(Om om) {
  if (om.owner != nullptr) return om;
  const std::string bytes = om.serialize();
  const auto memory = std::make_shared<const AlignedMemory>(bytes.size());
  std::memcpy(memory->data(), bytes.data(), bytes.size());
  return Om::parse({static_cast<const char*>(memory->data()), bytes.size()}, memory, om.name);
}

int thread_count(const ExecutorOptions& options, const Om& om) {
  if (options.threads > 0) return options.threads;
  if (const int wanted = openmp_threads(); wanted > 0) return wanted;
  const HostCores host = host_cores();
  if (om.threads > host.usable())
    logger("runtime")->info("{} was compiled for {} threads and runs on {}", om.name, om.threads,
                            host.to_text());
  return std::min(om.threads, host.usable());
}

/// Sets the calling thread's OpenMP team size, which oneDNN goes by.
class OpenMpThreads {
 public:
  explicit OpenMpThreads(int threads) : before_(omp_get_max_threads()) {
    if (threads != before_) omp_set_num_threads(threads);
  }
  ~OpenMpThreads() { omp_set_num_threads(before_); }
  OpenMpThreads(const OpenMpThreads&) = delete;
  OpenMpThreads& operator=(const OpenMpThreads&) = delete;

 private:
  int before_;
};

/// One shape, or one that the declared shape's unknown dimensions allow.
bool fits(const Tensor& given, const TensorDesc& declared) {
  if (given.desc.dtype != declared.dtype || given.desc.shape.size() != declared.shape.size())
    return false;
  for (std::size_t i = 0; i < declared.shape.size(); ++i)
    if (declared.shape[i] != kUnknownDim && declared.shape[i] != given.desc.shape[i]) return false;
  return is_static(given.desc.shape);
}

void check_buffer(const Tensor& given, const OmTensor& declared, const char* what) {
  const std::string where = std::string(what) + " '" + declared.name + "'";
  if (!fits(given, declared.desc))
    throw Error(
        ExitCode::kData,
        "the buffer is " + to_string(given.desc) + ", the model has " + to_string(declared.desc),
        where);
  if (given.data == nullptr && given.elements() > 0)
    throw Error(ExitCode::kData, "there is no buffer", where);
}

/// The tensors behind a kernel's buffers, in the order that compiler/impl.h lays down for Kernel; -1
/// for an unused output, which keeps its place.
std::vector<int> buffer_tensors(const OmStep& step) {
  std::vector<int> ids;
  std::copy_if(step.inputs.begin(), step.inputs.end(), std::back_inserter(ids),
               [](int id) { return id >= 0; });
  ids.insert(ids.end(), step.outputs.begin(), step.outputs.end());
  ids.insert(ids.end(), step.constants.begin(), step.constants.end());
  if (step.workspace >= 0) ids.push_back(step.workspace);
  return ids;
}

std::unique_ptr<OneDnnKernel> create_onednn(const Om& om, const OmStep& step, int threads) {
  std::vector<std::size_t> bytes;
  for (const int id : buffer_tensors(step))
    bytes.push_back(id < 0 ? 0 : storage_bytes(om.tensors[id].desc));
  try {
    return OneDnnKernel::create(step.params, threads, bytes);
  } catch (const Error& e) {
    throw Error(e.code(), e.what(), om.name + ": step '" + step.name + "'");
  }
}

}  // namespace

struct Executor::State {
  State(Om model, const ExecutorOptions& options);
  void run(std::span<const Tensor> given_inputs, std::span<Tensor> given_outputs,
           const RunTag& tag);

 private:
  /// What runs at once: steps of generated code in a row, or one step of another kind.
  struct Segment {
    StepKind kind;
    std::size_t begin;  ///< kJit: index of the first stage; otherwise index of the step
    std::size_t end;
  };
  /// A place in a kernel's buffer list that follows the caller's buffer.
  struct Slot {
    void** pointer;
    int tensor;
  };

  void resolve_buffers(std::size_t step);
  void add_jit_step(std::size_t step);
  void run_segment(const Segment& segment, const TaskRecording& recording);
  void run_single_step(StepKind kind, std::size_t step);
  void bind(std::span<const Tensor> given_inputs, std::span<Tensor> given_outputs);
  void hand_over_outputs(std::span<Tensor> given_outputs) const;

 public:
  const Om om;
  const int threads;

 private:
  const int first_op_;
  TensorTable tensors_;
  SharedBuffers shared_;
  std::shared_ptr<const JitModule> module_;  ///< shared by the gears of a model
  std::optional<JitTeam> team_;
  std::vector<std::vector<void*>> buffers_;  ///< by step; never resized once slots point there
  std::vector<std::unique_ptr<OneDnnKernel>> onednn_;  ///< by step
  std::vector<std::unique_ptr<ControlStep>> control_;  ///< by step
  std::vector<std::uint32_t> step_names_;
  std::vector<JitStage> stages_;
  std::vector<Segment> segments_;
  std::vector<Slot> slots_;
  std::vector<profiler::MemoryBlock> memory_;  ///< what shows in profiles
};

Executor::State::State(Om model, const ExecutorOptions& options)
    : om(as_loaded(std::move(model))),
      threads(thread_count(options, om)),
      first_op_(options.first_op),
      tensors_(om, options.arena),
      shared_(om),
      buffers_(om.steps.size()),
      onednn_(om.steps.size()),
      control_(om.steps.size()) {
  if (!host_supports(om.isa))
    throw Error(ExitCode::kOm, "needs " + om.isa + ", which this processor does not have", om.name,
                "compile the model for this machine");
  if (options.sibling != nullptr)
    module_ = options.sibling->state_->module_;
  else if (!om.code_view.empty())
    module_ = std::make_shared<const JitModule>(om.code_view, om.name);
  std::uint64_t scratch_bytes = 0;
  for (const OmStep& step : om.steps) scratch_bytes = std::max(scratch_bytes, step.scratch_bytes);
  const bool calls_onednn = std::ranges::any_of(
      om.steps, [](const OmStep& step) { return step.kind == StepKind::kOneDnn; });
  team_.emplace(threads, scratch_bytes, calls_onednn);
  if (options.arena.empty()) memory_.emplace_back("arena " + om.name, om.arena_bytes);
  memory_.emplace_back("weights " + om.name, om.weights_view.size());
  memory_.emplace_back("scratch " + om.name, scratch_bytes * static_cast<std::uint64_t>(threads));

  const OpenMpThreads omp_threads(threads);
  for (std::size_t i = 0; i < om.steps.size(); ++i) {
    const OmStep& step = om.steps[i];
    step_names_.push_back(profiler::intern(step.name));
    if (step.kind == StepKind::kNone) continue;
    if (step.kind == StepKind::kControl)
      control_[i] = std::make_unique<ControlStep>(om, step, threads);
    if (step.kind == StepKind::kJit || step.kind == StepKind::kOneDnn) resolve_buffers(i);
    if (step.kind == StepKind::kOneDnn) onednn_[i] = create_onednn(om, step, threads);
    if (step.kind == StepKind::kJit)
      add_jit_step(i);
    else
      segments_.push_back({step.kind, i, i + 1});
  }
}

void Executor::State::resolve_buffers(std::size_t step_index) {
  const std::vector<int> ids = buffer_tensors(om.steps[step_index]);
  std::vector<void*>& buffers = buffers_[step_index];
  for (const int id : ids) buffers.push_back(id < 0 ? nullptr : tensors_.address(id));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0) continue;
    const Place place = om.tensors[ids[i]].place;
    if (place == Place::kInput || place == Place::kOutput) slots_.push_back({&buffers[i], ids[i]});
  }
}

void Executor::State::add_jit_step(std::size_t step_index) {
  const OmStep& step = om.steps[step_index];
  if (!module_)
    throw Error(ExitCode::kOm,
                "step '" + step.name + "' is generated code, but there is no code section",
                om.name);
  if (segments_.empty() || segments_.back().kind != StepKind::kJit)
    segments_.push_back({StepKind::kJit, stages_.size(), stages_.size()});
  for (const OmStage& stage : step.stages)
    stages_.push_back({.function = module_->find(stage.symbol),
                       .buffers = buffers_[step_index].data(),
                       .extent = stage.extent,
                       .step = first_op_ + static_cast<int>(step_index),
                       .step_name = step_names_[step_index]});
  stages_.back().ends_step = true;
  segments_.back().end = stages_.size();
}

void Executor::State::run(std::span<const Tensor> given_inputs, std::span<Tensor> given_outputs,
                          const RunTag& tag) {
  bind(given_inputs, given_outputs);
  const OpenMpThreads omp_threads(threads);
  const TaskRecording recording = task_recording(tag);
  for (const Segment& segment : segments_) {
    const LaunchSpan launch(segment.kind, tag);
    run_segment(segment, recording);
  }
  hand_over_outputs(given_outputs);
}

void Executor::State::bind(std::span<const Tensor> given_inputs, std::span<Tensor> given_outputs) {
  const auto check_count = [](std::size_t given, std::size_t declared, const char* what) {
    if (given != declared)
      throw Error(ExitCode::kData, std::to_string(given) + " " + what +
                                       " buffers given, the model has " + std::to_string(declared));
  };
  check_count(given_inputs.size(), om.inputs.size(), "input");
  check_count(given_outputs.size(), om.outputs.size(), "output");
  for (std::size_t i = 0; i < given_inputs.size(); ++i) {
    check_buffer(given_inputs[i], om.tensors[om.inputs[i]], "input");
  }
  for (std::size_t i = 0; i < given_outputs.size(); ++i) {
    const OmTensor& declared = om.tensors[om.outputs[i]];
    if (!is_static(declared.desc.shape)) {
      if (given_outputs[i].data != nullptr)
        throw Error(ExitCode::kData, "its size is known only after the run, no buffer can be given",
                    "output '" + declared.name + "'");
      continue;
    }
    check_buffer(given_outputs[i], declared, "output");
    if (declared.place == Place::kOutput && declared.offset == i)
      tensors_.bind(om.outputs[i], given_outputs[i]);
  }
  for (std::size_t i = 0; i < given_inputs.size(); ++i)
    tensors_.bind(om.inputs[i], shared_.input(i, given_inputs[i], given_outputs));
  for (const Slot& slot : slots_) *slot.pointer = tensors_.address(slot.tensor);
}

void Executor::State::run_segment(const Segment& segment, const TaskRecording& recording) {
  if (segment.kind == StepKind::kJit) {
    team_->run(std::span(stages_).subspan(segment.begin, segment.end - segment.begin), recording);
    return;
  }
  TaskClock clock(recording);
  run_single_step(segment.kind, segment.begin);
  clock.task_done(step_names_[segment.begin], first_op_ + static_cast<int>(segment.begin));
}

void Executor::State::run_single_step(StepKind kind, std::size_t step) {
  if (kind == StepKind::kOneDnn)
    onednn_[step]->run(buffers_[step]);
  else if (kind == StepKind::kControl)
    control_[step]->run(tensors_);
  else
    run_reference_step(om.steps[step], tensors_);
}

/// Outputs that no step could write straight into the caller's buffer: shapes found during the run,
/// and tensors that are at the same time an input, a constant or another output.
void Executor::State::hand_over_outputs(std::span<Tensor> given_outputs) const {
  for (std::size_t i = 0; i < given_outputs.size(); ++i) {
    const int id = om.outputs[i];
    const OmTensor& declared = om.tensors[id];
    if (declared.place == Place::kOutput && declared.offset == i) continue;
    const Tensor result = tensors_.view(id);
    if (is_static(declared.desc.shape)) {
      const std::size_t size_bytes = storage_bytes(declared.desc);
      if (size_bytes > 0) std::memcpy(given_outputs[i].data, result.data, size_bytes);
    } else {
      given_outputs[i] = result;
    }
  }
}

Executor::Executor(Om om, ExecutorOptions options) {
  // Libraries prepare weights in parallel, too.
  const auto make = [&] { state_ = std::make_unique<State>(std::move(om), options); };
  if (came_through_fork())
    run_beside_fork(make);
  else
    make();
}
Executor::~Executor() = default;
Executor::Executor(Executor&&) noexcept = default;

const Om& Executor::om() const {
  return state_->om;
}
std::size_t Executor::input_count() const {
  return state_->om.inputs.size();
}
std::size_t Executor::output_count() const {
  return state_->om.outputs.size();
}
const OmTensor& Executor::input(std::size_t i) const {
  return state_->om.tensors[state_->om.inputs.at(i)];
}
const OmTensor& Executor::output(std::size_t i) const {
  return state_->om.tensors[state_->om.outputs.at(i)];
}
int Executor::threads() const {
  return state_->threads;
}

void Executor::run(std::span<const Tensor> inputs, std::span<Tensor> outputs, const RunTag& tag) {
  if (came_through_fork())
    run_beside_fork([&] { state_->run(inputs, outputs, tag); });
  else
    state_->run(inputs, outputs, tag);
}

}  // namespace aoe::runtime
