// Elementwise operators and reductions: small cases worked out by hand, one row each.
#include <cmath>
#include <limits>

#include "op_case.h"

namespace aoe::reference {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
using Ints = std::vector<std::int64_t>;

std::vector<OpCase> elementwise_cases() {
  const auto int8s = [](std::vector<double> v) {
    return make_tensor(DataType::kInt8, {static_cast<std::int64_t>(v.size())}, v);
  };
  const auto halves = [](std::vector<double> v) {
    return make_tensor(DataType::kFloat16, {static_cast<std::int64_t>(v.size())}, v);
  };
  return {
      {"add_stretches_both_sides",
       "Add",
       {floats({2, 1}, {1, 2}), floats({3}, {10, 20, 30})},
       {2, 3},
       {11, 21, 31, 12, 22, 32}},
      {"add_scalar_to_scalar", "Add", {floats({}, {1}), floats({}, {2})}, {}, {3}},
      {"add_of_int8_wraps", "Add", {int8s({127, -128}), int8s({1, -1})}, {2}, {-128, 127}},
      {"add_to_nothing", "Add", {floats({0, 3}, {}), floats({1}, {1})}, {0, 3}, {}},
      {"add_of_half_rounds_once", "Add", {halves({2048}), halves({1})}, {1}, {2048}},
      {"sub_inner_stretch",
       "Sub",
       {floats({2, 2}, {1, 2, 3, 4}), floats({2, 1}, {1, 2})},
       {2, 2},
       {0, 1, 1, 2}},
      {"div_of_integers_truncates",
       "Div",
       {ints({4}, {7, -7, 7, -7}), ints({4}, {2, 2, -2, -2})},
       {4},
       {3, -3, -3, 3}},
      {"div_of_the_smallest_by_minus_one", "Div", {int8s({-128}), int8s({-1})}, {1}, {-128}},
      {"mod_has_the_sign_of_the_divisor",
       "Mod",
       {ints({4}, {7, -7, 7, -7}), ints({4}, {3, 3, -3, -3})},
       {4},
       {1, 2, -2, -1}},
      {"fmod_has_the_sign_of_the_dividend",
       "Mod",
       {ints({2}, {7, -7}), ints({2}, {-3, 3})},
       {2},
       {1, -1},
       {{"fmod", 1L}}},
      {"pow_of_integers_is_exact",
       "Pow",
       {ints({2}, {3, -2}), ints({2}, {33, 3})},
       {2},
       {5559060566555523, -8}},
      {"pow_keeps_the_type_of_the_base",
       "Pow",
       {floats({2}, {4, 9}), make_tensor(DataType::kDouble, {}, {0.5})},
       {2},
       {2, 3}},
      {"prelu_per_channel",
       "PRelu",
       {floats({1, 2, 2}, {-1, 1, -1, 1}), floats({2, 1}, {2, 3})},
       {1, 2, 2},
       {-2, 1, -3, 1}},
      {"bit_shift_by_all_bits",
       "BitShift",
       {make_tensor(DataType::kUint8, {2}, {255, 255}), make_tensor(DataType::kUint8, {2}, {8, 4})},
       {2},
       {0, 240},
       {{"direction", "LEFT"}}},
      {"max_of_three",
       "Maximum",
       {floats({2}, {1, 5}), floats({}, {3}), floats({2}, {2, 9})},
       {2},
       {3, 9}},
      {"max_of_nan", "Maximum", {floats({2}, {NAN, 1}), floats({2}, {1, NAN})}, {2}, {NAN, NAN}},
      {"min_of_integers", "Minimum", {ints({2}, {1, 5}), ints({2}, {3, -4})}, {2}, {1, -4}},
      {"mean_of_three",
       "MeanN",
       {floats({1}, {1}), floats({2}, {2, 5}), floats({1}, {3})},
       {2},
       {2, 3}},
      {"sum_of_one", "AddN", {floats({2}, {1, 2})}, {2}, {1, 2}},
      {"clip_by_inputs",
       "ClipByValue",
       {floats({3}, {-5, 0.5, 5}), floats({}, {-1}), floats({}, {1})},
       {3},
       {-1, 0.5, 1}},
      {"clip_without_lower_bound",
       "ClipByValue",
       {floats({2}, {-5, 5}), nullptr, floats({}, {1})},
       {2},
       {-5, 1}},
      {"clip_with_crossed_bounds",
       "ClipByValue",
       {floats({1}, {0}), floats({}, {2}), floats({}, {1})},
       {1},
       {1}},
      {"clip_by_attributes",
       "ClipByValue",
       {floats({2}, {-5, 5})},
       {2},
       {0, 5},
       {{"min", 0.0f}},
       1},
      {"relu", "Relu", {floats({3}, {-1, 0, 2})}, {3}, {0, 0, 2}},
      {"rint_to_even", "Rint", {floats({4}, {0.5, 1.5, 2.5, -2.5})}, {4}, {0, 2, 2, -2}},
      {"sign", "Sign", {floats({3}, {-3, 0, 2})}, {3}, {-1, 0, 1}},
      {"abs_of_the_smallest", "Abs", {int8s({-128, -1})}, {2}, {-128, 1}},
      {"hard_sigmoid", "HardSigmoid", {floats({3}, {-10, 0, 10})}, {3}, {0, 0.5, 1}},
      {"softplus_does_not_overflow", "Softplus", {floats({2}, {1000, -1000})}, {2}, {1000, 0}},
      {"gelu_at_zero_and_far_out", "Gelu", {floats({3}, {-20, 0, 20})}, {3}, {0, 0, 20}},
      {"is_inf_negative_only",
       "IsInf",
       {floats({3}, {kInf, -kInf, 1})},
       {3},
       {0, 1, 0},
       {{"detect_positive", 0L}}},
      {"is_nan", "IsNan", {floats({2}, {NAN, 1})}, {2}, {1, 0}},
      {"less_of_unsigned",
       "Less",
       {make_tensor(DataType::kUint8, {2}, {200, 1}), make_tensor(DataType::kUint8, {1}, {100})},
       {2},
       {0, 1}},
      {"where_stretches_all_three",
       "SelectV2",
       {bools({2, 1}, {1, 0}), floats({2}, {1, 2}), floats({}, {9})},
       {2, 2},
       {1, 2, 9, 9}},
      {"cast_truncates_toward_zero",
       "Cast",
       {floats({4}, {1.9, -1.9, NAN, 300})},
       {4},
       {1, -1, 0, 300},
       {{"to", 6L}}},
      {"cast_to_uint8_wraps", "Cast", {floats({2}, {-1, 257})}, {2}, {255, 1}, {{"to", 2L}}},
      {"cast_to_bool", "Cast", {floats({3}, {0, -0.5, NAN})}, {3}, {0, 1, 1}, {{"to", 9L}}},
  };
}

std::vector<OpCase> reduction_cases() {
  const ConstantPtr x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  return {
      {"sum_over_all_axes", "ReduceSum", {x}, {1, 1}, {21}},
      {"sum_over_the_last", "ReduceSum", {x, ints({1}, {-1})}, {2}, {6, 15}, {{"keepdims", 0L}}},
      {"sum_over_the_first", "ReduceSum", {x, ints({1}, {0})}, {1, 3}, {5, 7, 9}},
      {"sum_with_no_axes_is_the_input",
       "ReduceSum",
       {x, ints({0}, {})},
       {2, 3},
       {1, 2, 3, 4, 5, 6},
       {{"noop_with_empty_axes", 1L}}},
      {"sum_with_axes_as_attribute", "ReduceSum", {x}, {2, 1}, {6, 15}, {{"axes", Ints{1}}}, 1},
      {"sum_of_nothing", "ReduceSum", {floats({0, 2}, {}), ints({1}, {0})}, {1, 2}, {0, 0}},
      {"mean", "ReduceMean", {x, ints({1}, {1})}, {2, 1}, {2, 5}},
      {"mean_before_opset_18", "ReduceMean", {x}, {2, 1}, {2, 5}, {{"axes", Ints{-1}}}, 1},
      {"max_of_the_middle_axis",
       "ReduceMax",
       {floats({1, 2, 2}, {1, 8, 3, 4}), ints({1}, {1})},
       {1, 1, 2},
       {3, 8}},
      {"max_of_nothing", "ReduceMax", {floats({0}, {})}, {1}, {-kInf}},
      {"min_of_integers", "ReduceMin", {ints({3}, {4, -1, 7})}, {1}, {-1}},
      {"prod", "ReduceProd", {x, ints({1}, {1})}, {2, 1}, {6, 120}},
      {"l1", "ReduceL1", {floats({3}, {-1, 2, -3})}, {1}, {6}},
      {"l2", "ReduceL2", {floats({2}, {3, 4})}, {1}, {5}},
      {"sum_square", "ReduceSumSquare", {floats({2}, {3, 4})}, {1}, {25}},
      {"log_sum_exp_does_not_overflow",
       "ReduceLogSumExp",
       {floats({2}, {1000, 1000})},
       {1},
       {1000 + std::log(2)}},
      {"log_sum_exp_of_minus_infinity",
       "ReduceLogSumExp",
       {floats({2}, {-kInf, -kInf})},
       {1},
       {-kInf}},
      {"scalar", "ReduceSum", {floats({}, {3})}, {}, {3}},
      {"arg_max_takes_the_first",
       "ArgMaxV2",
       {floats({1, 3}, {5, 7, 7})},
       {1, 1},
       {1},
       {{"axis", 1L}}},
      {"arg_max_takes_the_last",
       "ArgMaxV2",
       {floats({1, 3}, {5, 7, 7})},
       {1},
       {2},
       {{"axis", 1L}, {"select_last_index", 1L}, {"keepdims", 0L}}},
      {"arg_min_over_the_first", "ArgMin", {floats({2, 2}, {1, 4, 3, 2})}, {1, 2}, {0, 1}},
  };
}

TEST(Bools, AreTrueWhateverTheirByteIs) {
  const std::uint8_t bytes[] = {0, 1, 2, 255};
  const auto x =
      std::make_shared<Constant>(TensorDesc{.dtype = DataType::kBool, .shape = {4}}, bytes);
  check({"not", "LogicalNot", {x}, {4}, {1, 0, 0, 0}});
  check({"equal", "Equal", {x, make_tensor(DataType::kBool, {}, {1})}, {4}, {0, 1, 1, 1}});
}

class MathOps : public testing::TestWithParam<OpCase> {};
TEST_P(MathOps, GiveWhatWasWorkedOutByHand) {
  check(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Elementwise, MathOps, testing::ValuesIn(elementwise_cases()),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Reductions, MathOps, testing::ValuesIn(reduction_cases()),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace aoe::reference
