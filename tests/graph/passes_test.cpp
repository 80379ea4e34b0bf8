// Every pass on graphs made for it: the text it leaves (golden/<case>.txt) and the meaning it
// keeps. AOE_UPDATE_GOLDEN=1 rewrites the golden files; review the difference.
#include "graph/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "base/file.h"
#include "graph/rewrite.h"
#include "graph/verify.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"

namespace aoe::tests {
namespace {

using graph::Graph;
using graph::Pass;

struct Case {
  const char* name;
  const char* pass;
  const char* model;
  int opset = 13;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

const Case kCases[] = {
    {"fold_constants_shapes", "fold_constants", R"(g (float[2,3,4] x) => (float[4,6] y) {
       s = Shape (x)
       i = Constant <value = int64 {2}> ()
       last = Gather (s, i)
       axes = Constant <value = int64[1] {0}> ()
       d = Unsqueeze (last, axes)
       rest = Constant <value = int64[1] {-1}> ()
       shape = Concat <axis = 0> (d, rest)
       y = Reshape (x, shape)
     })"},
    {"fold_constants_keeps_outputs", "fold_constants",
     "g (float[2] x) => (float[2] y, float[3] z) <float[3] w = {1, 2, 3}> { y = Relu (x) a = Neg "
     "(w) z = Neg (a) }"},
    {"widen_floats_conv", "widen_floats",
     R"(g (float16[1,2,4,4] x) => (float16[1,3,4,4] y, int64[4] s)
       <float16[3,2,3,3] w, float16[3] b> {
       c = Conv <pads = [1,1,1,1]> (x, w, b)
       y = Relu (c)
       s = Shape (c)
     })"},
    {"widen_floats_casts", "widen_floats",
     R"(g (float[2,3] x, float16[2,3] h, bfloat16[2,3] b) => (float[2,3] y, float16[2,3] z, int32[2,3] i) {
       r = Cast <to = 10> (x)
       s = Mul (r, r)
       y = Cast <to = 1> (r)
       again = Cast <to = 10> (s)
       narrow = CastLike (again, b)
       sum = Add (narrow, b)
       near = Cast <to = 10> (sum)
       z = Sub (near, h)
       i = Cast <to = 6> (h)
     })",
     15},
    {"widen_floats_bits", "widen_floats",
     R"(g (float16[3] x) => (int16[3] bits, float16[3] y) {
       a = Exp (x)
       bits = BitCast <to = 5> (a)
       back = BitCast <to = 10> (bits)
       y = Neg (back)
     })",
     26},
    {"widen_floats_sources", "widen_floats",
     R"(g (float16[1,8] x, int32[4,8] i) => (float16[4,8] y) {
       ones = EyeLike <dtype = 10> (i)
       y = Add (x, ones)
     })"},
    {"expand_composites_lp_norm", "expand_composites",
     "g (float[2,3] x) => (float[2,3] y) { y = LpNormalization <axis = 1, p = 1> (x) }"},
    {"expand_composites_log_sum_exp", "expand_composites",
     "g (float[2,3] x) => (float[2] y) { y = ReduceLogSumExp <axes = [1], keepdims = 0> (x) }"},
    {"expand_composites_max_pool", "expand_composites",
     "g (float[2,3,5,6,7] x) => (float[2,3,3,6,4] y) { y = MaxPool <kernel_shape = [2,3,2], "
     "strides = [2,1,2], "
     "pads = [0,1,1,1,1,0]> (x) }"},
    {"expand_composites_average_pool", "expand_composites",
     "g (float[1,2,4,5,6] x) => (float[1,2,4,5,6] y) { y = AveragePool <kernel_shape = [3,3,3], "
     "pads = [1,1,1,1,1,1]> (x) }"},
    {"expand_composites_average_pool_padded", "expand_composites",
     "g (float[1,2,4,5,6] x) => (float[1,2,4,5,6] y) { y = AveragePool <kernel_shape = [3,3,3], "
     "count_include_pad = 1, "
     "pads = [1,1,1,1,1,1]> (x) }"},
    {"expand_composites_keeps_double", "expand_composites",
     "g (double[2,3] x) => (double[2,3] y) { y = Hardmax <axis = 1> (x) }"},
    {"expand_composites_lp_norm_of_double", "expand_composites",
     "g (double[2,3] x) => (double[2,3] y) { y = LpNormalization <axis = 1> (x) }"},
    {"expand_composites_log_sum_exp_of_double", "expand_composites",
     "g (double[2,3] x) => (double[2] y) { y = ReduceLogSumExp <axes = [1], keepdims = 0> (x) }"},
    {"move_zero_points_product", "move_zero_points",
     "g (uint8[2,3] x, uint8 zero) => (int32[2,2] y) <int8[3,2] w = {1, 2, 3, 4, 5, -6}, int8[2] "
     "wz = {1, 0}> "
     "{ y = MatMulInteger (x, w, zero, wz) }"},
    {"move_zero_points_convolution", "move_zero_points",
     "g (uint8[1,1,3,3] x, uint8 zero) => (int32[1,1,3,3] y) <int8[1,1,3,3] w = {1, 2, 3, 4, 5, 6, "
     "7, 8, -9}> "
     "{ y = ConvInteger <pads = [1,1,1,1]> (x, w, zero) }"},
    {"expand_fourier_short", "expand_fourier",
     "g (float[2,4,1] x) => (float[2,3,2] y) { y = DFT <axis = 1, onesided = 1> (x) }", 17},
    {"expand_fourier_of_double", "expand_fourier",
     "g (double[2,5,1] x) => (double[2,5,2] y) { y = DFT <axis = 1> (x) }", 17},
    {"expand_fourier_inner", "expand_fourier",
     "g (float[2,4,3,2] x) => (float[2,4,3,2] y) { y = DFT <axis = 1, inverse = 1> (x) }", 17},
    {"expand_fourier_long", "expand_fourier",
     "g (float[2,1024,2] x) => (float[2,1024,2] y) { y = DFT <axis = 1, inverse = 1> (x) }", 17},
    {"expand_fourier_long_real", "expand_fourier",
     "g (float[1,768,1] x) => (float[1,385,2] y) { y = DFT <axis = 1, onesided = 1> (x) }", 17},
    {"expand_fourier_to_real", "expand_fourier",
     "g (float[2,3,2] x) => (float[2,4,1] y) "
     "{ y = DFT <axis = 1, inverse = 1, onesided = 1> (x) }",
     17},
    {"expand_fourier_to_odd_real", "expand_fourier",
     R"(g (float[2,3,2] x) => (float[2,5,1] y) {
       length = Constant <value = int64 {5}> ()
       y = DFT <axis = 1, inverse = 1, onesided = 1> (x, length)
     })",
     17},
    {"expand_fourier_stft", "expand_fourier",
     R"(g (float[2,20,1] x, float[8] w) => (float[2,4,5,2] y) {
       step = Constant <value = int64 {4}> ()
       y = STFT (x, step, w)
     })",
     17},
    {"remove_identities_cast_back", "remove_identities",
     R"(g (float16[2,3] x, float[2,3] f) => (float16[2,3] y, float[2,3] z) {
       a = Neg (x)
       b = Cast <to = 1> (a)
       c = Cast <to = 10> (b)
       y = Relu (c)
       d = Cast <to = 10> (f)
       e = Cast <to = 1> (d)
       z = Neg (e)
     })"},
    {"eliminate_dead_code", "eliminate_dead_code",
     "g (float[2,4] x) => (float[2,2] b) { u = Relu (x) v = Neg (u) a, b = Split <axis = 1> (x) }"},
    {"unflatten_gemm", "unflatten_gemm",
     R"(g (float[2,3,4] x) => (float[2,3,2] y, float[2,3,2] z, float[3,2,2] other)
       <float[4,2] w = {1, 2, 3, 4, 5, 6, 7, 8}, float[2] bias = {1, -1}, int64[2] rows = {6, 4}, int64[3] wide = {2, 3, 2}, int64[3] turned = {3, 2, 2}> {
       flat = Reshape (x, rows)
       a = Gemm (flat, w, bias)
       y = Reshape (a, wide)
       b = Gemm (flat, w)
       z = Reshape (b, wide)
       c = Gemm (flat, w, bias)
       other = Reshape (c, turned)
     })"},
    {"remove_identities", "remove_identities", R"(g (float[2,3] x) => (float[2,3] y) {
       one = Constant <value = float {1}> ()
       zero = Constant <value = float {0}> ()
       a = Identity (x)
       b = Dropout (a)
       c = Mul (one, b)
       d = Add (c, zero)
       e = Cast <to = 1> (d)
       f = Neg (e)
       y = Identity (f)
     })"},
    {"remove_identities_keeps_reversal", "remove_identities",
     R"(g (float[4] x) => (float[4] y, float[4] z) {
       end = Constant <value = int64[1] {-100}> ()
       last = Constant <value = int64[1] {3}> ()
       axis = Constant <value = int64[1] {0}> ()
       back = Constant <value = int64[1] {-1}> ()
       a = Slice (x, last, end, axis, back)
       y = Neg (a)
       all = Constant <value = int64[1] {100}> ()
       b = Slice (x, axis, all)
       z = Neg (b)
     })"},
    {"remove_identities_reshapes", "remove_identities",
     R"(g (float[1,3,1,4] x) => (float[12] y, float[1,1,4,3] z) {
       axes = Constant <value = int64[1] {0}> ()
       a = Squeeze (x, axes)
       b = Flatten <axis = 0> (a)
       shape = Constant <value = int64[1] {-1}> ()
       c = Reshape (b, shape)
       y = Neg (c)
       t = Transpose <perm = [0,2,1,3]> (x)
       u = Transpose <perm = [0,1,3,2]> (t)
       z = Neg (u)
     })"},
    {"forward_slices", "forward_slices",
     R"(g (float[2,3] x, float[2,2] u) => (float[2,3] y, float[2,2] z, float[2,2] v) {
       a = Relu (x)
       b = Relu (u)
       c = Concat <axis = 1> (a, b)
       first = Slice <axes = [1], starts = [0], ends = [3]> (c)
       last = Slice <axes = [-1], starts = [-2], ends = [9]> (c)
       across = Slice <axes = [1], starts = [2], ends = [4]> (c)
       y = Neg (first)
       z = Neg (last)
       v = Neg (across)
     })",
     9},
    {"move_relus", "move_relus",
     R"(g (float[1,2,4,4] x) => (float[1,5,4,4] y, float[1,2,1,1] z) <float[3,2,1,1] w> {
       a = Relu (x)
       p = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (a)
       c = Conv (x, w)
       d = Concat <axis = 1> (p, c)
       y = Relu (d)
       q = GlobalAveragePool (p)
       r = Relu (q)
       z = Neg (r)
     })"},
    {"split_variadic", "split_variadic",
     "g (float[2,3] a, float[3] b, float[2,1] c) => (float[2,3] y) { y = Sum (a, b, c) }"},
    {"eliminate_common_subexpressions", "eliminate_common_subexpressions",
     R"(g (float[2] x) => (float[2] y) {
       two = Constant <value = float {2}> ()
       zwei = Constant <value = float {2}> ()
       a = Mul (x, two)
       b = Mul (x, zwei)
       y = Add (a, b)
     })"},
    {"fuse_layer_norm", "fuse_layer_norm",
     R"(g (float[2,3,8] x) => (float[2,3,8] y) <float[8] gamma, float[8] beta> {
       mean = ReduceMean <axes = [-1]> (x)
       d = Sub (x, mean)
       two = Constant <value = float {2}> ()
       p = Pow (d, two)
       v = ReduceMean <axes = [-1]> (p)
       e = Constant <value = float {0.00001}> ()
       s = Add (v, e)
       r = Sqrt (s)
       n = Div (d, r)
       g1 = Mul (n, gamma)
       y = Add (g1, beta)
     })"},
    {"fuse_layer_norm_without_parameters", "fuse_layer_norm",
     R"(g (float[2,4,8] x) => (float[2,4,8] y) {
       mean = ReduceMean <axes = [1,2]> (x)
       d = Sub (x, mean)
       p = Mul (d, d)
       v = ReduceMean <axes = [1,2]> (p)
       e = Constant <value = float {0.001}> ()
       s = Add (e, v)
       r = Sqrt (s)
       y = Div (d, r)
     })"},
    {"fuse_layer_norm_not_when_seen", "fuse_layer_norm",
     R"(g (float[3,8] x) => (float[3,8] y, float[3,1] v) {
       mean = ReduceMean <axes = [-1]> (x)
       d = Sub (x, mean)
       p = Mul (d, d)
       v = ReduceMean <axes = [-1]> (p)
       e = Constant <value = float {0.001}> ()
       s = Add (v, e)
       r = Sqrt (s)
       y = Div (d, r)
     })"},
    {"fuse_attention", "fuse_attention",
     R"(g (float[2,5,12] q, float[2,7,12] k, float[2,7,12] v, float[2,1,1,7] mask) => (float[2,5,12] y) {
       heads = Constant <value = int64[4] {2, -1, 3, 4}> ()
       eight = Constant <value = float {8}> ()
       qs = Reshape (q, heads)
       qt = Transpose <perm = [0,2,1,3]> (qs)
       ks = Reshape (k, heads)
       kt = Transpose <perm = [0,2,3,1]> (ks)
       vs = Reshape (v, heads)
       vt = Transpose <perm = [0,2,1,3]> (vs)
       a = MatMul (qt, kt)
       b = Div (a, eight)
       c = Add (b, mask)
       s = Softmax <axis = 3> (c)
       o = MatMul (s, vt)
       ot = Transpose <perm = [0,2,1,3]> (o)
       flat = Constant <value = int64[3] {2, 5, 12}> ()
       y = Reshape (ot, flat)
     })"},
    {"fuse_attention_one_projection", "fuse_attention",
     R"(g (float[2,5,24] x) => (float[2,5,8] y) {
       parts = Constant <value = int64[5] {2, 5, 3, 2, 4}> ()
       half = Constant <value = float {0.5}> ()
       zero = Constant <value = int64 {0}> ()
       one = Constant <value = int64 {1}> ()
       two = Constant <value = int64 {2}> ()
       r = Reshape (x, parts)
       t = Transpose <perm = [2,0,3,1,4]> (r)
       q = Gather (t, zero)
       k = Gather (t, one)
       v = Gather (t, two)
       qs = Mul (q, half)
       kt = Transpose <perm = [0,1,3,2]> (k)
       a = MatMul (qs, kt)
       s = Softmax (a)
       o = MatMul (s, v)
       ot = Transpose <perm = [0,2,1,3]> (o)
       flat = Constant <value = int64[3] {2, 5, 8}> ()
       y = Reshape (ot, flat)
     })"},
    {"fuse_attention_three_dimensions", "fuse_attention",
     R"(g (float[5,2,24] x, float[2,1,5,5] mask) => (float[5,2,8] y) {
       third = Constant <value = int64[3] {8, 8, 8}> ()
       rows = Constant <value = int64[3] {5, 4, 4}> ()
       scores4 = Constant <value = int64[4] {2, 2, 5, 5}> ()
       scores3 = Constant <value = int64[3] {4, 5, 5}> ()
       flat = Constant <value = int64[3] {5, 2, 8}> ()
       half = Constant <value = float {0.5}> ()
       q, k, v = Split <axis = 2> (x, third)
       qr = Reshape (q, rows)
       kr = Reshape (k, rows)
       vr = Reshape (v, rows)
       qt = Transpose <perm = [1,0,2]> (qr)
       kt = Transpose <perm = [1,2,0]> (kr)
       vt = Transpose <perm = [1,0,2]> (vr)
       kh = Mul (kt, half)
       a = MatMul (qt, kh)
       a4 = Reshape (a, scores4)
       b = Add (mask, a4)
       b3 = Reshape (b, scores3)
       s = Softmax (b3)
       o = MatMul (s, vt)
       ot = Transpose <perm = [1,0,2]> (o)
       y = Reshape (ot, flat)
     })"},
    {"fuse_attention_where", "fuse_attention",
     R"(g (float[2,5,4] q, float[2,4,5] k, float[2,5,3] v, bool[5,5] seen) => (float[2,5,3] y) {
       low = Constant <value = float {-1000000000000}> ()
       a = MatMul (q, k)
       b = Where (seen, a, low)
       s = Softmax (b)
       y = MatMul (s, v)
     })"},
    {"fuse_attention_shared_heads", "fuse_attention",
     R"(g (float[2,4,5,8] q, float[2,2,5,8] k, float[2,2,5,8] v) => (float[2,4,5,8] y) {
       pairs = Constant <value = int64[5] {2, 2, 2, 5, 8}> ()
       single = Constant <value = int64[5] {2, 2, 1, 5, 8}> ()
       all = Constant <value = int64[4] {2, 4, 5, 8}> ()
       k1 = Reshape (k, single)
       k2 = Expand (k1, pairs)
       k4 = Reshape (k2, all)
       kt = Transpose <perm = [0,1,3,2]> (k4)
       v1 = Reshape (v, single)
       v2 = Expand (v1, pairs)
       v4 = Reshape (v2, all)
       a = MatMul (q, kt)
       s = Softmax (a)
       y = MatMul (s, v4)
     })"},
    {"fuse_attention_not_when_seen", "fuse_attention",
     R"(g (float[2,5,4] q, float[2,4,5] k, float[2,5,3] v) => (float[2,5,3] y, float[2,5,5] s) {
       a = MatMul (q, k)
       s = Softmax (a)
       y = MatMul (s, v)
     })"},
    {"fuse_attention_not_along_queries", "fuse_attention",
     R"(g (float[2,5,4] q, float[2,4,5] k, float[2,5,3] v) => (float[2,5,3] y) {
       a = MatMul (q, k)
       s = Softmax <axis = 1> (a)
       y = MatMul (s, v)
     })"},
    {"fuse_attention_not_scaled_mask", "fuse_attention",
     R"(g (float[2,5,4] q, float[2,4,5] k, float[2,5,3] v, float[5,5] mask) => (float[2,5,3] y) {
       half = Constant <value = float {0.5}> ()
       a = MatMul (q, k)
       b = Add (a, mask)
       c = Mul (b, half)
       s = Softmax (c)
       y = MatMul (s, v)
     })"},
    {"use_global_pooling", "use_global_pooling",
     R"(g (float[1,2,4,4] x) => (float[1,2] a, float[1,2,1,1] b, float[1,2,1,1] c, float[1,1,1,2] d) {
       a = ReduceMean <axes = [2,3], keepdims = 0> (x)
       b = ReduceMean <axes = [-1,-2]> (x)
       c = AveragePool <kernel_shape = [5,5], pads = [0,0,1,1]> (x)
       t = Transpose <perm = [0,2,3,1]> (x)
       d = ReduceMean <axes = [1,2]> (t)
     })"},
    {"fold_pad", "fold_pad",
     R"(g (float[1,2,4,4] x) => (float[1,3,4,4] y, float[1,2,3,3] z) <float[3,2,3,3] w> {
       pads = Constant <value = int64[8] {0,0,1,1,0,0,1,1}> ()
       a = Pad (x, pads)
       y = Conv <kernel_shape = [3,3]> (a, w)
       b = Pad (x, pads)
       z = AveragePool <kernel_shape = [2,2], strides = [2,2]> (b)
     })"},
    {"fold_pad_not_into_max", "fold_pad", R"(g (float[1,2,4,4] x) => (float[1,2,5,5] y) {
       pads = Constant <value = int64[8] {0,0,1,1,0,0,1,1}> ()
       a = Pad (x, pads)
       y = MaxPool <kernel_shape = [2,2]> (a)
     })"},
    {"fold_batch_norm_conv", "fold_batch_norm",
     R"(g (float[1,4,4,4] x) => (float[1,6,4,4] y) <float[6,2,1,1] w, float[6] s, float[6] b, float[6] m, float[6] v> {
       c = Conv <group = 2> (x, w)
       y = BatchNormalization (c, s, b, m, v)
     })"},
    {"fold_batch_norm_conv_transpose", "fold_batch_norm",
     R"(g (float[1,4,3,3] x) => (float[1,6,6,6] y) <float[4,3,2,2] w, float[6] b0, float[6] s, float[6] b, float[6] m, float[6] v> {
       c = ConvTranspose <group = 2, strides = [2,2], kernel_shape = [2,2]> (x, w, b0)
       y = BatchNormalization (c, s, b, m, v)
     })"},
    {"fold_batch_norm_gemm", "fold_batch_norm",
     R"(g (float[3,4] x) => (float[3,5] y) <float[5,4] w, float[5] c, float[5] s, float[5] b, float[5] m, float[5] v> {
       g1 = Gemm <transB = 1, alpha = 0.5, beta = 2.0> (x, w, c)
       y = BatchNormalization (g1, s, b, m, v)
     })"},
    {"fold_batch_norm_alone", "fold_batch_norm",
     R"(g (float[1,3,2,2] x) => (float[1,3,2,2] y) <float[3] s, float[3] b, float[3] m, float[3] v> {
       y = BatchNormalization (x, s, b, m, v)
     })"},
    {"fold_channel_scale", "fold_channel_scale",
     R"(g (float[1,2,4,4] x) => (float[1,3,4,4] y) <float[3,2,1,1] w, float[3] b, float[3,1,1] s, float[1,3,1,1] t> {
       two = Constant <value = float {2}> ()
       c = Conv (x, w, b)
       d = Mul (c, s)
       e = Sub (t, d)
       y = Div (e, two)
     })"},
    {"fold_channel_scale_matmul", "fold_channel_scale",
     "g (float[2,3,4] x) => (float[2,3,5] y) <float[4,5] w, float[5] s, float[5] t> { a = MatMul "
     "(x, w) b = Mul (a, s) y = Add (b, t) }"},
    {"fold_channel_scale_not_per_pixel", "fold_channel_scale",
     "g (float[1,2,1,3] x) => (float[1,3,1,3] y) <float[3,2,1,1] w, float[3] s> { c = Conv (x, w) "
     "y = Mul (c, s) }"},
    {"fuse_epilogues_residual", "fuse_epilogues",
     R"(g (float[1,2,4,4] x) => (float[1,2,4,4] y) <float[2,2,1,1] v, float[2,2,1,1] w> {
       two = Constant <value = float {2}> ()
       a = Conv (x, v)
       b = Relu (a)
       c = Conv (b, w)
       d = Add (c, b)
       y = Clip (d, , two)
     })"},
    {"fuse_epilogues_silu", "fuse_epilogues",
     R"(g (float[1,2,4,4] x) => (float[1,2,4,4] y) <float[2,2,1,1] w> {
       a = Conv (x, w)
       s = Sigmoid (a)
       y = Mul (a, s)
     })"},
    {"fuse_epilogues_gelu", "fuse_epilogues",
     R"(g (float[2,4] x) => (float[2,8] y) <float[4,8] w, float[8] b> {
       root = Constant <value = float {1.4142135}> ()
       one = Constant <value = float {1}> ()
       half = Constant <value = float {0.5}> ()
       a = MatMul (x, w)
       h = Add (b, a)
       d = Div (h, root)
       e = Erf (d)
       f = Add (e, one)
       m = Mul (h, f)
       y = Mul (m, half)
     })"},
    {"fuse_epilogues_two_anchors", "fuse_epilogues",
     R"(g (float[1,2,4,4] x) => (float[1,2,4,4] y) <float[2,2,1,1] v, float[2,2,1,1] w> {
       a = Conv (x, v)
       b = Conv (x, w)
       c = Add (a, b)
       y = Relu (c)
     })"},
    {"fuse_epilogues_stops", "fuse_epilogues",
     R"(g (float[1,2,4,4] x) => (float[1,2,4,4] y, float[1,2,4,4] b, float[3,2,4,4] z) <float[2,2,1,1] w, float[3,1,1,1] t> {
       a = Conv (x, w)
       b = Relu (a)
       y = Neg (b)
       c = Conv (x, w)
       z = Mul (c, t)
     })"},
    {"expand_einsum", "expand_einsum",
     R"(g (float[2,4,3,5] q, float[2,6,3,5] k, float[5,7] w) => (float[2,3,4,6] y, float[2,4,3,7] z, float[2,4,6] s) {
       y = Einsum <equation = "bihd,bjhd->bhij"> (q, k)
       z = Einsum <equation = "bihd, do -> biho"> (q, w)
       s = Einsum <equation = "bihd,bjhd->bij"> (q, k)
     })"},
    {"expand_einsum_not", "expand_einsum",
     R"(g (float[2,3] a, float[3,3] b) => (float[2] y, float[2,3] z) {
       y = Einsum <equation = "ij,kk->i"> (a, b)
       z = Einsum <equation = "ij,kj->ij"> (a, b)
     })"},
    {"widen_sequences", "widen_sequences",
     R"(g (float[1,2,9] x, float[1,3,8] r) => (float[1,3,4] y, float[1,3,8] d) <float[3,2,2] w, float[3] c, float[3,1] s> {
       a = Conv <kernel_shape = [2]> (x, w, c)
       b = Mul (a, s)
       d = Add (b, r)
       y = MaxPool <kernel_shape = [3], strides = [2], pads = [0,1]> (d)
     })"},
    {"fuse_elementwise", "fuse_elementwise",
     R"(g (float[2,3] x, float[3] s) => (float[2,3] y, float[2,3] z) {
       a = Mul (x, s)
       b = Sigmoid (a)
       c = Mul (a, b)
       d = Abs (s)
       y = Add (c, d)
       e = Exp (x)
       z = Neg (e)
     })"},
    {"fuse_elementwise_clip", "fuse_elementwise", R"(g (float[2,3] x) => (float[2,3] y) {
       six = Constant <value = float {6}> ()
       a = Neg (x)
       y = Clip (a, , six)
     })"},
    {"fuse_quantized_conv", "fuse_quantized", R"(g (float[1,2,5,5] x) => (float[1,3,5,5] y)
         <float s = {0.02}, uint8 z = {117}, int8[3,2,1,1] w = {90, -7, 12, 55, -100, 3},
          float[3] ws = {0.01, 0.02, 0.03}, int8[3] wz = {0, 0, 0}, float[3] b = {0.1, 0.2, -0.3},
          float t = {0.031}, uint8 u = {3}> {
       q = QuantizeLinear (x, s, z)
       d = DequantizeLinear (q, s, z)
       v = DequantizeLinear <axis = 0> (w, ws, wz)
       c = Conv (d, v, b)
       r = Relu (c)
       e = QuantizeLinear (r, t, u)
       y = DequantizeLinear (e, t, u)
     })"},
    {"fuse_quantized_matmul", "fuse_quantized", R"(g (float[3,2] x) => (float[3,3] y)
         <float s = {0.02}, int8 z = {-7}, int8[2,3] w = {90, -7, 12, 55, -100, 3}, float ws = {0.01},
          float[3] b = {0.1, 0.2, -0.3}> {
       q = QuantizeLinear (x, s, z)
       d = DequantizeLinear (q, s, z)
       v = DequantizeLinear (w, ws)
       c = MatMul (d, v)
       y = Add (b, c)
     })"},
    {"expand_qlinear_conv", "expand_qlinear", R"(g (float[1,2,5,5] x) => (float[1,3,5,5] y)
         <float s = {0.02}, uint8 z = {117}, uint8[3,2,1,1] w = {90, 7, 12, 255, 100, 3},
          float ws = {0.01}, uint8 wz = {100}, int32[3] b = {500, 20, -30},
          float t = {0.031}, int8 u = {3}> {
       q = QuantizeLinear (x, s, z)
       c = QLinearConv (q, s, z, w, ws, wz, t, u, b)
       y = DequantizeLinear (c, t, u)
     })"},
    {"expand_qlinear_matmul", "expand_qlinear", R"(g (float[3,2] x) => (float[3,3] y)
         <float s = {0.02}, int8 z = {-7}, int8[2,3] w = {90, -7, 12, 55, -100, 3}, float[3] ws = {0.01, 0.02, 0.03},
          int8[3] wz = {0, 0, 0}, float t = {0.031}, int8 u = {3}> {
       q = QuantizeLinear (x, s, z)
       c = QLinearMatMul (q, s, z, w, ws, wz, t, u)
       y = DequantizeLinear (c, t, u)
     })"},
    {"expand_qlinear_not_computed_scales", "expand_qlinear",
     R"(g (float[3,2] x, float v) => (float[3,3] y)
         <float s = {0.02}, int8 z = {-7}, int8[2,3] w = {90, -7, 12, 55, -100, 3}, float ws = {0.01},
          float t = {0.031}> {
       q = QuantizeLinear (x, s, z)
       c = QLinearMatMul (q, s, z, w, ws, z, v, z)
       y = DequantizeLinear (c, t, z)
     })"},
    {"fuse_quantized_whole_bias", "fuse_quantized", R"(g (float[3,2] x) => (float[3,3] y)
         <float s = {0.5}, int8 z = {-7}, int8[3,2] w = {90, -7, 12, 55, -100, 3}, float ws = {0.25}, float bs = {0.125},
          int32[3] b = {500, -20000001, 30}> {
       q = QuantizeLinear (x, s, z)
       d = DequantizeLinear (q, s, z)
       v = DequantizeLinear (w, ws)
       a = DequantizeLinear (b, bs)
       y = Gemm <transB = 1> (d, v, a)
     })"},
    {"fuse_quantized_grouped", "fuse_quantized", R"(g (float[1,2,5,5] x) => (float[1,2,5,5] y)
         <float s = {0.02}, uint8 z = {117}, int8[2,1,1,1] w = {90, -7}, float ws = {0.01}> {
       q = QuantizeLinear (x, s, z)
       d = DequantizeLinear (q, s, z)
       v = DequantizeLinear (w, ws)
       y = Conv <group = 2> (d, v)
     })"},
    {"pack_weights", "pack_weights", R"(g (float[3,16] x) => (float[3,2] y)
         <int8[16,2] w = {-8, -1, 6, -3, 4, -5, 2, -7, 0, 7, -2, 5, -4, 3, -6, 1, -8, -1, 6, -3, 4, -5, 2, -7, 0, 7, -2, 5, -4, 3, -6, 1},
          float[1,2] s = {0.5, 0.25}> {
       d = DequantizeLinear <axis = 0, block_size = 16> (w, s)
       y = MatMul (x, d)
     })"},
    {"pack_weights_not_by_column", "pack_weights", R"(g (float[3,4] x) => (float[3,2] y)
         <int8[4,2] w = {1, 2, 3, 4, 5, 6, 7, -8}, float[2] s = {0.5, 0.25}> {
       d = DequantizeLinear <axis = 1> (w, s)
       y = MatMul (x, d)
     })"},
    {"sink_dequantize", "sink_dequantize", R"(g (float[1,2,6,6] x) => (float[1,2,3,3] y)
         <float s = {0.02}, uint8 z = {117}, float t = {0.02}, uint8 u = {117}> {
       q = QuantizeLinear (x, s, z)
       d = DequantizeLinear (q, s, z)
       m = MaxPool <kernel_shape = [2,2], strides = [2,2]> (d)
       e = QuantizeLinear (m, t, u)
       y = DequantizeLinear (e, t, u)
     })"},
    {"sink_dequantize_not_to_other_scales", "sink_dequantize",
     R"(g (float[1,2,6,6] x) => (float[1,2,3,3] y)
         <float s = {0.02}, uint8 z = {117}, float t = {0.03}> {
       q = QuantizeLinear (x, s, z)
       d = DequantizeLinear (q, s, z)
       m = MaxPool <kernel_shape = [2,2], strides = [2,2]> (d)
       e = QuantizeLinear (m, t, z)
       y = DequantizeLinear (e, t, z)
     })"},
    {"fuse_elementwise_quantized", "fuse_elementwise",
     R"(g (float[2,3] x, float[2,3] v) => (float[2,3] y)
         <float s = {0.02}, uint8 z = {117}, float t = {0.03}> {
       q = QuantizeLinear (x, s, z)
       d = DequantizeLinear (q, s, z)
       a = Add (d, v)
       r = Relu (a)
       e = QuantizeLinear (r, t, z)
       f = Transpose <perm = [0,1]> (e)
       y = DequantizeLinear (f, t, z)
     })"},
};

