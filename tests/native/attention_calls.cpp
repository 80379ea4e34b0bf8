// Random calls of attention: factors that lie as models have them, heads that share keys, masks that hide whole rows.
#include <algorithm>
#include <numeric>
#include <random>

#include "tests/native/draw.h"

namespace aoe::native {
namespace {

/// Axes of `factor` in any order, without some of those of size 1 in front; `lying` gets the tensor's shape.
std::vector<std::int64_t> turned_axes(Draw& draw, const Shape& factor, Shape& lying) {
  std::vector<std::int64_t> order;
  for (std::size_t d = 0; d < factor.size(); ++d)
    if (factor[d] != 1 || d + 2 >= factor.size() || draw.chance(50))
      order.push_back(static_cast<std::int64_t>(d));
  for (std::size_t i = order.size(); i > 1; --i)
    if (draw.chance(40))
      std::swap(order[i - 1], order[static_cast<std::size_t>(draw.in(0, std::ssize(order) - 1))]);
  std::vector<std::int64_t> axes(factor.size(), -1);
  lying.clear();
  for (const std::int64_t axis : order) {
    axes[static_cast<std::size_t>(axis)] = std::ssize(lying);
    lying.push_back(factor[static_cast<std::size_t>(axis)]);
  }
  return axes;
}

/// In front of a factor's rows and columns: some dimensions stretch, some are left out.
Shape factor_of(Draw& draw, Shape batch, std::int64_t rows, std::int64_t columns, int stretched) {
  for (std::int64_t& dim : batch)
    if (draw.chance(stretched)) dim = 1;
  if (draw.chance(10)) batch.erase(batch.begin(), batch.begin() + draw.in(0, std::ssize(batch)));
  batch.insert(batch.end(), {rows, columns});
  return batch;
}

struct Sizes {
  Shape batch;
  std::int64_t queries, keys, depth, value_depth;
};

/// More of them than a block has, now and then, or none.
Sizes draw_sizes(Draw& draw) {
  const auto length = [&] {
    return draw.chance(5)    ? 0
           : draw.chance(15) ? draw.in(100, 700)
           : draw.chance(50) ? draw.in(1, 8)
                             : draw.in(1, 70);
  };
  Sizes s{.queries = length(),
          .keys = length(),
          .depth = draw.in(1, 40),
          .value_depth = draw.in(1, 40)};
  if (draw.chance(3)) s.depth = 0;
  if (draw.chance(3)) s.value_depth = 0;
  const bool is_large = s.queries * s.keys > 20'000;
  for (std::int64_t i = draw.in(0, 3); i > 0; --i)
    s.batch.push_back(draw.chance(3) ? 0 : draw.in(1, is_large ? 2 : 4));
  return s;
}

ConstantPtr draw_mask(Draw& draw, const Sizes& s, bool is_bound) {
  const int hidden = draw.one_of({0, 30, 90, 100}), odd = draw.chance(5) ? 2 : 0;
  const Shape shape =
      factor_of(draw, s.batch, draw.chance(50) ? s.queries : 1, draw.chance(90) ? s.keys : 1, 50);
  const double low = draw.one_of({-kInfinity, -1e9, -3.4028234663852886e38});
  // Rows that see the first keys, or all.
  const std::int64_t row = std::max<std::int64_t>(shape.back(), 1);
  const std::int64_t seen = draw.chance(50) ? row : draw.in(0, row);
  std::int64_t drawn = -1;
  return made(DataType::kFloat, shape,
              [&draw, hidden, odd, low, is_bound, row, seen, drawn]() mutable {
                if (draw.chance(odd)) return draw.one_of({kNan, kInfinity});
                if (draw.chance(hidden) || ++drawn % row >= seen) return low;
                return is_bound ? kInfinity : draw.real(-2, 2);
              });
}

RandomCall draw_attention(Draw& draw) {
  Sizes s = draw_sizes(draw);
  RandomCall drawn{.call = {.type = "FusedInferAttentionScore"}, .tolerance = 2e-5};
  reference::Attrs& attrs = drawn.call.attrs;
  const bool is_masked = draw.chance(60);
  const int odd = !is_masked && draw.chance(10) ? 1 : 0;  // what is hidden may be left out
  const std::int64_t key_heads = s.batch.empty() ? 1 : s.batch.back();
  const std::int64_t repeats = !s.batch.empty() && draw.chance(20) ? draw.in(2, 3) : 1;
  if (repeats > 1) attrs.set("repeats", repeats), s.batch.back() *= repeats;
  /// Of keys or values.
  const auto shared = [&](std::int64_t rows, std::int64_t columns) {
    Shape factor = factor_of(draw, s.batch, rows, columns, 40);
    if (repeats == 1) return factor;
    if (factor.size() == 2) factor.insert(factor.begin(), 1);
    factor.end()[-3] = key_heads;
    return factor;
  };
  const auto add = [&](const char* axes, const Shape& factor) {
    Shape lying;
    attrs.set(axes, turned_axes(draw, factor, lying));
    drawn.inputs.push_back(made(DataType::kFloat, lying, [&draw, odd] {
      return draw.chance(odd) && draw.chance(2) ? kNan : draw.real(-2, 2);
    }));
  };
  // A mask may have more keys, and queries, than the first product.
  const bool stretches = is_masked && draw.chance(5);
  const std::int64_t few = stretches ? 1 : s.keys;
  add("query_axes", factor_of(draw, s.batch, s.queries, s.depth, 5));
  add("key_axes", shared(s.depth, few));
  add("value_axes", shared(s.keys, s.value_depth));
  if (is_masked) {
    const bool is_bound = draw.chance(40);
    if (is_bound) attrs.set("mask_mode", std::string("min"));
    ConstantPtr mask = draw_mask(draw, s, is_bound);
    while (mask->desc().shape.size() < 2 || (stretches && mask->desc().shape.back() != s.keys))
      mask = draw_mask(draw, s, is_bound);
    drawn.inputs.push_back(mask);
  }
  attrs.set("scale_value", static_cast<float>(draw.real(0.05, 0.5)));
  return drawn;
}

/// Of few or many tokens and heads; angles of each image or of all, for all of a head or its first elements.
RandomCall draw_rotary_mul(Draw& draw) {
  RandomCall drawn{.call = {.type = "RotaryMul", .version = 1}, .tolerance = 1e-6};
  const Shape x = {draw.in(0, 3), draw.dim(), draw.dim(), draw.in(0, 70)};
  const std::int64_t heads_axis = draw.in(1, 2);
  drawn.call.attrs.set("heads_axis", heads_axis);
  drawn.call.attrs.set("interleaved", draw.in(0, 1));
  const std::int64_t pairs = draw.chance(50) ? x[3] / 2 : draw.in(0, x[3] / 2);
  drawn.inputs = {numbers(draw, DataType::kFloat, x)};
  for (int i = 0; i < 2; ++i) {
    const Shape angles = {draw.chance(50) ? 1 : x[0], x[static_cast<std::size_t>(3 - heads_axis)],
                          pairs};
    drawn.inputs.push_back(numbers(draw, DataType::kFloat, angles, -1, 1));
  }
  return drawn;
}

}  // namespace

void add_attention_drawers(Drawers& drawers) {
  drawers["RotaryMul"] = draw_rotary_mul;
  drawers["FusedInferAttentionScore"] = [](Draw& draw) {
    RandomCall drawn = draw_attention(draw);
    std::vector<Tensor> inputs;
    for (const ConstantPtr& input : drawn.inputs) inputs.push_back(input->view());
    const std::size_t rank = reference::infer(drawn.call, inputs, 1)[0].shape.size();
    std::vector<std::int64_t> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    for (std::size_t i = rank; i > 1; --i)
      if (draw.chance(40))
        std::swap(axes[i - 1], axes[static_cast<std::size_t>(draw.in(0, std::ssize(axes) - 1))]);
    drawn.call.attrs.set("output_axes", axes);
    return drawn;
  };
}

}  // namespace aoe::native
