// Attention kernels on random shapes, layouts and masks, for every instruction set of this machine. A failure prints the
// seed and the shape.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"
#include "base/json_text.h"
#include "compiler/attention/attention_nest.h"
#include "tests/compiler/impl_check.h"
#include "tests/compiler/machine_code.h"

namespace aoe::compiler {
namespace {

using reference::AttentionShape;
using reference::MaskMode;
using reference::MatrixView;

class RandomAttention {
 public:
  /// Few queries over many keys, perhaps of heads that share them; or any.
  enum class Queries { kAny, kFew };

  RandomAttention(unsigned seed, Queries queries)
      : engine_(seed), has_few_(queries == Queries::kFew) {}

  ShapeLine draw(unsigned seed) {
    static constexpr std::int64_t kDepths[] = {1, 7, 16, 32, 40, 64, 80, 128};
    AttentionShape s{.batch = {1 + below(2), 1 + below(3)}};
    s.queries = has_few_ ? 1 + below(2) : 1 + below(70);
    s.keys = has_few_ ? 32 + below(400) : one_in(2) ? s.queries : 1 + below(150);
    s.depth = kDepths[below(8)];
    s.value_depth = one_in(3) ? kDepths[below(8)] : s.depth;
    s.scale = 1 / std::sqrt(static_cast<float>(s.depth));  // large scores magnify rounding errors
    s.mask_mode = one_in(3) ? MaskMode::kMin : MaskMode::kAdd;
    ShapeLine line{.text = "attention, seed " + std::to_string(seed), .task = {}, .inputs = {}};
    s.query = view(s, s.queries, s.depth);
    add_input(line, reached(s, s.query, s.queries, s.depth));
    s.key = view(s, s.keys, s.depth);
    s.value = view(s, s.keys, s.value_depth);
    if (has_few_ && one_in(2)) s.key.batch[1] = s.value.batch[1] = 0;
    add_input(line, reached(s, s.key, s.keys, s.depth));
    add_input(line, reached(s, s.value, s.keys, s.value_depth));
    const bool has_mask = one_in(2);
    if (has_mask) {
      s.mask = view(s, s.queries, s.keys);
      for (std::int64_t* stride : {&s.mask.row, &s.mask.column, &s.mask.batch[0], &s.mask.batch[1]})
        if (one_in(3)) *stride = 0;
      add_input(line, reached(s, s.mask, s.queries, s.keys));
      hide_some(*line.inputs.back());
    }
    set_output(s);
    line.task.op = {.type = "FlashAttentionScore", .attrs = to_attrs(s, has_mask)};
    line.task.outputs = {{.dtype = DataType::kFloat, .shape = s.output_shape}};
    line.text += json_text(reference::to_json(line.task.op));
    return line;
  }

 private:
  std::int64_t below(std::int64_t limit) { return static_cast<std::int64_t>(engine_()) % limit; }
  bool one_in(std::int64_t n) { return below(n) == 0; }

  /// Heads behind each other, beside each other, or one part of three; perhaps with rows and columns exchanged.
  MatrixView view(const AttentionShape& s, std::int64_t rows, std::int64_t columns) {
    const std::int64_t heads = s.batch[1], parts = one_in(3) ? 3 : 1;
    MatrixView v;
    v.offset = below(3) * (parts == 3 ? heads * columns : 0);
    if (one_in(3)) {
      v = {.offset = below(2), .batch = {heads * rows * columns, rows * columns}};
      v.row = one_in(2) ? columns : 1;
      v.column = v.row == 1 ? rows : 1;
      return v;
    }
    v.row = parts * heads * columns;
    v.column = 1;
    v.batch = {rows * v.row, columns};
    return v;
  }

  static std::int64_t reached(const AttentionShape& s, const MatrixView& view, std::int64_t rows,
                              std::int64_t columns) {
    return elements_reached(view, s, rows, columns);
  }

  /// Exactly as long as the view: reading behind it meets a guard page.
  void add_input(ShapeLine& line, std::int64_t elements) {
    const TensorDesc desc{.dtype = DataType::kFloat, .shape = {elements}};
    const auto values = std::make_shared<Constant>(desc);
    std::uniform_real_distribution<float> uniform(-2, 2);
    for (std::int64_t i = 0; i < elements; ++i) values->view().as<float>()[i] = uniform(engine_);
    line.task.inputs.push_back({desc, one_in(6) ? values : nullptr});
    line.inputs.push_back(values);
  }