const Pass& pass_named(const std::vector<Pass>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Pass::name);
  if (found == all.end()) throw std::logic_error("there is no pass " + name);
  return *found;
}

class EachPass : public testing::TestWithParam<Case> {};

TEST_P(EachPass, LeavesTheGoldenTextAndKeepsTheMeaning) {
  const Case& c = GetParam();
  const Graph before = import_text(c.model, c.opset);
  Graph after = before;
  const std::vector<Pass>& all = graph::passes();
  pass_named(all, c.pass).run(after);
  graph::verify(after, c.pass);
  after.compact();
  const std::filesystem::path golden =
      std::filesystem::path(AOE_TEST_DIR) / "golden" / (std::string(c.name) + ".txt");
  if (std::getenv("AOE_UPDATE_GOLDEN") != nullptr) write_file_atomically(golden, after.to_text());
  EXPECT_EQ(after.to_text(), read_file(golden, ExitCode::kData));
  expect_same_outputs(before, after, 1);

  Graph again = after;
  EXPECT_FALSE(pass_named(all, c.pass).run(again)) << "a second run finds more to do";
}

std::string test_name(const testing::TestParamInfo<Case>& tested) {
  return tested.param.name;
}

INSTANTIATE_TEST_SUITE_P(Passes, EachPass, testing::ValuesIn(kCases), test_name);

