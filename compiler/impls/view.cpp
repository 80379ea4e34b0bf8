// compiler/impls/view.cpp: ops that only rename dimensions: their output is their input's bytes.
// Tested by tests/compiler/placement_test.cpp through whole models.
#include <algorithm>

#include "compiler/sharing_impl.h"

namespace aoe::compiler {
namespace {

constexpr std::string_view kTypes[] = {"Reshape", "Squeeze", "Unsqueeze", "FlattenV2", "Identity"};

class View final : public SharingImpl {
 public:
  std::string_view name() const override { return "view"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (std::ranges::find(kTypes, task.op.type) == std::end(kTypes))
      return Unexpected(task.op.type + " is no view");
    if (!task.is_static()) return Unexpected("the shape is known only at run time");
    return {};
  }

  Kernel::Sharing sharing(const Task&, const FormatChoice&, const Soc&) const override {
    return {.inputs_in_output = false, .offsets = {0}};
  }
};

}  // namespace

void register_view(ImplRegistry& registry) {
  registry.add(std::make_unique<View>());
}

}  // namespace aoe::compiler
