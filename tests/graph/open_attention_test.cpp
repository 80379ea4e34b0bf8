// Attention of tokens whose number only a run can tell: the operators are taken apart as those of known numbers are.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/passes.h"
#include "graph/rewrite.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"

namespace aoe::tests {
namespace {

/// `network` of tokens r, which are all rows of x; `is_open`: as many as a run chooses.
graph::Graph attention(const std::string& network, bool is_open) {
  const std::string rows = is_open ? R"(
    a = Abs (x)
    s = ReduceSum <keepdims = 0> (a, along)
    c = GreaterOrEqual (s, zero)
    n = NonZero (c)
    i = Reshape (n, flat)
    o = Gather <axis = 0> (x, i)
    r = Unsqueeze (o, first))"
                                   : R"(
    r = Unsqueeze (x, first))";
  return import_text(R"(
    g (float[7,8] x, float[1,5,8] k, int32[1,5] mask, int32[1] length, int32[1,1,9,9] square, float[1,1,5,4] row,
        int64[1] lengths, float[1,2,3,4] past, float[1,2,3,2] small, float[1,1,3,2] row2, float[16,2] angles,
        float[1,4,7,5] wide, float[9,8] table, float[8] line) => (y) <int32[1] six = {6}, int64[2] twelve = {1, 2}, int32[1] nine = {9}, int32[1] seven = {7},
        int32[1] ten = {10}, int64[3] packed = {0, 0, 8}, int64[1] along = {1}, float zero = {0},
        int64[1] flat = {-1}, int64[1] first = {0}, int64[4] split = {1, 0, 2, 4}, float[8,24] w,
        float[24] b, int64[1] third = {2}, float[8] v, float[8,2,4] heads, float[2,4,3] merge, float two = {2}, float half = {0.5}, float low = {-1e30}, int64[5] pairs = {1, 1, 2, 1, 1}, int64[4] four = {0, 4, -1, 4}> {)" +
                         rows + network + "}",
                     23);
}

int count_of(const graph::Graph& graph, const std::string& type) {
  return static_cast<int>(std::ranges::count_if(graph.nodes, [&](const graph::Node& node) {
    return !node.is_dead && graph::is_type(node, type);
  }));
}

int fused(const graph::Graph& graph) {
  return count_of(graph, "FusedInferAttentionScore");
}

