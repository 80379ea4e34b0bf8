// Trilu: the upper or lower triangle of matrices, zeros elsewhere.
#include <algorithm>

#include "reference/elementwise.h"
#include "reference/tensors/axes.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_trilu(const InferContext& ctx) {
  if (ctx.shape(0).size() < 2)
    fail_model("the shape is " + to_string(ctx.shape(0)) + ", expected matrices");
  return infer_like_first(ctx);
}

void compute_trilu(const OpContext& ctx) {
  const Shape& shape = ctx.inputs[0].desc.shape;
  const std::int64_t columns = shape[shape.size() - 1];
  const std::int64_t rows = shape[shape.size() - 2];
  const std::int64_t all_rows = dim_product(shape, 0, shape.size() - 1);
  const bool is_upper = ctx.attrs.get_int("upper", 1) != 0;
  const std::int64_t k =
      ctx.has_input(1)
          ? std::clamp(read_scalar<std::int64_t>(ctx.inputs[1], "k"), -rows - 1, columns + 1)
          : 0;
  visit_word(ctx.inputs[0].desc.dtype, [&]<typename Word>() {
    for (std::int64_t i = 0; i < all_rows; ++i) {
      const Word* x = ctx.inputs[0].as<Word>() + i * columns;
      Word* y = ctx.outputs[0].as<Word>() + i * columns;
      // Column i % rows + k is on the diagonal, which belongs to both triangles.
      const std::int64_t diagonal = i % rows + k;
      const std::int64_t split =
          std::clamp<std::int64_t>(is_upper ? diagonal : diagonal + 1, 0, columns);
      std::fill(y, y + columns, Word{0});
      if (is_upper)
        std::copy(x + split, x + columns, y + split);
      else
        std::copy(x, x + split, y);
    }
  });
}

}  // namespace

void register_trilu(OpRegistry& registry) {
  registry.add({.type = "Trilu",
                .signature = {"a:2+ l?:0-1", "upper=0..1"},
                .kind = OpKind::kMove,
                .infer = infer_trilu,
                .compute = compute_trilu});
}

}  // namespace aoe::reference
