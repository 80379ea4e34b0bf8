// compiler/impls/concat_in_place.cpp: concatenation without copies: the parts lie one behind the other in the result, so
// their producers write straight into it. What cannot be placed so (a model input, a part used twice) is copied.
// Tested by tests/compiler/placement_test.cpp through whole models.
#include <algorithm>
#include <numeric>

#include "compiler/sharing_impl.h"

namespace aoe::compiler {
namespace {

std::int64_t axis_of(const Task& task) {
  const auto rank = static_cast<std::int64_t>(task.out().shape.size());
  const std::int64_t axis = task.op.attrs.get_int("axis", 1);
  return axis < 0 ? axis + rank : axis;
}

/// Nothing but dimensions of 1 stands before the axis: the parts are whole pieces of the result.
bool is_outermost(const Shape& shape, std::int64_t axis) {
  return std::all_of(shape.begin(), shape.begin() + axis,
                     [](std::int64_t dim) { return dim == 1; });
}

class ConcatInPlace final : public SharingImpl {
 public:
  std::string_view name() const override { return "concat_in_place"; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    if (task.op.type != "ConcatV2") return Unexpected(task.op.type + " is no concatenation");
    for (const TaskInput& input : task.inputs) {
      if (!input.is_present() || input.constant)
        return Unexpected("a part is a constant or absent");
      if (storage_bytes(input.desc) % sizeof(float) != 0)
        return Unexpected("a part of " + std::to_string(storage_bytes(input.desc)) +
                          " bytes is no whole number of words");
    }
    if (formats(task, soc).empty())
      return Unexpected("the parts of axis " + std::to_string(axis_of(task)) + " interleave in " +
                        aoe::to_string(task.out().shape));
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc& soc) const override {
    std::vector<FormatChoice> choices;
    const auto add = [&](Format format) {
      choices.push_back({std::string(aoe::name(format)),
                         std::vector<Format>(task.inputs.size(), format),
                         {format}});
    };
    const std::int64_t axis = axis_of(task);
    const Shape& out = task.out().shape;
    if (out.size() == 4 && out[0] == 1 && axis == 2 && task.out().dtype == DataType::kFloat) {
      add(Format::kNHWC);  // rows of one image lie behind each other
      if (out[1] <= soc.vector_lanes()) add(Format::kNC1HWC0);
    }
    if (!is_outermost(out, axis)) return choices;
    add(Format::kND);
    if (task.out().shape.size() != 4 || task.out().dtype != DataType::kFloat) return choices;
    const bool are_whole_blocks = std::ranges::all_of(task.inputs, [&](const TaskInput& input) {
      return input.desc.shape[1] % soc.vector_lanes() == 0;
    });
    if (axis == 0) add(Format::kNHWC);
    if (axis == 0 || (axis == 1 && are_whole_blocks)) add(Format::kNC1HWC0);
    return choices;
  }

  Kernel::Sharing sharing(const Task& task, const FormatChoice& format,
                          const Soc& soc) const override {
    Kernel::Sharing sharing{.inputs_in_output = true};
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
      sharing.offsets.push_back(offset);
      offset += storage_bytes(with_format(task.in(i), format.inputs[i], soc));
    }
    return sharing;
  }
};

}  // namespace

void register_concat_in_place(ImplRegistry& registry) {
  registry.add(std::make_unique<ConcatInPlace>());
}

}  // namespace aoe::compiler
