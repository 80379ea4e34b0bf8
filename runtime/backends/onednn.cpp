// Primitives of oneDNN, by the parameters that a step holds.
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "runtime/backend.h"
#include "runtime/onednn/onednn_kernel.h"
#include "runtime/step_buffers.h"

namespace aoe::runtime {
namespace {

class OneDnn final : public StepwiseBackend {
 public:
  OneDnn()
      : StepwiseBackend({.name = "onednn",
                         .path = "onednn",
                         .library = "onednn",
                         .launch = "LaunchPrimitive",
                         .keeps_openmp_team = true}) {}

  std::string fault(const Om& om, const OmStep& step) const override {
    const auto sizes = StepBuffers::bytes_of(om, step);
    const auto inputs = std::ranges::count_if(step.inputs, [](int id) { return id >= 0; });
    std::vector<bool> is_writable(sizes.size(), false);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto output = static_cast<std::ptrdiff_t>(i) - inputs;
      is_writable[i] = (output >= 0 && output < std::ssize(step.outputs)) ||
                       (step.workspace >= 0 && i + 1 == sizes.size());
    }
    return OneDnnKernel::fault(step.params, is_writable);
  }

  std::function<void()> load(const LoadContext& context, std::size_t index) const override {
    const OmStep& step = context.om.steps[index];
    try {
      std::shared_ptr<OneDnnKernel> kernel =
          OneDnnKernel::create(step.params, context.library_threads(),
                               context.buffers.bytes_of(index), context.buffers.of(index));
      return [kernel = std::move(kernel), buffers = context.buffers.of(index)] {
        kernel->run(buffers);
      };
    } catch (const Error& e) {
      throw Error(e.code(), e.what(), context.om.name + ": step '" + step.name + "'");
    }
  }
};

}  // namespace

void register_onednn(BackendRegistry& registry) {
  registry.add(std::make_unique<OneDnn>());
}

}  // namespace aoe::runtime