TEST(OpenAttention, GivesWhatThatOfAsManyTokensGives) {
  for (const std::string network :
       {"y = com.microsoft.MultiHeadAttention <num_heads = 2> (r, k, k)",
        "y = com.microsoft.MultiHeadAttention <num_heads = 2> (k, r, r)",
        "y = com.microsoft.MultiHeadAttention <num_heads = 2> (r, k, k, , mask)",
        "y = com.microsoft.MultiHeadAttention <num_heads = 2, unidirectional = 1> (r, r, r)",
        "y = com.microsoft.MultiHeadAttention <num_heads = 2> (k, r, r, , length)",
        ("y = com.microsoft.MultiHeadAttention <num_heads = 2, unidirectional = 1> (r, k, k, , , , "
         "past, past)"),
        "y = com.microsoft.Attention <num_heads = 2> (r, w, b)",
        "y = com.microsoft.Attention <num_heads = 2, unidirectional = 1> (r, w, b)",
        "y = com.microsoft.Attention <num_heads = 2> (r, w, b, square)",
        "y = Attention <q_num_heads = 2, kv_num_heads = 2> (r, r, r)",
        "y = Attention <q_num_heads = 4, kv_num_heads = 2> (r, kv, kv)",
        "y = Attention <q_num_heads = 2, kv_num_heads = 2, is_causal = 1> (r, r, r)",
        ("y = Attention <q_num_heads = 2, kv_num_heads = 2, is_causal = 1, left_window_size = 2> "
         "(r, r, r)"),
        "y = Attention <q_num_heads = 2, kv_num_heads = 2> (k, r, r, row)",
        "y = Attention <q_num_heads = 2, kv_num_heads = 2, is_causal = 1> (k, r, r, , , , lengths)",
        "y = Attention <q_num_heads = 4, kv_num_heads = 2> (r, kv, kv, wide)",
        ("y = com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 2> (r, r, r, , , "
         "six, seven)"),
        R"(y, f, l = com.microsoft.GroupQueryAttention
          <num_heads = 2, kv_num_heads = 2, do_rotary = 1, local_window_size = 4>
          (r, r, r, past, past, nine, ten, angles, angles))",
        R"(f, rest = Split <axis = 2, num_outputs = 2> (r)
      u, y, l = com.microsoft.GroupQueryAttention <num_heads = 4, kv_num_heads = 2, smooth_softmax = 1>
        (r, f, f, small, small, nine, ten))",
        R"(t = Reshape <allowzero = 0> (r, packed)
      y, f, l = com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 1, softcap = 2.0>
        (t, , , row2, row2, nine, ten))",
        R"(t = Squeeze (r, first)
      e = Cast <to = 6> (r)
      u = Abs (e)
      f = ReduceMin <keepdims = 0> (u, third)
      y, l = com.microsoft.EmbedLayerNormalization (f, , table, table, , line, line))",
        "y = com.microsoft.RotaryEmbedding <num_heads = 2> (r, third, angles, angles)",
        R"(t = Transpose <perm = [1, 0, 2]> (r)
      m = ReduceSum <keepdims = 0> (t, twelve)
      q = Cast <to = 6> (m)
      y = com.microsoft.MultiHeadAttention <num_heads = 2> (t, t, t, , q))",
        R"(t = Squeeze (r, first)
      y = com.microsoft.CDist <metric = "euclidean"> (t, table))",
        R"(t = Reshape <allowzero = 0> (r, split)
      e = Einsum <equation = "bihd,bjhd->bhij"> (t, t)
      p = Softmax <axis = -1> (e)
      y = Einsum <equation = "bhij,bjhd->bihd"> (p, t))",
        R"(t = Squeeze (r, first)
      e = Einsum <equation = "id,jd->ij"> (t, t)
      y = Einsum <equation = "ij,jd->id"> (e, t))",
        R"(t = Squeeze (r, first)
      e = Einsum <equation = "id,jd->ij"> (t, t)
      u = Unsqueeze (e, third)
      z = Mul (u, v)
      h = Einsum <equation = "abc,cde->abde"> (z, heads)
      y = Einsum <equation = "abcd,cde->abe"> (h, merge))",
        R"(t = Squeeze (r, first)
      e = Einsum <equation = "id,jd->ij"> (t, t)
      u = Unsqueeze (e, third)
      z = Mul (u, v)
      y = Einsum <equation = "ija,acd->aijcd"> (z, heads))",
        R"(t = Squeeze (r, first)
      e = Einsum <equation = "id,jd->ij"> (t, t)
      u = Unsqueeze (e, third)
      z = Mul (u, v)
      y = Einsum <equation = "ija,jb->iab"> (z, t))",
        R"(t = Squeeze (r, first)
      y = Einsum <equation = "id,jd,je->ie"> (t, t, t))",
        R"(t = Squeeze (r, first)
      e = Einsum <equation = "id,jd->ij"> (t, t)
      u = Unsqueeze (e, third)
      z = Mul (u, v)
      y = Einsum <equation = "cde,abc->deab"> (heads, z))"}) {
    SCOPED_TRACE(network);
    const std::string halves = network.find("kv, kv") == std::string::npos ? "" : R"(
      kv, rest = Split <axis = 2, num_outputs = 2> (k)
      )";
    const graph::Graph closed = attention(halves + network, false);
    graph::Graph open = attention(halves + network, true);
    expect_same_outputs(closed, open, 1);
    graph::run_passes(open, {});
    EXPECT_FALSE(std::ranges::any_of(open.nodes, [](const graph::Node& node) {
      return !node.is_dead && graph::is_type(node, "Einsum");
    }));
    expect_same_outputs(closed, open, 2);
  }
}

