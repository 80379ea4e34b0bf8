// Models part of whose sizes only a run knows: what networks are made of runs slice by slice, by code for sizes that are known, or has
// native kernels for any.
#include <gtest/gtest.h>

#include <array>
#include <iostream>

#include "base/error.h"
#include "graph/analysis/slice_regions.h"
#include "graph/passes.h"
#include "runtime/om/step_paths.h"
#include "runtime/thread_team.h"
#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/graph/model_text.h"
#include "tests/seeds.h"

namespace aoe::compiler {
namespace {

/// Rows of x whose first number is above `bound` go through `network`, from r to y.
runtime::Om expect_rows_through(const std::string& rows, const std::string& bound,
                                const std::string& weights, const std::string& network) {
  const graph::Graph before =
      tests::import_text("g (float[" + rows + "] x) => (y) <" + weights + " float zero = {" +
                             bound + R"(}, int64[1] flat = {-1}, int64[1] first = {0}> {
    f = Flatten <axis = 1> (x)
    h = Gather <axis = 1> (f, first)
    c = Greater (h, zero)
    p = Reshape (c, flat)
    n = NonZero (p)
    i = Reshape (n, flat)
    r = Gather <axis = 0> (x, i)
    )" + network + "}",
                         20);
  graph::Graph after = before;
  graph::run_passes(after, {});
  return expect_compiled_like_reference(after, options_for(loopnest::test_socs().back(), 2),
                                        before);
}

/// What is left to the reference.
std::string reference_part_of(const std::string& rows, const std::string& weights,
                              const std::string& network) {
  return runtime::reference_part(
      {.gears = {}, .oms = {expect_rows_through(rows, "0", weights, network)}});
}

/// Of a product of open rows of `depth` numbers by a matrix, on two threads.
runtime::Om open_product(std::int64_t depth, std::int64_t columns) {
  const std::string text = "g (float[rows," + std::to_string(depth) +
                           "] x) => (float[rows,N] y) <float[" + std::to_string(depth) + "," +
                           std::to_string(columns) + "] w> { y = MatMul (x, w) }";
  graph::Graph graph =
      tests::import_text(text, 13, {.input_shapes = {{"x", {kUnknownDim, depth}}}});
  const CompileOptions options = options_for(loopnest::test_socs().back(), 2);
  graph::PassOptions passes;
  passes.also = {graph::map_slices_pass(compiler::hardware_of(options.soc))};
  graph::run_passes(graph, passes);
  EXPECT_EQ(graph.nodes[graph.topological_order().front()].op.type, "MapSlices");
  return compile(graph, options).om;
}

TEST(SizesOfARun, PartsOfAllLengthsHaveOneSetOfWeights) {
  constexpr std::size_t kColumns = 768, kBodies = 96 << 10;
  EXPECT_LT(open_product(256, kColumns).weights.size(), 256 * kColumns * sizeof(float) + kBodies);
}

/// In each of many short parts its members would be waited for, also by all that is not a part.
TEST(SizesOfARun, PartsDoNotNeedOpenMpsTeam) {
  for (const auto& [depth, columns] :
       {std::pair(32, 192), {96, 576}, {240, 80}, {672, 112}, {1152, 192}, {1152, 320}})
    EXPECT_EQ(runtime::team_of(open_product(depth, columns)), runtime::ThreadTeam::kHelpers)
        << depth << " by " << columns;
}

TEST(SizesOfARun, OfARecurrenceOnlyTheLastStateMayBeRead) {
  expect_rows_through("40,16", "0", "float[1,16,16] w, float[1,16,4] u, int64[1] front = {0},", R"(
    rows = Unsqueeze (r, front)
    unread, y = LSTM <hidden_size = 4> (rows, w, u)
  )");
}

