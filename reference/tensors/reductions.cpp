// Which axes a reduction goes over.
#include "reference/tensors/reductions.h"

#include "reference/elements/typed.h"
#include "reference/tensors/axes.h"

namespace aoe::reference {

int input_axes_since(const std::string& type) {
  return type == "ReduceSum" ? 13 : 18;
}

std::optional<std::vector<bool>> reduced_axes(const std::string& type, int version,
                                              const Attrs& attrs, std::span<const Tensor> inputs) {
  const std::size_t rank = inputs[0].desc.shape.size();
  std::vector<std::int64_t> axes = attrs.get_ints("axes");
  if (version >= input_axes_since(type) && inputs.size() > 1 && inputs[1].is_present()) {
    const bool is_empty = inputs[1].elements() == 0;
    if (inputs[1].data == nullptr && !is_empty) return std::nullopt;
    if (!is_empty) axes = read_ints(inputs[1]);
  }
  if (axes.empty()) {
    const bool keeps_all = attrs.get_int("noop_with_empty_axes", 0) != 0;
    return std::vector<bool>(rank, !keeps_all);
  }
  std::vector<bool> flags(rank, false);
  for (const std::size_t axis : normalize_axes(axes, rank)) flags[axis] = true;
  return flags;
}

Strides output_strides(const Shape& in, const std::vector<bool>& reduced) {
  Strides strides(in.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t d = in.size(); d-- > 0;) {
    if (reduced[d]) continue;
    strides[d] = stride;
    stride *= in[d];
  }
  return strides;
}

}  // namespace aoe::reference
