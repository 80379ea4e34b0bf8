// Every Impl on drawn shapes (shape_draw.h) with NaN, infinities, numbers near the end of their type's range and denormal ones in what it reads:
// what Impl::not_finite() says of its results holds, and nothing outside the buffers is touched. Seeds as in generated_shapes_test.cpp:
//
//   AOE_FIRST_SEED=4711 AOE_SHAPES=1 aoe_impls_test --gtest_filter='*SpecialValues*/0'
//
// Not asked, as each order of a sum has its own answer: several large numbers in one tensor, whose sum may or may not leave the range on its way;
// weights of NaN or infinity, by which padding is multiplied as zeros.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "graph/precision.h"
#include "tests/compiler/shape_draw.h"

namespace aoe::compiler {
namespace {

using tests::Random;
using tests::Seeds;

enum class Special { kNan, kInfinity, kHuge, kDenormal };
constexpr std::size_t kSpecials = 4;

using Limits = std::numeric_limits<float>;

float value_of(Special special, Random& random) {
  const float sign = random.below(2) == 0 ? 1.0f : -1.0f;
  static constexpr float kHuge[] = {1e10f, 1e18f, 1e30f, 2e38f};
  static constexpr float kDenormal[] = {Limits::denorm_min(), 1e-40f, Limits::min() / 2,
                                        Limits::min(), 0.0f};
  switch (special) {
    case Special::kNan:
      return Limits::quiet_NaN();
    case Special::kInfinity:
      return sign * Limits::infinity();
    case Special::kHuge:
      return sign * random.pick(kHuge);
    case Special::kDenormal:
      return sign * random.pick(kDenormal);
  }
  return 0;
}

bool is_weights(const Task& task, std::size_t input) {
  return task.inputs[input].constant != nullptr ||
         (input == 1 && task.anchor().type.starts_with("Conv"));
}

/// Whether an input was changed. Constants may be what shapes or simpler forms of an operator depend on: they stay.
bool put_into(ShapeLine& line, std::size_t input, Special special, Random& random) {
  const TaskInput& read = line.task.inputs[input];
  if (!read.is_present() || read.desc.dtype != DataType::kFloat) return false;
  const auto count = static_cast<std::size_t>(element_count(read.desc.shape));
  if (count == 0 || is_weights(line.task, input)) return false;
  float* const values = line.inputs[input]->view().as<float>();
  const std::uint32_t most = special == Special::kHuge ? 1 : 1 + random.below(1 + count / 16);
  for (std::uint32_t i = 0; i < most; ++i) values[random.below(count)] = value_of(special, random);
  return true;
}

bool put_somewhere(ShapeLine& line, Special special, Random& random) {
  bool is_changed = false;
  for (std::size_t i = 0; i < line.inputs.size(); ++i) {
    is_changed |= put_into(line, i, special, random);
    if (is_changed && special == Special::kHuge) break;
  }
  return is_changed;
}

/// Which integer NaN becomes no specification says; fused, it may stay what it is.
bool quantises(const reference::OpCall& call) {
  return call.type == "Quantize" ||
         (call.body && std::ranges::any_of(call.body->steps, [](const reference::BodyStep& step) {
            return quantises(step.call);
          }));
}

/// Squares of large numbers, and products of many, leave the range of float32, not that of the reference's float64, and halves have less of either; a power
/// to a half is a square root, which differs for one number, negative infinity.
bool is_open(const Task& task, Special special) {
  static const std::set<std::string> kSquaring = {
      "LayerNorm", "InstanceNorm", "GroupNorm", "RMSNorm",    "LRN",
      "LpNorm",    "LpPool",       "ReduceL2",  "ReduceProd", "LinearAttention"};
  const std::string& type = task.anchor().type;
  // A gate of Relu is as large as what it reads, and is multiplied by states that are.
  const bool has_open_gates = reference::is_kind(type, reference::OpKind::kRecurrence) &&
                              task.anchor().attrs.has("activations");
  // Where NaN stands in an order, and what is drawn by weights that are no numbers.
  if (special == Special::kNan && (!is_floating(task.out().dtype) || quantises(task.op)))
    return true;
  if (special != Special::kDenormal && type == "Multinomial") return true;
  if (special != Special::kDenormal && type == "ROIAlign") return true;  // refuses such regions
  const bool in_halves = graph::allows_bf16(task.op) || graph::allows_fp16(task.op);
  return (special == Special::kHuge && (in_halves || has_open_gates || kSquaring.contains(type))) ||
         (special == Special::kInfinity && type == "Pow");
}

class SpecialValues : public testing::TestWithParam<std::uint32_t> {};

TEST_P(SpecialValues, AreWhereTheImplSays) {
  check_drawn_shapes(
      Seeds("AOE_SHAPES", 300), GetParam(), {.sampled_schedules = 0, .has_special_values = true},
      [](ShapeLine& line, ShapeDraw& draw) {
        const auto special = static_cast<Special>(draw.random().below(kSpecials));
        return !is_open(line.task, special) && put_somewhere(line, special, draw.random());
      });
}
INSTANTIATE_TEST_SUITE_P(Shards, SpecialValues, testing::Range(0u, Seeds::kShards));

}  // namespace
}  // namespace aoe::compiler
