// Operators that are taken apart, called with hostile sizes and places: refused in one line, or imported in no time.
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"

namespace aoe::graph {
namespace {

std::string refusal(const std::string& graph_text, int opset) {
  try {
    tests::import_text(graph_text, opset);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kModel) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "was imported: " << graph_text;
  return "";
}

void expect_refused(const std::string& graph_text, const std::string& why, int opset = 17) {
  const std::string refused = refusal(graph_text, opset);
  EXPECT_NE(refused.find(why), std::string::npos) << refused << "\n" << graph_text;
}

constexpr const char* kMany = "9223372036854775807";

/// GroupQueryAttention of packed rows.
std::string group_query(const std::string& heads, const std::string& kv_heads,
                        const std::string& tokens) {
  return "g (float[1," + tokens +
         ",48] x, int32[1] l, int32[1] t) => (y) { y = com.microsoft.GroupQueryAttention "
         "<num_heads = " +
         heads + ", kv_num_heads = " + kv_heads + "> (x, , , , , l, t) }";
}

// 2 + 2 * (2^63 - 1) wraps to 0, by which rows were divided.
TEST(ContributedErrors, HeadsAreCounted) {
  expect_refused(group_query("2", kMany, "3"), "its kv_num_heads is 9223372036854775807");
  expect_refused(group_query("-1", "2", "3"), "its num_heads is -1");
  expect_refused(group_query("0", "2", "3"), "its num_heads is 0");
  const auto sparse = [](const std::string& heads, const std::string& kv_heads) {
    return "g (float[1,3,48] x, float[1,1,8,16] k, float[1,1,8,16] v, int32[1,3] b, int32[1,3] c, "
           "int32[1] t, "
           "int32[1] l) => (y) { y = com.microsoft.SparseAttention <sparse_block_size = 4, "
           "num_heads = " +
           heads + ", kv_num_heads = " + kv_heads + "> (x, , , k, v, b, c, t, l) }";
  };
  expect_refused(sparse("2", kMany), "its kv_num_heads is 9223372036854775807");
  expect_refused(sparse(kMany, "1"), "its num_heads is 9223372036854775807");
}

// A cache as long as the new rows was written from its begin on, whatever was valid of it.
TEST(ContributedErrors, CachesWithoutRoomAreNotOverwritten) {
  const Graph graph = tests::import_text(
      "g (float[1,2,24] x, float[1,1,2,8] k, float[1,1,2,8] v, int32[1] t) => (y) "
      "<int32[1] l = {5}> { y = com.microsoft.GroupQueryAttention "
      "<num_heads = 1, kv_num_heads = 1> (x, , , k, v, l, t) }",
      17);
  try {
    tests::interpret(graph, tests::random_inputs(graph, 1));
    FAIL() << "ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kModel);
    EXPECT_NE(std::string(error.what()).find("write index 4 puts 2 rows outside a cache of 2"),
              std::string::npos)
        << error.what();
  }
}

// Keys of other tokens than queries were filled up with zeros, columns of 1 stretched: not where sizes were open.
TEST(ContributedErrors, WhatBelongsTogetherIsAsLong) {
  expect_refused(
      "g (float[1,9,16] q, float[1,5,8] k, float[1,5,8] v, int32[1] l, int32[1] t) => (y) "
      "{ y = com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 1> "
      "(q, k, v, , , l, t) }",
      "queries, keys and values are of 9 and 5 tokens");
  expect_refused("g (float[14,1] a, float[3,5] b) => (y) { y = com.microsoft.CDist (a, b) }",
                 "rows have 1 columns, and the others 5");
}

TEST(ContributedErrors, SinksAreCountedWhereTheirNumberIsKnown) {
  const auto with_sinks = [](const std::string& count) {
    return "g (float[1,3,16] q, float[1,3,8] k, float[1,3,8] v, int32[1] l, int32[1] t, float[" +
           count +
           "] s) => (y) { y = com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 1> "
           "(q, k, v, , , l, t, , , , , s) }";
  };
  expect_refused(with_sinks("3"), "its head_sink is 3");
  const Graph open =
      tests::import_text(with_sinks("n"), 17, {.input_shapes = {{"s", {kUnknownDim}}}});
  EXPECT_EQ(open.values[open.inputs.back()].desc.shape, Shape{kUnknownDim});
}

TEST(ContributedErrors, ListsOfTokensAreCountedBeforeTheyAreMade) {
  constexpr const char* kBytes = "more than 1073741824 bytes";
  expect_refused(group_query("1", "1", "1099511627776"), kBytes);
  expect_refused(
      "g (float[1,1099511627776,4] x, int64[1] p, float[9,2] c, float[9,2] s) => (y) "
      "{ y = com.microsoft.RotaryEmbedding <num_heads = 1> (x, p, c, s) }",
      kBytes);
  expect_refused(
      "g (float[1,1,1,2199023255552] x, int32[1,1,1,2199023255552] m) => (y) "
      "{ y = com.microsoft.MaxpoolWithMask <kernel_shape = [1,1]> (x, m) }",
      kBytes);
  expect_refused(
      "g (float[1,1,4] x, float[1,1,1099511627776,4] k, float[1,1,1099511627776,4] v, int32[1] p) "
      "=> (y) "
      "{ y = com.microsoft.DecoderMaskedMultiHeadAttention <num_heads = 1, "
      "past_present_share_buffer = 1> "
      "(x, x, x, , , k, v, p) }",
      kBytes);
}

// As many tokens as one likes are masked at once where there are no keys.
TEST(ContributedErrors, NoKeysNeedNoTime) {
  tests::import_text(
      "g (float[1,1099511627776,4] q, float[1,0,4] k, float[1,0,4] v) => (y) "
      "{ y = com.microsoft.MultiHeadAttention <num_heads = 1, unidirectional = 1> (q, k, v) }",
      17);
}

// A 0 among the dimensions of a Reshape is one that stays.
TEST(ContributedErrors, DistancesFromNoPoints) {
  const Graph graph = tests::import_text(
      "g (float[4,5] a, float[0,5] b) => (y) { y = com.microsoft.CDist (a, b) }", 17);
  EXPECT_EQ(graph.values[graph.outputs.front()].desc.shape, (Shape{4, 0}));
}

// What a newer version of an operator computes by it would be missing.
TEST(ContributedErrors, AnInputThatIsNotKnown) {
  const auto inverse = [](const std::string& inputs) {
    return "g (float[2,2] x) => (y) { y = com.microsoft.Inverse (" + inputs + ") }";
  };
  expect_refused(inverse("x, x"), "has an input 1, which this engine does not know");
  tests::import_text(inverse("x, "), 17);
}

TEST(ContributedErrors, TablesWithoutAngles) {
  constexpr const char* kNoAngles = "its tables have no angles";
  expect_refused(
      "g (float[1,2,4] x, int64[1,2] p, float[9,0] c, float[9,0] s) => (y) "
      "{ y = com.microsoft.RotaryEmbedding (x, p, c, s) }",
      kNoAngles);
  expect_refused(
      "g (float[1,2,4] x, int64[3,1,2] p, float[9,0] c, float[9,0] s) => (y) "
      "{ y = com.microsoft.MRotaryEmbedding <mrope_section = [0,0,0]> (x, p, c, s) }",
      kNoAngles);
}

TEST(ContributedErrors, StatesOfConvolutions) {
  const auto convolution = [](const std::string& domain, const std::string& x,
                              const std::string& w) {
    return "g (float[" + x + "] x, float[" + w + "] w) => (y, s) { y, s = " + domain +
           "CausalConvWithState (x, w) }";
  };
  // As large as the states are, they are one number, expanded.
  tests::import_text(convolution("com.microsoft.", "4294967296,3,6", "3,1,4"), 28);
  for (const std::string domain : {"com.microsoft.", ""}) try {
      tests::import_text(convolution(domain, "1,3,6", "3,1,0"), 28);
      ADD_FAILURE() << "weights of no tokens";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kModel) << error.what();
    }
}

TEST(ContributedErrors, PartsOfAttention) {
  expect_refused(
      "g (float[1,2,4] x, float[4,12] w) => (y) { y = com.microsoft.Attention <num_heads = 1, "
      "qkv_hidden_sizes = [9223372036854775807, 9223372036854775807, 14]> (x, w) }",
      "qkv_hidden_sizes do not divide");
}

// Their differences and sums have no place among the numbers.
TEST(ContributedErrors, SizesThatAreTooLargeOrNegative) {
  for (const std::string number : {"-9223372036854775808", kMany}) {
    const auto crop = [](const std::string& attributes) {
      return "g (float[1,1,4,4] x) => (y) { y = Crop <" + attributes + "> (x) }";
    };
    expect_refused(crop("border = [0,0,0," + number + "]"), "its border or scale is " + number);
    expect_refused(crop("border = [1,1,1,1], scale = [2," + number + "]"), "its border or scale");
    expect_refused(
        "g (float[4] x) => (y) <int64[2] parts = {1, " + number +
            "}> { s = SplitToSequence (x, parts) y = ConcatFromSequence <axis = 0> (s) }",
        "splits more than there is");
  }
  expect_refused(
      "g (float[6] x) => (y) <int64[1] size = {-9223372036854775808}> "
      "{ y = CenterCropPad (x, size) }",
      "has the size -9223372036854775808", 18);
}

TEST(ContributedErrors, PadsBehindTheEndOfAllNumbers) {
  expect_refused(
      "g (float[1,1,4,4] x, int32[1,1,4,4] m) => (y) { y = com.microsoft.MaxpoolWithMask "
      "<kernel_shape = [2,2], pads = [0,0,0," +
          std::string(kMany) + "]> (x, m) }",
      kMany);
}

TEST(ContributedErrors, PlacesAndCountsThatAreNoIntegers) {
  expect_refused(
      "g (float[2] x) => (y) <float at = {0}> { s = SequenceConstruct (x, x) "
      "y = SequenceAt (s, at) }",
      "has a position that is no integer: float32");
  expect_refused(
      "g (float[2] x) => (y) <float n = {2}> { s = SequenceConstruct (x) "
      "t = Loop (n, , s) <body = b (int64 i, bool c, u) => (d, v) "
      "{ d = Identity (c) v = SequenceInsert (u, x) }> "
      "y = ConcatFromSequence <axis = 0> (t) }",
      "has a count or condition that is no integer: float32");
}

}  // namespace
}  // namespace aoe::graph
