// expand_attention on random views: matrices anywhere in a tensor, in any order of dimensions, with
// gaps between their rows and repeated along dimensions.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "graph/rewrite.h"
#include "graph/rewrite_plan.h"
#include "graph/verify.h"
#include "reference/attention.h"
#include "tests/graph/interpret.h"

namespace aoe::tests {
namespace {

using graph::Graph;
using reference::AttentionShape;
using reference::MatrixView;

/// Views, sizes and tensors of an attention at random.
class RandomAttention {
 public:
  explicit RandomAttention(std::uint32_t seed) : random_(seed) {}

  Graph draw() {
    for (std::int64_t d = below(3); d > 0; --d) shape_.batch.push_back(1 + below(3));
    shape_.queries = 1 + below(5);
    shape_.keys = 1 + below(5);
    shape_.depth = 1 + below(4);
    shape_.value_depth = 1 + below(4);
    shape_.scale = below(2) == 0 ? 1 : 0.5f;
    graph_.name = "g";
    add_input("q", shape_.query, shape_.queries, shape_.depth, 6);
    add_input("k", shape_.key, shape_.keys, shape_.depth, 6);
    add_input("v", shape_.value, shape_.keys, shape_.value_depth, 6);
    const bool has_mask = below(2) == 0;
    if (has_mask) add_input("mask", shape_.mask, shape_.queries, shape_.keys, 2);
    shape_.mask_mode = below(2) == 0 ? reference::MaskMode::kAdd : reference::MaskMode::kMin;
    const std::int64_t elements = view(shape_.output, shape_.queries, shape_.value_depth, 0, 0);
    shape_.output_shape = below(2) == 0 ? Shape{elements} : Shape{elements, 1};
    const graph::ValueId y =
        graph_.add_value("y", {.dtype = DataType::kFloat, .shape = shape_.output_shape});
    graph_.add_node(
        {.name = "attention",
         .op = graph::call_of("FlashAttentionScore", reference::to_attrs(shape_, has_mask)),
         .inputs = graph_.inputs,
         .outputs = {y}});
    graph_.outputs = {y};
    return std::move(graph_);
  }

 private:
  std::int64_t below(std::int64_t limit) { return static_cast<std::int64_t>(random_()) % limit; }

  /// Dimensions nested in a random order, some repeated and some with gaps between their steps.
  /// Returns how many elements the tensor has; it may end where the view does, within such a gap.
  std::int64_t view(MatrixView& view, std::int64_t rows, std::int64_t columns, std::int64_t gaps,
                    std::int64_t repeats) {
    std::vector<std::int64_t> extents = shape_.batch;
    extents.insert(extents.end(), {rows, columns});
    std::vector<std::int64_t> strides(extents.size()), order(extents.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::ranges::shuffle(order, random_);
    std::int64_t stride = 1, last = 0;
    for (const std::int64_t d : order) {
      if (repeats > 0 && below(repeats) == 0) continue;
      if (gaps > 0 && below(gaps) == 0) stride += 1 + below(4);
      strides[d] = stride;
      last += stride * (extents[d] - 1);
      stride *= extents[d];
    }
    const std::int64_t slack = gaps > 0 && below(gaps) == 0 ? below(2 * stride) : 0;
    view.offset = slack > 0 ? below(slack + 1) : 0;
    view.batch.assign(strides.begin(), strides.end() - 2);
    view.row = strides.end()[-2];
    view.column = strides.back();
    return below(4) == 0 ? view.offset + last + 1 : stride + slack;
  }

  void add_input(const std::string& name, MatrixView& of, std::int64_t rows, std::int64_t columns,
                 std::int64_t repeats) {
    const std::int64_t elements = view(of, rows, columns, 3, repeats);
    Shape shape = {elements};
    for (const std::int64_t factor : {2, 3, 5})
      if (shape.front() % factor == 0 && below(2) == 0) {
        shape.front() /= factor;
        shape.push_back(factor);
      }
    graph_.inputs.push_back(graph_.add_value(name, {.dtype = DataType::kFloat, .shape = shape}));
  }

  std::mt19937 random_;
  AttentionShape shape_;
  Graph graph_;
};

TEST(ExpandAttention, CopiesRandomViewsOrSaysNo) {
  constexpr std::uint32_t kGraphs = 2000;
  const graph::Rewrite* rewrite = graph::rewrites().find("expand_attention");
  int expanded = 0, refused = 0;
  for (std::uint32_t seed = 1; seed <= kGraphs; ++seed) {
    const Graph before = RandomAttention(seed).draw();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + before.to_text());
    Graph after = before;
    const auto done = rewrite->apply(after, {0}, {});
    ASSERT_EQ(done.has_value(), !rewrite->find(before).empty());
    if (!done) {
      EXPECT_FALSE(done.error().empty());
      EXPECT_EQ(after.to_text(), before.to_text());
      ++refused;
      continue;
    }
    ++expanded;
    graph::verify(after, "expand_attention");
    SCOPED_TRACE(after.to_text());
    expect_same_outputs(before, after, seed);
    if (testing::Test::HasFatalFailure()) return;
  }
  RecordProperty("refused", refused);
  EXPECT_GT(expanded, 1000);
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace aoe::tests