TEST(SizesOfARun, LeaveProductsAndNormalisationsToNativeKernels) {
  const std::string part =
      reference_part_of("40,16", "float[16,24] w, float[24] b, float[24] s,", R"(
    a = MatMul (r, w)
    d = Add (a, b)
    e = LayerNormalization (d, s)
    k = Softmax (e)
    l = Gelu (k)
    y = Gemm <transB = 1> (l, w)
  )");
  for (const char* type : {"MatMulV2", "Add", "LayerNorm", "SoftmaxV2", "Gelu", "Gemm"})
    EXPECT_EQ(part.find(type), std::string::npos) << type << ": " << part;
}

TEST(SizesOfARun, LeaveConvolutionsToNativeKernels) {
  const std::string part = reference_part_of("6,8,7,7", "float[12,8,3,3] w, float[12,4,2,2] v,", R"(
    a = Conv <pads = [1,1,1,1]> (r, w)
    b = Relu (a)
    d = ConvTranspose <strides = [2,2]> (b, v)
    y = Sigmoid (d)
  )");
  for (const char* type : {"Conv2D", "Relu", "Conv2DTranspose", "Sigmoid"})
    EXPECT_EQ(part.find(type), std::string::npos) << type << ": " << part;
}

/// Draws a network over r, of which only the first dimension is not known, one op behind the other.
class RowNetwork {
 public:
  RowNetwork(std::uint32_t seed, Shape row) : random_(seed), row_(std::move(row)) {}

  void draw(int ops) {
    for (int i = 0; i < ops; ++i) add_op();
    text_ += "y = Identity (" + now_ + ")\n";
  }
  const std::string& text() const { return text_; }
  const std::string& weights() const { return weights_; }

 private:
  std::uint32_t below(std::size_t limit) { return random_.below(limit); }

  void add(const std::string& call) {
    const std::string result = "v" + std::to_string(count_++);
    text_ += result + " = " + call + "\n";
    before_ = now_;
    now_ = result;
  }
  std::string weight(const Shape& shape) {
    const std::string name = "w" + std::to_string(count_++);
    weights_ += "float" + list(shape) + " " + name + ",";
    return name;
  }
  std::string ints(const Shape& values) {
    const std::string name = "i" + std::to_string(count_++);
    std::string numbers = list(values);
    numbers.front() = '{';
    numbers.back() = '}';
    weights_ += "int64[" + std::to_string(values.size()) + "] " + name + " = " + numbers + ",";
    return name;
  }
  static std::string list(const Shape& values) {
    std::string text;
    for (const std::int64_t value : values)
      text += (text.empty() ? "" : ",") + std::to_string(value);
    return "[" + text + "]";
  }
  std::int64_t elements() const { return element_count(row_); }

  void add_op() {
    switch (below(10)) {
      case 0: {
        static const char* const kUnary[] = {"Relu", "Exp", "Sigmoid", "Tanh", "Neg", "Softplus"};
        // Exp of Exp leaves the range of float32.
        return add(std::string(kUnary[below(6)]) + " (" + bounded() + ")");
      }
      case 1:
        return add("Add (" + now_ + ", " + weight(row_) + ")");
      case 2:
        return add("Mul (" + now_ + ", " + now_ + ")");
      case 3:
        return add_product();
      case 4:
        return add("Softmax <axis = -1> (" + now_ + ")");
      case 5:
        return add("LayerNormalization <epsilon = 0.1> (" + now_ + ", " + weight({row_.back()}) +
                   ")");
      case 6:
        return add_shape();
      case 7:
        return add_window();
      case 8:
        return add_reduction();
      default:
        return add_join();
    }
  }

  std::string bounded() {
    add("Clip (" + now_ + ", low, high)");
    return now_;
  }

  void add_product() {
    const std::int64_t columns = 1 + below(24);
    add("MatMul (" + now_ + ", " + weight({row_.back(), columns}) + ")");
    row_.back() = columns;
  }

