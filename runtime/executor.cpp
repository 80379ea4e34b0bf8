// Resolves everything about an om once, has each backend load its steps, then runs what they made. Tested by tests/runtime/executor_test.cpp.
#include "runtime/executor.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/error.h"
#include "base/log.h"
#include "base/text_pool.h"
#include "profiler/collect/memory_block.h"
#include "profiler/recorder.h"
#include "runtime/backend.h"
#include "runtime/isa.h"
#include "runtime/jit_team.h"
#include "runtime/shared_buffers.h"
#include "runtime/step_buffers.h"
#include "runtime/task_recording.h"
#include "runtime/tensor_table.h"
#include "runtime/thread_team.h"
#include "runtime/threads/forked_thread.h"
#include "runtime/threads/host_cores.h"
#include "runtime/threads/openmp_threads.h"

namespace aoe::runtime {
namespace {

/// An om that was just built lies in several strings, unverified and unaligned: it takes the way
/// through the file format.
Om as_loaded(Om om) {
  if (om.owner != nullptr) return om;
  OmFile file = om.file();
  const std::vector<std::string_view> pieces = file.pieces();
  const std::size_t size_bytes = size_of(pieces);
  const auto memory = std::make_shared<const AlignedMemory>(size_bytes);
  char* end = static_cast<char*>(memory->data());
  for (const std::string_view piece : pieces) end = std::ranges::copy(piece, end).out;
  return Om::parse({static_cast<const char*>(memory->data()), size_bytes}, memory, om.name);
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

/// One shape, or one that the declared shape's unknown dimensions allow.
bool fits(const Tensor& given, const TensorDesc& declared) {
  if (given.desc.dtype != declared.dtype || given.desc.shape.size() != declared.shape.size())
    return false;
  for (std::size_t i = 0; i < declared.shape.size(); ++i)
    if (declared.shape[i] != kUnknownDim && declared.shape[i] != given.desc.shape[i]) return false;
  return is_static(given.desc.shape);
}

void check_buffer(const Tensor& given, const OmTensor& declared, const char* what) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::kData, why, std::string(what) + " '" + declared.name + "'");
  };
  if (!fits(given, declared.desc))
    refuse("the buffer is " + to_string(given.desc) + ", the model has " +
           to_string(declared.desc));
  if (given.data == nullptr && given.elements() > 0) refuse("there is no buffer");
}

std::shared_ptr<const TextIndex> texts_of(const Om& om, const Executor* sibling) {
  if (sibling != nullptr && sibling->texts()->list() == om.texts.list) return sibling->texts();
  return std::make_shared<const TextIndex>(om.texts.list);
}

}  // namespace

struct Executor::State {
  State(Om model, const ExecutorOptions& options);
  /// `pool`: nullptr: of this run alone.
  void run(std::span<const Tensor> given_inputs, std::span<Tensor> given_outputs, const RunTag& tag,
           TextPool* pool);

 private:
  /// What is handed over at once.
  struct Launch {
    std::unique_ptr<Runnable> steps;
    std::uint32_t name;               ///< interned
    std::vector<int> last_used = {};  ///< dynamic tensors that nobody needs behind it
  };

  void load(const Backend& backend, std::span<const std::size_t> steps);
  void note_last_uses(std::span<const std::size_t> steps, std::size_t first_launch);
  void bind(std::span<const Tensor> given_inputs, std::span<Tensor> given_outputs);
  void hand_over_outputs(std::span<Tensor> given_outputs) const;
  void run_bound(const RunTag& tag);

 public:
  const Om om;
  const int threads;
  const std::shared_ptr<const TextIndex> texts;
  int op_count() const { return next_op_ - first_op_; }
  int first_op() const { return first_op_; }
  std::vector<JitStage> generated_stages() const;

 private:
  const ThreadTeam team_;
  const int first_op_;
  int next_op_;  ///< behind those that are loaded
  TensorTable tensors_;
  StepBuffers buffers_;
  SharedBuffers shared_;
  LoadContext context_;
  std::map<const Backend*, std::unique_ptr<Loader>> loaders_;
  std::vector<Launch> launches_;
  std::map<int, std::size_t> last_use_;        ///< of dynamic tensors: the launch
  std::vector<profiler::MemoryBlock> memory_;  ///< what shows in profiles
};

Executor::State::State(Om model, const ExecutorOptions& options)
    : om(as_loaded(std::move(model))),
      threads(thread_count(options, om)),
      texts(texts_of(om, options.sibling)),
      team_(options.team ? *options.team : team_of(om)),
      first_op_(options.first_op),
      next_op_(options.first_op + static_cast<int>(om.steps.size())),
      tensors_(om, options.arena),
      buffers_(om, tensors_),
      shared_(om),
      context_{.om = om,
               .tensors = tensors_,
               .buffers = buffers_,
               .threads = threads,
               .team = team_,
               .first_op = options.first_op,
               .records_bodies = options.records_bodies,
               .longest_loop_s = options.longest_loop_s,
               .next_op = next_op_} {
  if (!host_supports(om.isa))
    throw Error(ExitCode::kOm, "needs " + om.isa + ", which this processor does not have", om.name,
                "compile the model for this machine");
  if (options.arena.empty()) memory_.emplace_back("arena " + om.name, om.arena_bytes);
  if (!options.is_body) memory_.emplace_back("weights " + om.name, om.weights_view.size());

  const OpenMpThreads omp_threads(context_.library_threads());
  for (const auto& backend : backends().all()) {
    const Executor* sibling = options.sibling;
    loaders_[backend.get()] = backend->open(
        context_, sibling == nullptr ? nullptr : sibling->state_->loaders_.at(backend.get()).get());
  }
  std::vector<std::size_t> row;  ///< of one backend
  const auto load_row = [&] {
    if (!row.empty()) load(*om.steps[row.front()].backend, row);
    row.clear();
  };
  for (const OmStep& step : om.steps) context_.step_names.push_back(profiler::intern(step.name));
  for (std::size_t i = 0; i < om.steps.size(); ++i) {
    const Backend* backend = om.steps[i].backend;
    if (!backend->traits().runs) continue;
    if (!row.empty() && om.steps[row.front()].backend != backend) load_row();
    row.push_back(i);
  }
  load_row();
  for (const auto& [id, launch] : last_use_) launches_[launch].last_used.push_back(id);
}

