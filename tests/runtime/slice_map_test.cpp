// A step that carries bodies out slice by slice: numbers of slices below, between and above the lengths of its parts, along any
// axis; and what is wrong with such steps.
#include "runtime/slice_map.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "reference/tensors/broadcast.h"
#include "runtime/executor.h"
#include "runtime/slice_parts.h"
#include "tests/runtime/om_bodies.h"

namespace aoe::runtime::tests {
namespace {

TensorDesc along(Shape shape, std::size_t axis, std::int64_t slices) {
  shape[axis] = slices;
  return floats(std::move(shape));
}

/// y = x + bias, along an axis of x; bias has the shape of a slice and is read whole.
struct Sum {
  Shape shape;
  std::size_t axis;

  Om body(std::int64_t slices) const {
    OmBuilder b("body");
    const int x = b.input("x", along(shape, axis, slices));
    const int bias = b.input("bias", along(shape, axis, 1));
    b.reference("Add", {x, bias}, {b.output("y", along(shape, axis, slices))});
    return b.om;
  }

  OmBuilder model(const std::vector<std::int64_t>& parts) const {
    OmBuilder b("model");
    const int x = b.input("x", along(shape, axis, kUnknownDim));
    const int bias = b.input("bias", along(shape, axis, 1));
    std::vector<int> bodies;
    for (const std::int64_t slices : parts)
      bodies.push_back(add_body(b, "part" + std::to_string(slices), body(slices)));
    const int y = b.dynamic_output("y", along(shape, axis, kUnknownDim));
    OmStep& step = control(b, "MapSlices", {x, bias}, {y}, bodies);
    step.call.attrs = {};
    step.call.attrs.set("axes", std::vector<std::int64_t>{static_cast<std::int64_t>(axis), -1});
    step.call.attrs.set("output_axes", std::vector<std::int64_t>{static_cast<std::int64_t>(axis)});
    return b;
  }
};

std::int64_t elements(const TensorDesc& desc) {
  return element_count(desc.shape);
}

void expect_sums(const Sum& sum, Executor& model, std::int64_t slices) {
  const TensorDesc x_desc = along(sum.shape, sum.axis, slices),
                   bias_desc = along(sum.shape, sum.axis, 1);
  std::vector<float> x = counting(elements(x_desc)), bias = counting(elements(bias_desc));
  for (float& value : bias) value *= 1000;
  const Tensor inputs[] = {{x_desc, x.data()}, {bias_desc, bias.data()}};
  Tensor outputs[] = {{floats(along(sum.shape, sum.axis, kUnknownDim).shape), nullptr}};
  model.run(inputs, outputs);
  ASSERT_EQ(outputs[0].desc.shape, x_desc.shape);
  std::int64_t inner = 1;
  for (std::size_t i = sum.axis + 1; i < sum.shape.size(); ++i) inner *= sum.shape[i];
  for (std::int64_t i = 0; i < elements(x_desc); ++i) {
    const std::int64_t outer = i / (inner * slices);
    const float expected =
        x[static_cast<std::size_t>(i)] + bias[static_cast<std::size_t>(outer * inner + i % inner)];
    ASSERT_EQ(outputs[0].as<float>()[i], expected)
        << "element " << i << ", " << slices << " slices";
  }
}

TEST(SliceMap, TakesAnyNumberOfSlicesAlongAnyAxis) {
  for (const Sum& sum : {Sum{{1, 3}, 0}, Sum{{2, 1, 3}, 1}, Sum{{2, 3, 1}, 2}, Sum{{1}, 0}})
    for (const std::vector<std::int64_t>& parts :
         {std::vector<std::int64_t>{8, 1}, {1}, {8}, {2, 8}, {16, 4}, {12, 5, 2}})
      for (std::int64_t slices = 0; slices < 35; ++slices) {
        Executor model(sum.model(parts).om, {});
        expect_sums(sum, model, slices);
      }
}

/// What it knows of one run it forgets for another length; buffers may be others while lengths are the same.
TEST(SliceMap, TakesOtherLengthsAndBuffersFromRunToRun) {
  for (const Sum& sum : {Sum{{1, 3}, 0}, Sum{{2, 3, 1}, 2}}) {
    Executor model(sum.model({16, 4}).om, {});
    for (const std::int64_t slices : {20, 20, 3, 40, 40, 0, 1, 17, 20, 20}) {
      SCOPED_TRACE(slices);
      expect_sums(sum, model, slices);
    }
  }
}

TEST(SliceMap, TakesShorterPartsForWhatLongOnesLeave) {
  const auto parts_of = [](std::int64_t slices, bool is_in_place) {
    const std::vector<std::int64_t> lengths = {128, 64, 16, 2};
    std::vector<std::int64_t> parts;
    for (const SliceTurn& turn : slice_parts(lengths, slices, 8, is_in_place).turns)
      parts.insert(parts.end(), static_cast<std::size_t>(turn.times), lengths[turn.length]);
    return parts;
  };
  using Parts = std::vector<std::int64_t>;
  EXPECT_EQ(parts_of(131, false), (Parts{128, 2, 2}));
  EXPECT_EQ(parts_of(300, false), (Parts{128, 128, 64}));
  EXPECT_EQ(parts_of(201, false), (Parts{128, 64, 16}));
  EXPECT_EQ(parts_of(250, false), (Parts{128, 128}));  // the second is full enough
  EXPECT_EQ(parts_of(120, false), (Parts{64, 64}));    // 128 would have to be copied
  EXPECT_EQ(parts_of(60, true), (Parts{16, 16, 16, 16}));
  EXPECT_EQ(parts_of(60, false), (Parts{64}));
  EXPECT_EQ(parts_of(1, true), (Parts{2}));
}

TEST(SliceMap, RefusesSlicesThatAreNotEquallyMany) {
  OmBuilder inner("body");
  const int a = inner.input("a", floats({4, 2})), b = inner.input("b", floats({4, 2}));
  inner.reference("Add", {a, b}, {inner.output("y", floats({4, 2}))});
  OmBuilder outer("model");
  const int x = outer.input("x", floats({-1, 2})), z = outer.input("z", floats({-1, 2}));
  const int body = add_body(outer, "part", inner.om);
  OmStep& step =
      control(outer, "MapSlices", {x, z}, {outer.dynamic_output("y", floats({-1, 2}))}, {body});
  step.name = "rows";
  step.call.attrs = {};
  step.call.attrs.set("axes", std::vector<std::int64_t>{0, 0});
  step.call.attrs.set("output_axes", std::vector<std::int64_t>{0});
  Executor model(outer.om, {});
  std::vector<float> values(20);
  const Tensor inputs[] = {{floats({5, 2}), values.data()}, {floats({6, 2}), values.data()}};
  Tensor outputs[] = {{floats({-1, 2}), nullptr}};
  try {
    model.run(inputs, outputs);
    FAIL() << "ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kFailure);
    EXPECT_NE(std::string(error.what()).find("5 and 6 slices"), std::string::npos) << error.what();
    EXPECT_NE(error.where().find("rows"), std::string::npos) << error.where();
  }
}

/// y = x + z of two dimensions that only a run tells, in front of three channels; z may be stretched to x, or x to z.
struct PlaneSum {
  Om body(std::int64_t slices, bool has_rows) const {
    OmBuilder b("body");
    const int x = b.input("x", floats({1, slices, 3}));
    const int z = b.input("z", has_rows ? floats({1, slices, 3}) : floats({slices, 3}));
    b.reference("Add", {x, z}, {b.output("y", floats({1, slices, 3}))});
    return b.om;
  }
  OmBuilder model(const std::vector<std::int64_t>& parts, bool has_rows,
                  bool is_in_place = false) const {
    OmBuilder b("model");
    const int x = b.input("x", floats({-1, -1, 3}));
    const int z = b.input("z", has_rows ? floats({-1, -1, 3}) : floats({-1, 3}));
    std::vector<int> bodies;
    for (const std::int64_t slices : parts)
      bodies.push_back(add_body(b, "part" + std::to_string(slices), body(slices, has_rows)));
    OmStep& step =
        control(b, "MapSlices", {x, z}, {b.dynamic_output("y", floats({-1, -1, 3}))}, bodies);
    step.call.attrs = {};
    step.call.attrs.set("axes", std::vector<std::int64_t>{1, has_rows ? 1 : 0});
    step.call.attrs.set("output_axes", std::vector<std::int64_t>{1});
    step.call.attrs.set("dims", std::int64_t{2});
    step.call.attrs.set("in_place", std::int64_t{is_in_place});
    return b;
  }
};

void expect_plane_sums(const std::vector<std::int64_t>& parts, const Shape& x_shape,
                       const Shape& z_shape, bool is_in_place) {
  Executor model(PlaneSum{}.model(parts, z_shape.size() == 3, is_in_place).om, {});
  std::vector<float> x = counting(element_count(x_shape)), z = counting(element_count(z_shape));
  for (float& value : z) value *= 1000;
  const Tensor inputs[] = {{floats(x_shape), x.data()}, {floats(z_shape), z.data()}};
  Tensor outputs[] = {{floats({-1, -1, 3}), nullptr}};
  model.run(inputs, outputs);
  const Shape shape = reference::broadcast_shapes(x_shape, z_shape);
  ASSERT_EQ(outputs[0].desc.shape, shape);
  std::vector<float> expected(static_cast<std::size_t>(element_count(shape)));
  reference::run({.type = "Add"}, inputs, std::vector{Tensor{floats(shape), expected.data()}});
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(outputs[0].as<float>()[i], expected[i])
        << "element " << i << ", " << to_string(x_shape) << " and " << to_string(z_shape);
}

void expect_plane_sums(const std::vector<std::int64_t>& parts, const Shape& x_shape,
                       const Shape& z_shape) {
  for (const bool is_in_place : {false, true})
    expect_plane_sums(parts, x_shape, z_shape, is_in_place);
}

TEST(SliceMap, TakesDimensionsThatFollowEachOtherAndStretchesInputs) {
  for (const std::vector<std::int64_t>& parts : {std::vector<std::int64_t>{16, 4, 1}, {7}, {64, 8}})
    for (const std::int64_t rows : {1, 2, 5, 9})
      for (const std::int64_t columns : {1, 3, 8}) {
        const Shape all = {rows, columns, 3};
        for (const Shape& other : {all, Shape{rows, 1, 3}, Shape{1, columns, 3}, Shape{1, 1, 3},
                                   Shape{columns, 3}, Shape{1, 3}}) {
          expect_plane_sums(parts, all, other);
          if (other.size() == 3) expect_plane_sums(parts, other, all);
        }
        expect_plane_sums(parts, {rows, 1, 3}, {1, columns, 3});
        expect_plane_sums(parts, {rows, 1, 3}, {columns, 3});
      }
  expect_plane_sums({4}, {0, 3, 3}, {1, 3, 3});
  expect_plane_sums({4}, {2, 1, 3}, {0, 3});
}

TEST(SliceMap, SaysWhatIsWrongWithAStep) {
  const Sum sum{{1, 3}, 0};
  const auto fault_of = [&](const std::function<void(OmStep&)>& change) {
    OmBuilder b = sum.model({8, 1});
    change(b.om.steps.back());
    return SliceMap::fault(b.om, b.om.steps.back());
  };
  using Axes = std::vector<std::int64_t>;
  EXPECT_EQ(fault_of([](OmStep&) {}), "");
  EXPECT_EQ(fault_of([](OmStep& step) { step.constants.clear(); }), "lacks its bodies");
  EXPECT_EQ(fault_of([](OmStep& step) { step.call.attrs.set("axes", Axes{0}); }),
            "has not an axis for each tensor");
  EXPECT_EQ(fault_of([](OmStep& step) {
              step.call.attrs.set("axes", Axes{2, -1});
            }),
            "is sliced along an axis that is not there");
  EXPECT_EQ(fault_of([](OmStep& step) {
              step.call.attrs.set("axes", Axes{-2, -1});
            }),
            "is sliced along an axis that is not there");
  EXPECT_EQ(fault_of([](OmStep& step) {
              step.call.attrs.set("axes", Axes{-1, -1});
            }),
            "is sliced along nothing");
  EXPECT_EQ(fault_of([](OmStep& step) { step.call.attrs.set("output_axes", Axes{5}); }),
            "makes slices along an axis that is not there");
  EXPECT_EQ(fault_of([](OmStep& step) { step.call.attrs.set("dims", std::int64_t{2}); }),
            "makes slices along an axis that is not there");
  for (const std::int64_t dims : {std::int64_t{0}, std::int64_t{1} << 60})
    EXPECT_EQ(fault_of([&](OmStep& step) { step.call.attrs.set("dims", dims); }),
              "is sliced along no such number of axes");
  EXPECT_EQ(fault_of([](OmStep& step) { step.constants[0] = step.inputs[0]; }),
            "has a body that is no constant");
}

/// They are read from a file as well.
TEST(SliceMap, RefusesBodiesThatDoNotFitTheStep) {
  const auto loads = [](const OmBuilder& b) {
    try {
      Executor model(b.om, {});
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kOm);
      return false;
    }
  };
  EXPECT_TRUE(loads(Sum{{1, 3}, 0}.model({4})));
  for (const Sum& other : {Sum{{1, 4}, 0}, Sum{{1, 3, 1}, 0}, Sum{{2, 1}, 1}}) {
    OmBuilder b = Sum{{1, 3}, 0}.model({4});
    b.om.steps.back().constants = {add_body(b, "other", other.body(4))};
    EXPECT_FALSE(loads(b)) << to_string(other.shape);
  }
}

}  // namespace
}  // namespace aoe::runtime::tests