  void add_shape() {
    if (row_.size() > 1 && below(2) == 0) {
      std::swap(row_.front(), row_.back());
      std::string perm = row_.size() == 2 ? "[0, 2, 1]" : "[0, 3, 2, 1]";
      return add("Transpose <perm = " + perm + "> (" + now_ + ")");
    }
    row_ = row_.size() > 1 || elements() % 4 != 0 ? Shape{elements()} : Shape{elements() / 4, 2, 2};
    Shape asked = row_;
    asked.insert(asked.begin(), -1);
    add("Reshape (" + now_ + ", " + ints(asked) + ")");
  }

  void add_window() {
    if (row_.size() != 3) return add("LeakyRelu (" + now_ + ")");
    const std::int64_t channels = 1 + below(12);
    if (below(2) == 0)
      return add("MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (" + now_ + ")");
    add("Conv <pads = [1,1,1,1]> (" + now_ + ", " + weight({channels, row_[0], 3, 3}) + ")");
    row_[0] = channels;
  }

  void add_reduction() {
    if (below(4) == 0)  // over all rows, read by each again
      return add("ReduceMean <keepdims = 1> (" + now_ + ", first)"),
             add("Add (" + before_ + ", " + now_ + ")");
    add("ReduceMean <keepdims = 1> (" + now_ + ", last)");
    row_.back() = 1;
  }

  void add_join() {
    if (below(2) == 0) {
      add("Concat <axis = 1> (" + now_ + ", " + now_ + ")");
      row_[0] *= 2;
      return;
    }
    if (row_[0] < 2) return add("Abs (" + now_ + ")");
    add("Slice (" + now_ + ", " + ints({1}) + ", " + ints({row_[0]}) + ", " + ints({1}) + ")");
    row_[0] -= 1;
  }

  tests::Random random_;
  Shape row_;
  int count_ = 0;
  std::string now_ = "r", before_, text_, weights_;
};

class RandomRows : public testing::TestWithParam<std::uint32_t> {};

void expect_random_rows(std::uint32_t seed) {
  tests::Random random(seed);
  const auto few = [&](std::size_t most) { return std::int64_t{1} + random.below(most); };
  const Shape row = random.one_in(2) ? Shape{few(20)} : Shape{few(6), few(5), few(5)};
  std::string rows = std::to_string(few(200));
  for (const std::int64_t dim : row) rows += "," + std::to_string(dim);
  RowNetwork network(seed, row);
  network.draw(static_cast<int>(few(8)));
  // Of numbers from -2 to 2: all rows, half of them, some, a few, none.
  const std::string bound = random.pick(std::array{"-100", "0", "1.2", "1.9", "100"});
  SCOPED_TRACE("x " + rows + " above " + bound + ": " + network.weights() + "\n" + network.text());
  expect_rows_through(
      rows, bound, network.weights() + "float low = {-3}, float high = {3}, int64[1] last = {-1},",
      network.text());
}

TEST_P(RandomRows, GiveWhatTheReferenceGives) {
  const tests::Seeds seeds("AOE_ROWS", 100);
  std::cout << seeds.text();
  for (const std::uint32_t seed : seeds.of_shard(GetParam())) {
    SCOPED_TRACE(seeds.again(seed));
    expect_random_rows(seed);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomRows, testing::Range(0U, tests::Seeds::kShards));

/// An om has no place for such, and would be written only to be refused when it is loaded.
TEST(SizesOfARun, AreOfAKnownNumberOfDimensions) {
  graph::Graph graph = tests::import_text(R"(g (int64[3] s, bool[3] c) => (y) {
    t = Compress <axis = 0> (s, c)
    y = ConstantOfShape (t)
  })",
                                          20);
  graph::run_passes(graph, {});
  try {
    compile(graph, options_for(loopnest::test_socs().back()));
    FAIL() << "compiled";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kModel);
    EXPECT_NE(std::string(e.what()).find("value 'y'"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace aoe::compiler
