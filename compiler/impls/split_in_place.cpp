// compiler/impls/split_in_place.cpp: a split without copies where the parts lie behind each other in
// the whole (the channels of one image, the columns of one row): they are pieces of it, which stays
// where it is. The counterpart of concat_in_place.
// Tested by tests/compiler/placement_test.cpp through whole models.
#include <algorithm>

#include "compiler/sharing_impl.h"
#include "reference/tensors/split_sizes.h"

namespace aoe::compiler {
namespace {

std::int64_t split_axis(const Task& task) {
  const auto rank = static_cast<std::int64_t>(task.in(0).shape.size());
  const std::int64_t axis = task.op.attrs.get_int("axis", 0);
  return axis < 0 ? axis + rank : axis;
}

/// How often the parts alternate in row-major memory.
std::int64_t rows_of(const Task& task) {
  const Shape& shape = task.in(0).shape;
  return element_count({shape.begin(), shape.begin() + split_axis(task)});
}

/// What the parts are, those that nobody reads with them; empty where it is not said how long those are.
std::vector<TensorDesc> parts_of(const Task& task) {
  const TensorDesc& whole = task.in(0);
  const auto axis = static_cast<std::size_t>(split_axis(task));
  const auto sizes = reference::split_sizes(task.op.attrs, task.op.version, task.tensors(),
                                            whole.shape[axis], task.outputs.size());
  std::vector<TensorDesc> parts = task.outputs;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].dtype != DataType::kUndefined) continue;
    if (!sizes) return {};
    parts[i] = whole;
    parts[i].shape[axis] = (*sizes)[i];
  }
  return parts;
}

class SplitInPlace final : public SharingImpl {
 public:
  std::string_view name() const override { return "split_in_place"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (task.op.type != "SplitV") return Unexpected(task.op.type + " is no split");
    if (task.in(0).dtype != DataType::kFloat) return Unexpected("needs float32");
    if (rows_of(task) != 1)
      return Unexpected("the parts of " + std::to_string(rows_of(task)) + " rows interleave");
    if (parts_of(task).empty()) return Unexpected("the length of a part that nobody reads is open");
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc& soc) const override {
    std::vector<FormatChoice> choices;
    const auto add = [&](Format format) { choices.push_back(pieces_in(task, format)); };
    add(Format::kND);
    if (task.in(0).shape.size() != 4 || split_axis(task) > 1) return choices;
    if (split_axis(task) == 0) {  // whole images, however they are stored
      add(Format::kNHWC);
      add(Format::kNC1HWC0);
      return choices;
    }
    // The last part may end within a block: what lies behind it is padding of the whole, too.
    const std::vector<TensorDesc> parts = parts_of(task);
    const bool are_whole_blocks = std::all_of(
        parts.begin(), std::prev(parts.end()),
        [&](const TensorDesc& part) { return part.shape[1] % soc.vector_lanes() == 0; });
    if (are_whole_blocks) add(Format::kNC1HWC0);
    return choices;
  }

  Kernel::Sharing sharing(const Task& task, const FormatChoice& format,
                          const Soc& soc) const override {
    Kernel::Sharing sharing{.inputs_in_output = false};
    std::uint64_t offset = 0;
    for (const TensorDesc& part : parts_of(task)) {
      sharing.offsets.push_back(offset);
      offset += storage_bytes(with_format(part, format.outputs[sharing.offsets.size() - 1], soc));
    }
    return sharing;
  }
};

}  // namespace

void register_split_in_place(ImplRegistry& registry) {
  registry.add(std::make_unique<SplitInPlace>());
}

}  // namespace aoe::compiler
