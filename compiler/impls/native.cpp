// native: the kernels of native/, for operators whose results have sizes or places that depend on values. No Schedule: C++
// says how it is done. Wins over the reference wherever it takes a task.
#include "compiler/impl.h"
#include "compiler/roofline.h"
#include "native/kernel.h"

namespace aoe::compiler {
namespace {

/// More than generated code takes, and less than the reference: where there is either, that decides.
constexpr double kNsPerByte = 0.5;
constexpr double kNsPerFlop = 0.1;

class NativePlan final : public Plan {
 public:
  using Plan::Plan;

  Features features(const Schedule&) const override {
    return {{"flops", flops(task())}, {"bytes", bytes_moved(task())}};
  }

  double estimate_ns(const Schedule&) const override {
    const double work = kNsPerByte * bytes_moved(task()) + kNsPerFlop * flops(task());
    return launch_ns(soc()) + work / soc().threads;
  }

  Kernel build(const Schedule&) const override { return kernel_for("native"); }
};

class Native final : public ImplBy<NativePlan> {
 public:
  std::string_view name() const override { return "native"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    std::vector<TensorDesc> inputs;
    for (const TaskInput& input : task.inputs) inputs.push_back(input.desc);
    if (const auto kernel = native::kernel_for({task.op, inputs, task.outputs.size()}); !kernel)
      return Unexpected(kernel.error());
    return {};
  }
};

}  // namespace

void register_native(ImplRegistry& registry) {
  registry.add(std::make_unique<Native>());
}

}  // namespace aoe::compiler