  /// Whole rows may come out hidden: then the result is NaN, or the mean of the values.
  void hide_some(Constant& mask) {
    if (one_in(3)) return;
    const float hidden =
        one_in(2) ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::lowest();
    const std::int64_t share = 1 + below(4);
    for (std::int64_t i = 0; i < element_count(mask.desc().shape); ++i)
      if (below(4) < share) mask.view().as<float>()[i] = hidden;
  }

  void set_output(AttentionShape& s) {
    const std::int64_t heads = s.batch[1], columns = s.value_depth, rows = s.queries;
    if (one_in(3)) {
      s.output = {.batch = {heads * rows * columns, rows * columns}, .row = columns, .column = 1};
      s.output_shape = {s.batch[0], heads, rows, columns};
    } else if (one_in(4)) {
      s.output = {.batch = {heads * rows * columns, rows * columns}, .row = 1, .column = rows};
      s.output_shape = {s.batch[0], heads, columns, rows};
    } else {
      s.output = {.batch = {heads * rows * columns, columns}, .row = heads * columns, .column = 1};
      s.output_shape = {s.batch[0], rows, heads, columns};
    }
  }

  std::mt19937 engine_;
  const bool has_few_;
};

constexpr unsigned kShapes = 12;  ///< of a shard

/// The Impl on a shard's shapes, for every Soc.
void check_on_random(const std::string& name, RandomAttention::Queries queries, unsigned shard) {
  const Impl* impl = impls().find(name);
  ASSERT_NE(impl, nullptr);
  for (unsigned seed = shard * kShapes; seed < (shard + 1) * kShapes; ++seed) {
    const ShapeLine line = RandomAttention(seed, queries).draw(seed);
    for (const Soc& soc : loopnest::planned_socs(false)) {
      ASSERT_TRUE(impl->supports(line.task, soc)) << line.text;
      check_impl(*impl, line, soc, {.sampled_schedules = 2, .seed = seed});
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

/// Shards, so that CTest runs them side by side.
class RandomAttentions : public testing::TestWithParam<unsigned> {};

TEST_P(RandomAttentions, AgreeWithTheReference) {
  check_on_random("attention", RandomAttention::Queries::kAny, GetParam());
}
TEST_P(RandomAttentions, OfFewQueriesAgreeWithTheReference) {
  check_on_random("flash_decoding", RandomAttention::Queries::kFew, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Shards, RandomAttentions, testing::Range(0u, 4u));

/// More keys than fit the scratch at once, or one chunk: maxima and sums are carried from block to block, through blocks that
/// a mask hides entirely.
void check_hidden_blocks(const std::string& impl, int queries) {
  const ShapeLine line = parse_shape_line(fmt::format(
      "FlashAttentionScore in={0}x16 in=700x16 in=700x24 in=700 batch=[] sizes=[{0},700,16,24]"
      " query_view=[0,16,1] key_view=[0,16,1] value_view=[0,24,1] mask_view=[0,0,1]"
      " output_view=[0,24,1] output_shape=[{0},24]",
      queries));
  for (std::int64_t key = 0; key < 700; ++key)
    if (key < 300 || (key > 400 && key < 600))
      line.inputs[3]->view().as<float>()[key] = -std::numeric_limits<float>::infinity();
  for (const Soc& soc : loopnest::planned_socs(false))
    check_impl(*impls().find(impl), line, soc, {.sampled_schedules = 24});
}

TEST(Attention, RefusesViewsThatReachBeyondWhatNumbersCount) {
  const AttentionShape shape{.batch = {1}};
  const MatrixView view{.batch = {0}, .row = 8, .column = 1};
  EXPECT_EQ(elements_reached(view, shape, 5, 8), 40);
  EXPECT_THROW(elements_reached(view, shape, std::numeric_limits<std::int64_t>::max(), 8), Error);
}

TEST(Attention, CarriesSumsAcrossBlocksOfKeys) {
  check_hidden_blocks("attention", 20);
}
TEST(Attention, PutsHiddenChunksOfKeysTogether) {
  check_hidden_blocks("flash_decoding", 2);
}

}  // namespace
}  // namespace aoe::compiler
