// compiler/impls/slice_in_place.cpp: rows of one image without copies: in NHWC they lie behind each
// other. With concat_in_place it lets a chain of ops run strip by strip (graph/rewrites/slice_rows).
// Tested by tests/compiler/placement_test.cpp through whole models.
#include <algorithm>
#include <optional>

#include "compiler/sharing_impl.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kRowAxis = 2;

std::optional<std::int64_t> only_int(const Task& task, std::size_t i) {
  if (i >= task.inputs.size() || !task.inputs[i].constant) return std::nullopt;
  const Constant& constant = *task.inputs[i].constant;
  if (constant.desc().dtype != DataType::kInt64 || element_count(constant.desc().shape) != 1)
    return std::nullopt;
  return *static_cast<const std::int64_t*>(constant.data());
}

bool is_present(const Task& task, std::size_t i) {
  return i < task.inputs.size() && task.inputs[i].is_present();
}

class SliceInPlace final : public SharingImpl {
 public:
  std::string_view name() const override { return "slice_in_place"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (task.op.type != "Slice") return Unexpected(task.op.type + " is no slice");
    if (!task.is_static()) return Unexpected("a shape is known only at run time");
    if (task.inputs[0].constant) return Unexpected("cuts a constant");
    if (task.in(0).shape.size() != 4 || task.in(0).dtype != DataType::kFloat ||
        task.in(0).shape[0] != 1)
      return Unexpected("needs one float32 image");
    if (only_int(task, 3) != kRowAxis || is_present(task, 4))
      return Unexpected("cuts something else than rows that follow each other");
    const auto begin = only_int(task, 1);
    if (!begin || *begin < 0 || *begin + task.out().shape[kRowAxis] > task.in(0).shape[kRowAxis])
      return Unexpected("does not say plainly where it begins");
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc& soc) const override {
    std::vector<FormatChoice> choices;
    const auto add = [&](Format format) { choices.push_back(pieces_in(task, format)); };
    add(Format::kNHWC);
    if (task.in(0).shape[1] <= soc.vector_lanes) add(Format::kNC1HWC0);  // a single block
    return choices;
  }

  Kernel build(const Task& task, const FormatChoice& format, const Schedule&,
               const Soc& soc) const override {
    const std::uint64_t image = storage_bytes(with_format(task.in(0), format.inputs[0], soc));
    const std::uint64_t row = image / static_cast<std::uint64_t>(task.in(0).shape[kRowAxis]);
    Kernel kernel{.kind = KernelKind::kNone, .sharing = {.inputs_in_output = false}};
    kernel.sharing.offsets = {row * static_cast<std::uint64_t>(*only_int(task, 1))};
    return kernel;
  }
};

}  // namespace

void register_slice_in_place(ImplRegistry& registry) {
  registry.add(std::make_unique<SliceInPlace>());
}

}  // namespace aoe::compiler
