// Transpose: the dimensions in another order.
#include <algorithm>
#include <numeric>

#include "reference/elements/typed.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {
namespace {

/// perm[d] is the input dimension that becomes output dimension d; reversed by default.
std::vector<std::size_t> permutation(const Attrs& attrs, std::size_t rank) {
  std::vector<std::size_t> perm(rank);
  std::iota(perm.rbegin(), perm.rend(), std::size_t{0});
  if (!attrs.has("perm")) return perm;
  const std::vector<std::int64_t> listed = attrs.get_ints("perm");
  const std::vector<std::size_t> given(listed.begin(), listed.end());
  if (!std::is_permutation(given.begin(), given.end(), perm.begin(), perm.end()))
    fail_model("attribute 'perm' " + to_string(listed) + " does not order " + std::to_string(rank) +
               " dimensions");
  return given;
}

Shape permuted(const Shape& shape, const std::vector<std::size_t>& perm) {
  Shape result;
  for (const std::size_t d : perm) result.push_back(shape[d]);
  return result;
}

std::vector<TensorDesc> infer_transpose(const InferContext& ctx) {
  const Shape& in = ctx.shape(0);
  return {{.dtype = ctx.dtype(0), .shape = permuted(in, permutation(ctx.attrs, in.size()))}};
}

void compute_transpose(const OpContext& ctx) {
  const Tensor& in = ctx.inputs[0];
  const Tensor& out = ctx.outputs[0];
  const Strides from =
      permuted(dense_strides(in.desc.shape), permutation(ctx.attrs, in.desc.shape.size()));
  copy_strided(in.desc.dtype, out.desc.shape, {in.data, 0, from},
               {out.data, 0, dense_strides(out.desc.shape)});
}

}  // namespace

void register_transpose(OpRegistry& registry) {
  registry.add({.type = "Transpose",
                .signature = {"a", "perm=ints:0.."},
                .kind = OpKind::kMove,
                .infer = infer_transpose,
                .compute = compute_transpose,
                .slices = all_apart,
                .moved = 1});
}

}  // namespace aoe::reference
