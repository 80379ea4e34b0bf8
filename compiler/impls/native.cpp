// native: the kernels of native/, for operators whose results have sizes or places that depend on values. No Schedule: C++
// says how it is done. Wins over the reference wherever it takes a task.
#include <algorithm>

#include "compiler/impl.h"
#include "compiler/roofline.h"
#include "native/kernel.h"

namespace aoe::compiler {
namespace {

/// More than generated code takes, and less than the reference: where there is either, that decides.
constexpr double kNsPerByte = 0.5;
constexpr double kNsPerFlop = 0.1;

std::vector<TensorDesc> inputs_of(const Task& task) {
  std::vector<TensorDesc> inputs;
  for (const TaskInput& input : task.inputs) inputs.push_back(input.desc);
  return inputs;
}

/// What is asked of the kernels of native/ about a task, and which of them takes it.
struct Asked {
  explicit Asked(const Task& task)
      : inputs(inputs_of(task)),
        question{task.op, inputs, task.outputs.size()},
        kernel(native::kernel_for(question)) {}
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  const std::vector<TensorDesc> inputs;
  const native::Question question;
  const Result<const native::Kernel*> kernel;
};

/// Of the processor's peak: 0 where its kernel does not say.
double of_peak(const Task& task) {
  const Asked asked(task);
  return task.is_static() && (*asked.kernel)->of_peak ? (*asked.kernel)->of_peak(asked.question)
                                                      : 0;
}

class NativePlan final : public Plan {
 public:
  using Plan::Plan;

  Features features(const Schedule&) const override {
    return {{"flops", flops(task())}, {"bytes", bytes_moved(task())}};
  }

  double estimate_ns(const Schedule&) const override {
    if (const double share = of_peak(task()); share > 0)
      return launch_ns(soc()) + compute_ns(soc(), flops(task()), share) +
             memory_ns(soc(), 2 * bytes_moved(task()));
    const double work = kNsPerByte * bytes_moved(task()) + kNsPerFlop * flops(task());
    return launch_ns(soc()) + work / soc().threads;
  }

  Kernel build(const Schedule&) const override { return kernel_for("native"); }
};

constexpr std::string_view kName = "native";

/// Only what it must know keeps other Impls from taking the task, as it is an input of the run.
bool lacks_code(const Task& task, const Soc& soc) {
  return can_be_generated(task) && std::ranges::none_of(impls().all(), [&](const Impl* impl) {
           return impl->name() != kName && impl->name() != "reference" && impl->supports(task, soc);
         });
}

class Native final : public ImplBy<NativePlan> {
 public:
  std::string_view name() const override { return kName; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    const Asked asked(task);
    if (!asked.kernel) return Unexpected(asked.kernel.error());
    const auto& is_for_open_sizes = (*asked.kernel)->is_for_open_sizes;
    if (task.is_static() && is_for_open_sizes && is_for_open_sizes(asked.question) &&
        !lacks_code(task, soc))
      return Unexpected("sizes are known, which generated code is faster with");
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc& soc) const override {
    std::vector<FormatChoice> choices = {dense_format(task)};
    if (!(*Asked(task).kernel)->takes_any_order) return choices;
    const Shape& image = task.in(0).shape;
    if (image.size() != 4 || !is_static(image)) return choices;
    choices.push_back(image_choice(task, Format::kNHWC, "NHWC"));
    // Channels that pad a block are values of no tensor.
    if (image[1] % soc.vector_lanes() == 0)
      choices.push_back(image_choice(task, Format::kNC1HWC0, "NC1HWC0"));
    return choices;
  }

  double error_growth(const Task& task) const override {
    const Asked asked(task);
    const auto& saves = (*asked.kernel)->may_save_products;
    return saves && saves(asked.question) ? kMostErrorGrowth : 1;
  }
  NotFinite not_finite(const Task& task) const override {
    if ((*Asked(task).kernel)->skips_zero_factors) return NotFinite::kOpen;
    return Impl::not_finite(task);
  }

 private:
  /// Input 0 and every output as large lie so.
  static FormatChoice image_choice(const Task& task, Format format, const std::string& name) {
    FormatChoice choice = dense_format(task);
    choice.name = name;
    choice.inputs[0] = format;
    for (std::size_t i = 0; i < task.outputs.size(); ++i)
      if (task.outputs[i].shape == task.in(0).shape) choice.outputs[i] = format;
    return choice;
  }
};

}  // namespace

void register_native(ImplRegistry& registry) {
  registry.add(std::make_unique<Native>());
}

}  // namespace aoe::compiler