TEST(Passes, AreTheseInThisOrder) {
  std::vector<std::string> names;
  for (const Pass& pass : graph::passes()) names.push_back(pass.name);
  EXPECT_EQ(names, (std::vector<std::string>{"expand_einsum",
                                             "fold_constants",
                                             "widen_floats",
                                             "expand_composites",
                                             "expand_fourier",
                                             "move_zero_points",
                                             "expand_qlinear",
                                             "pack_weights",
                                             "fuse_quantized",
                                             "sink_dequantize",
                                             "fold_dequantized",
                                             "eliminate_dead_code",
                                             "remove_identities",
                                             "forward_slices",
                                             "unflatten_gemm",
                                             "split_variadic",
                                             "eliminate_common_subexpressions",
                                             "fuse_layer_norm",
                                             "fuse_attention",
                                             "use_global_pooling",
                                             "fold_pad",
                                             "fold_batch_norm",
                                             "fold_channel_scale",
                                             "move_relus",
                                             "fuse_epilogues",
                                             "widen_sequences",
                                             "fuse_elementwise"}));
}

TEST(Passes, AreAllListed) {
  std::vector<std::string> names;
  for (const Pass& pass : graph::passes()) names.push_back(pass.name);
  const auto folder = std::filesystem::path(AOE_TEST_DIR) / "../../graph/passes";
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".cpp") continue;
    ++files;
    EXPECT_NE(std::ranges::find(names, file.path().stem().string()), names.end())
        << file.path() << " never runs: order.inc does not list it";
  }
  EXPECT_GT(files, 0);
}

