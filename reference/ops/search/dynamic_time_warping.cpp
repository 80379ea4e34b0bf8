// DynamicTimeWarping: the cheapest way through a matrix of costs from its first corner to its last, down, right or both at
// each step; of ways that cost the same, the one that a step to the right belongs to.
#include <limits>
#include <utility>
#include <vector>

#include "reference/fail.h"
#include "reference/op.h"

namespace aoe::reference {
namespace {

enum class Step : std::uint8_t { kBoth, kDown, kRight };
using Path = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Steps by which the cheapest way comes to each place, with a row and a column of borders in front.
std::vector<Step> steps_through(const float* costs, std::int64_t rows, std::int64_t columns) {
  const std::int64_t width = columns + 1;
  constexpr float kNever = std::numeric_limits<float>::infinity();
  std::vector<float> before(static_cast<std::size_t>(width), kNever), now = before;
  std::vector<Step> steps(static_cast<std::size_t>((rows + 1) * width), Step::kRight);
  before[0] = 0;
  for (std::int64_t i = 1; i <= rows; ++i) {
    now[0] = kNever;
    steps[static_cast<std::size_t>(i * width)] = Step::kDown;
    for (std::int64_t j = 1; j <= columns; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const float both = before[at - 1], down = before[at], right = now[at - 1];
      const bool is_both = both < down && both < right, is_down = down < both && down < right;
      now[at] = costs[(i - 1) * columns + j - 1] + (is_both ? both : is_down ? down : right);
      steps[static_cast<std::size_t>(i * width + j)] = is_both   ? Step::kBoth
                                                       : is_down ? Step::kDown
                                                                 : Step::kRight;
    }
    std::swap(before, now);
  }
  return steps;
}

/// Places of the way, the last first.
Path path_of(const Tensor& costs) {
  const Shape& shape = costs.desc.shape;
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  Path path;
  if (rows == 0 || columns == 0) return path;
  const std::vector<Step> steps = steps_through(costs.as<float>(), rows, columns);
  std::int64_t i = rows, j = columns;
  while (i > 0 || j > 0) {
    path.emplace_back(i - 1, j - 1);
    const Step step = steps[static_cast<std::size_t>(i * (columns + 1) + j)];
    if (step != Step::kRight) --i;
    if (step != Step::kDown) --j;
  }
  return path;
}

std::vector<TensorDesc> infer_warping(const InferContext& context) {
  const Shape& x = context.shape(0);
  if (x.size() == 3 && x[0] != 1 && x[0] != kUnknownDim)
    fail_model("input " + to_string(x) + " is not one matrix");
  const std::int64_t length =
      context.has_value(0) ? std::ssize(path_of(context.inputs[0])) : kUnknownDim;
  return {{.dtype = DataType::kInt32, .shape = {2, length}}};
}

void compute_warping(const OpContext& context) {
  const Path path = path_of(context.inputs[0]);
  const std::size_t length = path.size();
  auto* y = context.outputs[0].as<std::int32_t>();
  for (std::size_t i = 0; i < length; ++i) {
    y[length - 1 - i] = static_cast<std::int32_t>(path[i].first);
    y[2 * length - 1 - i] = static_cast<std::int32_t>(path[i].second);
  }
}

}  // namespace

void register_dynamic_time_warping(OpRegistry& registry) {
  registry.add({.type = "DynamicTimeWarping",
                .onnx_type = "",
                .signature = {"s:2-3"},
                .kind = OpKind::kSearch,
                .infer = infer_warping,
                .compute = compute_warping,
                .infers_from_values = true});
}

}  // namespace aoe::reference
