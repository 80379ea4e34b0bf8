// Operators that move data, make it or choose from it: small cases worked out by hand, one row each.
#include "op_case.h"

namespace aoe::reference {
namespace {

using Ints = std::vector<std::int64_t>;

std::vector<OpCase> movement_cases() {
  const ConstantPtr x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  return {
      {"reshape_copies_and_completes",
       "Reshape",
       {x, ints({3}, {0, -1, 1})},
       {2, 3, 1},
       {1, 2, 3, 4, 5, 6}},
      {"reshape_to_scalar", "Reshape", {floats({1}, {7}), ints({0}, {})}, {}, {7}},
      {"reshape_zero_means_zero",
       "Reshape",
       {floats({0, 3}, {}), ints({2}, {3, 0})},
       {3, 0},
       {},
       {{"allowzero", 1L}}},
      {"flatten_behind_the_last", "FlattenV2", {x}, {6, 1}, {1, 2, 3, 4, 5, 6}, {{"axis", 2L}}},
      {"squeeze_all_ones", "Squeeze", {floats({1, 2, 1}, {1, 2})}, {2}, {1, 2}},
      {"squeeze_one", "Squeeze", {floats({1, 2, 1}, {1, 2}), ints({1}, {-1})}, {1, 2}, {1, 2}},
      {"unsqueeze_counts_in_the_output",
       "Unsqueeze",
       {floats({2}, {1, 2}), ints({2}, {-1, 0})},
       {1, 2, 1},
       {1, 2}},
      {"transpose_reverses", "Transpose", {x}, {3, 2}, {1, 4, 2, 5, 3, 6}},
      {"transpose_3d",
       "Transpose",
       {floats({1, 2, 3}, {1, 2, 3, 4, 5, 6})},
       {3, 1, 2},
       {1, 4, 2, 5, 3, 6},
       {{"perm", Ints{2, 0, 1}}}},
      {"concat_along_the_last",
       "ConcatV2",
       {x, floats({2, 1}, {7, 8})},
       {2, 4},
       {1, 2, 3, 7, 4, 5, 6, 8},
       {{"axis", -1L}}},
      {"slice_backwards",
       "Slice",
       {x, ints({1}, {-1}), ints({1}, {INT64_MIN}), ints({1}, {1}), ints({1}, {-2})},
       {2, 2},
       {3, 1, 6, 4}},
      {"slice_beyond_the_end",
       "Slice",
       {x, ints({2}, {1, 1}), ints({2}, {100, 9})},
       {1, 2},
       {5, 6}},
      {"slice_nothing", "Slice", {x, ints({1}, {2}), ints({1}, {1}), ints({1}, {1})}, {2, 0}, {}},
      {"slice_by_attributes",
       "Slice",
       {x},
       {1, 3},
       {4, 5, 6},
       {{"starts", Ints{1}}, {"ends", Ints{2}}},
       1},
      {"expand_keeps_larger_dimensions",
       "Expand",
       {floats({2, 1}, {1, 2}), ints({3}, {2, 1, 2})},
       {2, 2, 2},
       {1, 1, 2, 2, 1, 1, 2, 2}},
      {"tile",
       "Tile",
       {floats({1, 2}, {1, 2}), ints({2}, {2, 2})},
       {2, 4},
       {1, 2, 1, 2, 1, 2, 1, 2}},
      {"pad_constant_and_cut",
       "PadV3",
       {floats({1, 3}, {1, 2, 3}), ints({4}, {0, 1, 1, -1}), floats({}, {9})},
       {2, 3},
       {9, 1, 2, 9, 9, 9}},
      {"pad_one_axis",
       "PadV3",
       {floats({1, 2}, {1, 2}), ints({2}, {1, 0}), nullptr, ints({1}, {1})},
       {1, 3},
       {0, 1, 2}},
      {"pad_reflect_twice_around",
       "PadV3",
       {floats({3}, {1, 2, 3}), ints({2}, {3, 3})},
       {9},
       {2, 3, 2, 1, 2, 3, 2, 1, 2},
       {{"mode", "reflect"}}},
      {"pad_edge",
       "PadV3",
       {floats({2}, {1, 2}), ints({2}, {1, 2})},
       {5},
       {1, 1, 2, 2, 2},
       {{"mode", "edge"}}},
      {"pad_wrap",
       "PadV3",
       {floats({3}, {1, 2, 3}), ints({2}, {1, 2})},
       {6},
       {3, 1, 2, 3, 1, 2},
       {{"mode", "wrap"}}},
      {"depth_to_space_dcr",
       "DepthToSpace",
       {floats({1, 4, 1, 1}, {1, 2, 3, 4})},
       {1, 1, 2, 2},
       {1, 2, 3, 4},
       {{"blocksize", 2L}}},
      {"depth_to_space_crd",
       "DepthToSpace",
       {floats({1, 8, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8})},
       {1, 2, 2, 2},
       {1, 2, 3, 4, 5, 6, 7, 8},
       {{"blocksize", 2L}, {"mode", "CRD"}}},
      {"space_to_depth",
       "SpaceToDepth",
       {floats({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})},
       {1, 4, 1, 2},
       {1, 3, 2, 4, 5, 7, 6, 8},
       {{"blocksize", 2L}}},
      {"trilu_upper_above_the_diagonal", "Trilu", {x, ints({}, {1})}, {2, 3}, {0, 2, 3, 0, 0, 6}},
      {"trilu_lower", "Trilu", {x}, {2, 3}, {1, 0, 0, 4, 5, 0}, {{"upper", 0L}}},
      {"reverse_sequence",
       "ReverseSequence",
       {x, ints({2}, {2, 3})},
       {2, 3},
       {2, 1, 3, 6, 5, 4},
       {{"batch_axis", 0L}, {"time_axis", 1L}}},
  };
}

std::vector<OpCase> index_cases() {
  const ConstantPtr x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  return {
      {"gather_negative",
       "GatherV2",
       {x, ints({2}, {-1, 0})},
       {2, 2},
       {3, 1, 6, 4},
       {{"axis", 1L}}},
      {"gather_scalar_index_drops_the_axis", "GatherV2", {x, ints({}, {1})}, {3}, {4, 5, 6}},
      {"gather_elements", "GatherElements", {x, ints({1, 3}, {1, 0, -1})}, {1, 3}, {4, 2, 6}},
      {"gather_nd_batched",
       "GatherNd",
       {x, ints({2, 1}, {1, 2})},
       {2},
       {2, 6},
       {{"batch_dims", 1L}}},
      {"gather_nd_rows", "GatherNd", {x, ints({1, 1}, {1})}, {1, 3}, {4, 5, 6}},
      {"scatter_elements_adds_twice",
       "ScatterElements",
       {floats({3}, {0, 0, 1}), ints({3}, {2, 2, 0}), floats({3}, {5, 6, 7})},
       {3},
       {7, 0, 12},
       {{"reduction", "add"}}},
      {"scatter_elements_max",
       "ScatterElements",
       {floats({2}, {4, 4}), ints({2}, {0, 1}), floats({2}, {3, 9})},
       {2},
       {4, 9},
       {{"reduction", "max"}}},
      {"scatter_nd_rows",
       "ScatterNdUpdate",
       {x, ints({1, 1}, {-1}), floats({1, 3}, {7, 8, 9})},
       {2, 3},
       {1, 2, 3, 7, 8, 9}},
      {"compress_flat", "Compress", {x, bools({5}, {0, 1, 0, 0, 1})}, {2}, {2, 5}},
      {"compress_short_condition",
       "Compress",
       {x, bools({2}, {0, 1})},
       {2, 1},
       {2, 5},
       {{"axis", 1L}}},
      {"nonzero", "NonZero", {floats({2, 2}, {1, 0, 1, 1})}, {2, 3}, {0, 1, 1, 0, 0, 1}},
      {"one_hot_first_axis",
       "OneHot",
       {ints({2}, {1, -1}), ints({}, {3}), floats({2}, {2, 5})},
       {3, 2},
       {2, 2, 5, 2, 2, 5},
       {{"axis", 0L}}},
      {"one_hot_outside",
       "OneHot",
       {ints({1}, {3}), ints({1}, {3}), floats({2}, {0, 1})},
       {1, 3},
       {0, 0, 0}},
      {"cumsum_reverse_exclusive",
       "Cumsum",
       {floats({3}, {1, 2, 3}), ints({}, {0})},
       {3},
       {5, 3, 0},
       {{"reverse", 1L}, {"exclusive", 1L}}},
      {"shape_part",
       "Shape",
       {floats({2, 3, 4}, std::vector<double>(24))},
       {2},
       {3, 4},
       {{"start", -2L}, {"end", 9L}}},
      {"size", "Size", {x}, {}, {6}},
      {"fill",
       "Fill",
       {ints({2}, {1, 2})},
       {1, 2},
       {7, 7},
       {{"value", make_tensor(DataType::kInt32, {1}, {7})}}},
      {"constant_of_floats",
       "Const",
       {},
       {2},
       {1.5, 2},
       {{"value_floats", std::vector<float>{1.5f, 2}}}},
      {"range_down", "Range", {ints({}, {5}), ints({}, {0}), ints({}, {-2})}, {3}, {5, 3, 1}},
      {"range_of_nothing", "Range", {floats({}, {1}), floats({}, {0}), floats({}, {1})}, {0}, {}},
      {"eye_below_the_diagonal", "Eye", {x}, {2, 3}, {0, 0, 0, 1, 0, 0}, {{"k", -1L}}},
  };
}

class DataOps : public testing::TestWithParam<OpCase> {};
TEST_P(DataOps, GiveWhatWasWorkedOutByHand) {
  check(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Movement, DataOps, testing::ValuesIn(movement_cases()),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Indices, DataOps, testing::ValuesIn(index_cases()),
                         testing::PrintToStringParamName());

TEST(Split, GivesUnevenPartsWhenTheirNumberIsAnAttribute) {
  OpCall call{.type = "SplitV", .version = 13};
  call.attrs.set("num_outputs", std::int64_t{2});
  const auto outputs = run_checked(call, {floats({3}, {1, 2, 3})}, 2);
  EXPECT_EQ(outputs[0].values, (std::vector<double>{1, 2}));
  EXPECT_EQ(outputs[1].values, (std::vector<double>{3}));
}

TEST(Split, TakesSizesOfZero) {
  OpCall call{.type = "SplitV", .version = 13};
  call.attrs.set("axis", std::int64_t{-1});
  const auto outputs = run_checked(call, {floats({2, 2}, {1, 2, 3, 4}), ints({3}, {1, 0, 1})}, 3);
  EXPECT_EQ(outputs[0].values, (std::vector<double>{1, 3}));
  EXPECT_TRUE(outputs[1].values.empty());
  EXPECT_EQ(outputs[2].values, (std::vector<double>{2, 4}));
}

TEST(TopK, KeepsTheOrderOfEqualElements) {
  OpCall call{.type = "TopKV2", .version = 10};
  const auto outputs = run_checked(call, {floats({4}, {3, 7, 7, 1}), ints({1}, {3})}, 2);
  EXPECT_EQ(outputs[0].values, (std::vector<double>{7, 7, 3}));
  EXPECT_EQ(outputs[1].values, (std::vector<double>{1, 2, 0}));
}

TEST(Unique, TellsFirstInverseAndCounts) {
  OpCall call{.type = "Unique"};
  call.attrs.set("sorted", std::int64_t{0});
  const auto outputs = run_checked(call, {floats({5}, {2, 1, 1, 3, 2})}, 4);
  EXPECT_EQ(outputs[0].values, (std::vector<double>{2, 1, 3}));
  EXPECT_EQ(outputs[1].values, (std::vector<double>{0, 1, 3}));
  EXPECT_EQ(outputs[2].values, (std::vector<double>{0, 1, 1, 2, 0}));
  EXPECT_EQ(outputs[3].values, (std::vector<double>{2, 2, 1}));
}

TEST(Dropout, DropsItsShareAndMakesUpForItWhenItTrains) {
  constexpr std::int64_t kCount = 4000;
  OpCall call{.type = "Dropout", .version = 12};
  call.attrs.set("seed", std::int64_t{7});
  const std::vector<double> ones(kCount, 1);
  const auto run = [&] {
    return run_checked(call, {floats({kCount}, ones), floats({}, {0.25}), bools({}, {1})}, 2);
  };
  const auto outputs = run(), again = run();
  const std::vector<double>&y = outputs[0].values, &mask = outputs[1].values;
  double kept = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_FLOAT_EQ(static_cast<float>(y[i]), static_cast<float>(mask[i] / 0.75)) << i;
    kept += mask[i];
  }
  EXPECT_NEAR(kept / kCount, 0.75, 0.05);
  EXPECT_EQ(again[0].values, y);
}

TEST(Dropout, KeepsEverythingAtInference) {
  const auto outputs = run_checked({.type = "Dropout", .version = 12}, {floats({2}, {1, 2})}, 2);
  EXPECT_EQ(outputs[0].values, (std::vector<double>{1, 2}));
  EXPECT_EQ(outputs[1].desc.dtype, DataType::kBool);
  EXPECT_EQ(outputs[1].values, (std::vector<double>{1, 1}));
}

/// Of data of one axis there is no choice.
TEST(GatherNd, KnowsItsRankWhereOneAxisIsLeft) {
  constexpr std::int64_t u = kUnknownDim;
  const auto inferred = [](std::int64_t batch_dims, const Shape& data, const Shape& indices) {
    OpCall call{.type = "GatherNd"};
    call.attrs.set("batch_dims", batch_dims);
    const std::vector<Tensor> inputs = {{{.dtype = DataType::kFloat, .shape = data}, nullptr},
                                        {{.dtype = DataType::kInt64, .shape = indices}, nullptr}};
    return infer(call, inputs, 1)[0].shape;
  };
  EXPECT_EQ(inferred(0, {7}, {u, u}), (Shape{u}));
  EXPECT_EQ(inferred(1, {2, 7}, {2, 5, u}), (Shape{2, 5}));
  EXPECT_THROW(inferred(0, {2, 7}, {5, u}), Undetermined);
}

}  // namespace
}  // namespace aoe::reference
