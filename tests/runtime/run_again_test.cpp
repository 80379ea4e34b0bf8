// What a run of open sizes takes from the allocator when the one before had the same: nothing. Of steps with a few numbers each
// that was most of their time.
#include <gtest/gtest.h>

#include "runtime/executor.h"
#include "tests/runtime/om_bodies.h"
#include "tests/runtime/replaced_new.h"

namespace {

thread_local int allocations = 0;

}  // namespace

void* aoe::runtime::tests::memory_for(std::size_t size) {
  ++allocations;
  return from_malloc(size);
}

namespace aoe::runtime::tests {
namespace {

OmStep& native(OmBuilder& b, const std::string& type, std::vector<int> inputs, int output) {
  OmStep& step = b.reference(type, std::move(inputs), {output});
  step.backend = &backend("native");
  return step;
}

int of_rows(OmBuilder& b, const std::string& name) {
  return b.dynamic(name, floats({kUnknownDim, 2}));
}

/// -(x in pairs), in parts of four pairs.
Om negated_pairs() {
  OmBuilder inner("body");
  const int pairs = inner.input("pairs", floats({4, 2}));
  native(inner, "Neg", {pairs}, inner.output("negated", floats({4, 2})));
  OmBuilder b;
  const int x = b.input("x", floats({kUnknownDim})),
            sizes = b.input("sizes", {.dtype = DataType::kInt64, .shape = {2}});
  const int y = of_rows(b, "y"), sum = of_rows(b, "sum");
  native(b, "Reshape", {x, sizes}, y);
  native(b, "Add", {y, y}, sum);
  const int z = b.dynamic_output("z", floats({kUnknownDim, 2}));
  OmStep& map = control(b, "MapSlices", {sum}, {z}, {add_body(b, "part", inner.om)});
  map.call.attrs = {};
  map.call.attrs.set("axes", std::vector<std::int64_t>{0});
  map.call.attrs.set("output_axes", std::vector<std::int64_t>{0});
  return b.om;
}

TEST(RunAgain, OfTheSameSizesAllocatesNothing) {
  Executor model(negated_pairs(), {.threads = 1});
  std::vector<float> x = counting(24);
  std::vector<std::int64_t> sizes = {-1, 2};
  const Tensor inputs[] = {{floats({24}), x.data()},
                           {{.dtype = DataType::kInt64, .shape = {2}}, sizes.data()}};
  Tensor outputs[] = {{floats({kUnknownDim, 2}), nullptr}};
  for (int run = 0; run < 3; ++run) {
    outputs[0].desc.shape[0] = kUnknownDim;
    outputs[0].data = nullptr;
    allocations = 0;
    model.run(inputs, outputs);
    if (run > 0) {
      EXPECT_EQ(allocations, 0) << "run " << run;
    }
    ASSERT_EQ(outputs[0].desc.shape, (Shape{12, 2}));
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(outputs[0].as<float>()[i], -2 * x[i]);
  }
}

}  // namespace
}  // namespace aoe::runtime::tests
