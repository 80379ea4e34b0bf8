// The kernels of native/, on the team of threads that generated code has.
#include <algorithm>
#include <any>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "native/kernel.h"
#include "reference/gives_nothing.h"
#include "runtime/backend.h"
#include "runtime/inferred_outputs.h"
#include "runtime/jit_team.h"
#include "runtime/step_values.h"

namespace aoe::runtime {
namespace {

/// What parts throw, which no thread of a team may.
class NativeThreads final : public native::Threads {
 public:
  explicit NativeThreads(const LoadContext& context)
      : team_(context.threads, 0, context.team), count_(context.threads) {}
  std::int64_t count() const override { return count_; }

 private:
  struct Loop {
    const native::Part& part;
    std::mutex mutex;
    std::exception_ptr error = nullptr;
  };

  void run(std::int64_t extent, const native::Part& part) override {
    Loop loop{.part = part};
    void* const buffers[] = {&loop};
    // Of the run before nothing is known here, so that each thread has one part: blocks of rows would be cut smaller.
    JitStage stage = {.function = run_part, .buffers = buffers, .extent = extent};
    team_.run({&stage, 1}, {});
    if (loop.error) std::rethrow_exception(loop.error);
  }

  static void run_part(void* const* buffers, std::int64_t begin, std::int64_t end, void*) noexcept {
    Loop& loop = *static_cast<Loop*>(buffers[0]);
    try {
      loop.part(begin, end);
    } catch (...) {
      const std::lock_guard lock(loop.mutex);
      loop.error = std::current_exception();
    }
  }

  JitTeam team_;
  const std::int64_t count_;
};

/// What a kernel makes of a step's call, and of each of its inputs that is a weight; nullptr: of no other.
struct Kept {
  std::any of_call;
  std::vector<std::unique_ptr<std::any>> of_inputs;

  Kept(const Om& om, const OmStep& step) {
    for (const int id : step.inputs) {
      const bool is_weight = id >= 0 && om.tensors[id].place == Place::kWeight;
      of_inputs.push_back(is_weight ? std::make_unique<std::any>() : nullptr);
    }
  }
};

class StepRun final : public native::Run {
 public:
  StepRun(const OmStep& step, std::span<const Tensor> given, TensorTable& tensors,
          native::Threads& team, Kept& kept)
      : Run(step.call, given, team), step_(step), tensors_(tensors), kept_(kept) {}

  const Tensor& output(std::size_t i) const override {
    return tensors_.view(i < step_.outputs.size() ? step_.outputs[i] : -1);
  }

  Tensor make(std::size_t i, const Shape& made) const override {
    const int id = i < step_.outputs.size() ? step_.outputs[i] : -1;
    if (id < 0) return {};
    TensorDesc desc = tensors_.view(id).desc;
    if (tensors_.is_dynamic(id)) {
      desc.shape = made;
      tensors_.allocate(id, desc);
    } else if (desc.shape != made) {
      throw Error(ExitCode::kFailure, "output " + std::to_string(i) + " becomes " +
                                          to_string(made) + ", the model says " + to_string(desc));
    }
    return tensors_.view(id);
  }

  std::any* kept(std::size_t i) const override {
    return i < kept_.of_inputs.size() ? kept_.of_inputs[i].get() : nullptr;
  }
  std::any* kept_of_call() const override { return &kept_.of_call; }

 private:
  const OmStep& step_;
  TensorTable& tensors_;
  Kept& kept_;
};

std::vector<TensorDesc> descs_of(const Om& om, const std::vector<int>& ids) {
  std::vector<TensorDesc> descs;
  for (const int id : ids) descs.push_back(id < 0 ? TensorDesc{} : om.tensors[id].desc);
  return descs;
}

/// Input 0 where its memory is not given to others before the run ends; -1: it is, or the caller keeps the output for longer.
int lasting_input(const Om& om, const OmStep& step) {
  const int input = step.inputs[0], output = step.outputs[0];
  if (om.tensors[input].place == Place::kArena || std::ranges::count(om.outputs, output) > 0)
    return -1;
  return input;
}

class NativeStep {
 public:
  NativeStep(const LoadContext& context, const OmStep& step, const native::Kernel& kernel)
      : step_(step),
        kernel_(kernel),
        tensors_(context.tensors),
        threads_(context),
        kept_(context.om, step),
        inputs_(context.om, step.inputs, context.tensors) {
    if (!is_certain(context.om, step))
      inferred_.emplace(context.om, step, context.tensors,
                        kernel.keeps_elements ? lasting_input(context.om, step) : -1);
  }

  void run() {
    run_naming(step_, [&] {
      const std::span<const Tensor> inputs = inputs_.now();
      if (inferred_ && kernel_.makes_shapes)
        inferred_->check(inputs);
      else if (inferred_)
        inferred_->prepare(inputs);
      if (kernel_.makes_shapes || gives_something())
        kernel_.run(StepRun(step_, inputs, tensors_, threads_, kept_));
    });
  }

 private:
  bool gives_something() const {
    return std::ranges::any_of(step_.outputs, [&](int id) {
      return !reference::gives_nothing({&tensors_.view(id), 1});
    });
  }

  const OmStep& step_;
  const native::Kernel& kernel_;
  TensorTable& tensors_;
  NativeThreads threads_;
  Kept kept_;
  StepTensors inputs_;
  std::optional<InferredOutputs> inferred_;  ///< none: it is certain
};

class Native final : public StepwiseBackend {
 public:
  Native()
      : StepwiseBackend({.name = "native",
                         .path = "native",
                         .library = "native",
                         .launch = "LaunchNative",
                         .reads_constants = true,
                         .finds_sizes = true}) {}

  std::string fault(const Om& om, const OmStep& step) const override {
    const auto kernel = kernel_of(om, step);
    return kernel ? inference_fault(om, step) : "has no native kernel: " + kernel.error();
  }

  int overwritten_by(const OmStep& step) const override { return input_written_in_place(step); }

  std::function<void()> load(const LoadContext& context, std::size_t index) const override {
    const OmStep& step = context.om.steps[index];
    const auto kernel = kernel_of(context.om, step);
    if (!kernel)
      throw Error(ExitCode::kOm, "step '" + step.name + "' has no native kernel: " + kernel.error(),
                  context.om.name, "compile the model again with atc");
    const auto made = std::make_shared<NativeStep>(context, step, **kernel);
    return [made] { made->run(); };
  }

 private:
  static Result<const native::Kernel*> kernel_of(const Om& om, const OmStep& step) {
    return native::kernel_for({step.call, descs_of(om, step.inputs), step.outputs.size()});
  }
};

}  // namespace

void register_native(BackendRegistry& registry) {
  registry.add(std::make_unique<Native>());
}

}  // namespace aoe::runtime