/// `network` on heads h of all tokens, (1, 2, tokens, 4), and `turned`, the same by columns.
std::string of_heads(const std::string& network) {
  return R"(
      t = Reshape <allowzero = 0> (r, split)
      h = Transpose <perm = [0, 2, 1, 3]> (t)
      turned = Transpose <perm = [0, 1, 3, 2]> (h))" +
         network;
}

TEST(OpenAttention, IsOneNode) {
  for (const std::string network : {// the result turned back
                                    R"(
      scores = MatMul (h, turned)
      d = Div (scores, two)
      p = Softmax <axis = -1> (d)
      back = MatMul (p, h)
      y = Transpose <perm = [0, 2, 1, 3]> (back))",
                                    // factors that are scaled, a mask of one row
                                    R"(
      u = Mul (h, half)
      other = Mul (half, turned)
      scores = MatMul (u, other)
      bias = ReduceSum <keepdims = 1> (turned, third)
      m = Add (bias, scores)
      p = Softmax <axis = 3> (m)
      y = MatMul (p, h))",
                                    // a Where
                                    R"(
      scores = MatMul (h, turned)
      bias = ReduceSum <keepdims = 1> (turned, third)
      z = Greater (bias, two)
      m = Where (z, low, scores)
      p = Softmax <axis = -1> (m)
      y = MatMul (p, h))",
                                    // with an axis more
                                    R"(
      q = Unsqueeze (h, third)
      keys = Unsqueeze (turned, third)
      values = Unsqueeze (h, third)
      scores = MatMul (q, keys)
      p = Softmax <axis = -1> (scores)
      y = MatMul (p, values))",
                                    // heads that share keys, which are repeated for each
                                    R"(
      q = Concat <axis = 1> (h, h)
      shared = Unsqueeze (h, third)
      each = Expand (shared, pairs)
      joined = Reshape <allowzero = 0> (each, four)
      columns = Transpose <perm = [0, 1, 3, 2]> (joined)
      scores = MatMul (q, columns)
      p = Softmax <axis = -1> (scores)
      y = MatMul (p, joined))",
                                    // a mask that has more queries than the first product
                                    R"(
      q = ReduceSum <keepdims = 1> (h, third)
      scores = MatMul (q, turned)
      bias = MatMul (h, turned)
      m = Add (scores, bias)
      p = Softmax <axis = -1> (m)
      y = MatMul (p, h))"}) {
    SCOPED_TRACE(network);
    const graph::Graph closed = attention(of_heads(network), false);
    graph::Graph open = attention(of_heads(network), true);
    graph::run_passes(open, {});
    EXPECT_EQ(fused(open), 1);
    EXPECT_EQ(count_of(open, "Expand"), 0);
    expect_same_outputs(closed, open, 1);
  }
}

/// Of which slices have known sizes, which generated code is faster with.
TEST(OpenAttention, OfOpenImagesIsLeftToTheirSlices) {
  graph::Graph open = import_text(R"(
    g (float[5,2,3,4] x) => (y) <int64[3] along = {1, 2, 3}, float zero = {0}, int64[1] flat = {-1}> {
      a = ReduceSum <keepdims = 0> (x, along)
      b = GreaterOrEqual (a, zero)
      n = NonZero (b)
      i = Reshape (n, flat)
      h = Gather <axis = 0> (x, i)
      c = Transpose <perm = [0, 1, 3, 2]> (h)
      s = MatMul (h, c)
      p = Softmax <axis = -1> (s)
      y = MatMul (p, h)
    })",
                                  23);
  graph::run_passes(open, {});
  EXPECT_EQ(fused(open), 0);
}

}  // namespace
}  // namespace aoe::tests