TEST(Passes, KeepOriginsInOrder) {
  Graph graph = import_text(
      R"(g (float[1,2,4,4] x) => (float[1,3,4,4] y)
         <float[3,2,1,1] w, float[3] s, float[3] b, float[3] m, float[3] v> {
        c = Conv (x, w)
        n = BatchNormalization (c, s, b, m, v)
        y = Relu (n)
      })");
  graph::run_passes(graph, {});
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].name, "Conv_0");
  EXPECT_EQ(graph.nodes[0].origins,
            (std::vector<std::string>{"Conv_0", "BatchNormalization_0", "Relu_0"}));
}

TEST(RunPasses, HonoursOffSwitches) {
  const char* const model =
      "g (float[2,4] x) => (float[2,8] y) <float[4,8] w> { a = MatMul (x, w) y = Relu (a) }";
  Graph graph = import_text(model);
  const auto results = graph::run_passes(graph, {.disabled = {"fuse_epilogues"}});
  EXPECT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(std::ranges::find(results, "fuse_epilogues", &graph::PassResult::name), results.end());
}

TEST(RunPasses, DumpsTheGraphBehindEachPass) {
  const TempDir directory;
  Graph graph = import_text("g (float[2] x) => (float[2] y) { a = Neg (x) y = Relu (a) }");
  const auto results = graph::run_passes(graph, {.dump_dir = directory.path().string()});
  EXPECT_EQ(
      read_file(directory / (std::to_string(graph::passes().size()) + "_fuse_elementwise.txt"),
                ExitCode::kData),
      graph.to_text());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}),
            std::ssize(results));
}

TEST(Verify, NamesThePassThatBrokeTheGraph) {
  Graph graph = import_text("g (float[2] x) => (float[2] y) { a = Neg (x) y = Relu (a) }");
  graph.values[graph.nodes[0].outputs[0]].desc.shape = {3};
  try {
    graph::verify(graph, "pass spoil");
    FAIL() << "a wrong shape goes unnoticed";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("behind pass spoil: a is float32 3"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace aoe::tests
