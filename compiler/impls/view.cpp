// compiler/impls/view.cpp: ops that only rename dimensions: their output is their input's bytes. So is that of a Transpose from
// NHWC to NCHW and back where what it says is NCHW is stored as NHWC.
// Tested by tests/compiler/placement_test.cpp through whole models.
#include <algorithm>

#include "compiler/sharing_impl.h"

namespace aoe::compiler {
namespace {

/// What a Transpose takes and gives when it moves nothing.
struct Renaming {
  std::vector<std::int64_t> perm;
  Format in, out;
};
const Renaming kRenamings[] = {{{0, 3, 1, 2}, Format::kND, Format::kNHWC},
                               {{0, 2, 3, 1}, Format::kNHWC, Format::kND}};

/// nullptr when there is none.
const Renaming* renaming_of(const Task& task) {
  const auto found = std::ranges::find(kRenamings, task.op.attrs.get_ints("perm"), &Renaming::perm);
  return found == std::end(kRenamings) ? nullptr : found;
}

class View final : public SharingImpl {
 public:
  std::string_view name() const override { return "view"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    const bool is_transpose = task.op.type == "Transpose";
    if (!is_transpose && !reference::is_reshape(task.op.type) && task.op.type != "Identity")
      return Unexpected(task.op.type + " is no view");
    if (!task.is_static()) return Unexpected("the shape is known only at run time");
    if (is_transpose && renaming_of(task) == nullptr)
      return Unexpected("a Transpose, and not between NHWC and NCHW");
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    FormatChoice choice = dense_format(task);
    if (task.op.type != "Transpose") return {choice};
    const Renaming& renaming = *renaming_of(task);
    return {{.name = "NHWC", .inputs = {renaming.in}, .outputs = {renaming.out}}};
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