void Executor::State::load(const Backend& backend, std::span<const std::size_t> steps) {
  std::vector<std::unique_ptr<Runnable>> loaded;
  loaders_.at(&backend)->load(steps, loaded);
  const std::uint32_t name = profiler::intern(backend.traits().launch);
  const std::size_t first = launches_.size();
  for (std::unique_ptr<Runnable>& each : loaded) launches_.push_back({std::move(each), name});
  note_last_uses(steps, first);
}

std::vector<JitStage> Executor::State::generated_stages() const {
  std::vector<JitStage> all;
  for (const Launch& launch : launches_) {
    const std::span<const JitStage> stages = launch.steps->stages();
    if (stages.empty()) return {};
    all.insert(all.end(), stages.begin(), stages.end());
  }
  return all;
}

/// Steps are loaded in their order: the last that names a tensor has it. What a caller gets lasts longer than the run.
void Executor::State::note_last_uses(std::span<const std::size_t> steps, std::size_t first_launch) {
  const bool is_each_alone = launches_.size() == first_launch + steps.size();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::size_t launch = is_each_alone ? first_launch + i : launches_.size() - 1;
    for (const std::vector<int>* ids : {&om.steps[steps[i]].inputs, &om.steps[steps[i]].outputs})
      for (const int id : *ids)
        if (id >= 0 && tensors_.is_dynamic(id) && std::ranges::count(om.outputs, id) == 0)
          last_use_[id] = launch;
  }
}

void Executor::State::run(std::span<const Tensor> given_inputs, std::span<Tensor> given_outputs,
                          const RunTag& tag, TextPool* pool) {
  bind(given_inputs, given_outputs);
  std::optional<TextPool> own;
  if (pool == nullptr && !texts->list().empty()) pool = &own.emplace(texts);
  std::optional<TextPool::Scope> scope;
  if (pool != nullptr) scope.emplace(*pool);
  run_bound(tag);
  hand_over_outputs(given_outputs);
}

void Executor::State::run_bound(const RunTag& tag) {
  const OpenMpThreads omp_threads(context_.library_threads());
  if (threads > 1) make_way_for(team_);
  const TaskRecording recording = task_recording(tag);
  for (const Launch& launch : launches_) {
    const LaunchSpan span(launch.name, tag);
    launch.steps->run(recording);
    for (const int id : launch.last_used) tensors_.release(id);
  }
  tensors_.end_run();
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
      tensors_.bind(om.outputs[i], given_outputs[i].desc.shape, given_outputs[i].data);
  }
  for (std::size_t i = 0; i < given_inputs.size(); ++i)
    tensors_.bind(om.inputs[i], given_inputs[i].desc.shape,
                  shared_.input(i, given_inputs[i], given_outputs));
  buffers_.bind();
}

/// Outputs that no step could write straight into the caller's buffer: shapes found during the run,
/// and tensors that are at the same time an input, a constant or another output.
void Executor::State::hand_over_outputs(std::span<Tensor> given_outputs) const {
  for (std::size_t i = 0; i < given_outputs.size(); ++i) {
    const int id = om.outputs[i];
    const OmTensor& declared = om.tensors[id];
    if (declared.place == Place::kOutput && declared.offset == i) continue;
    const Tensor& result = tensors_.view(id);
    if (is_static(declared.desc.shape)) {
      if (result.desc.shape != declared.desc.shape)
        throw Error(ExitCode::kFailure,
                    "output '" + declared.name + "' becomes " + to_string(result.desc) +
                        ", the om says " + to_string(declared.desc),
                    om.name);
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
const std::shared_ptr<const TextIndex>& Executor::texts() const {
  return state_->texts;
}
int Executor::op_count() const {
  return state_->op_count();
}
int Executor::first_op() const {
  return state_->first_op();
}
std::vector<JitStage> Executor::generated_stages() const {
  return state_->generated_stages();
}
int Executor::threads() const {
  return state_->threads;
}

void Executor::run(std::span<const Tensor> inputs, std::span<Tensor> outputs, const RunTag& tag) {
  TextPool* const pool = TextPool::current();
  if (came_through_fork())
    run_beside_fork([&] { state_->run(inputs, outputs, tag, pool); });
  else
    state_->run(inputs, outputs, tag, pool);
}

}  // namespace aoe::runtime
