// Passes that make one node of several.
#include "tests/graph/pass_case.h"

namespace aoe::tests {
namespace {

const PassCase kFusionCases[] = {
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
};

INSTANTIATE_TEST_SUITE_P(Fusion, EachPass, testing::ValuesIn(kFusionCases), name_of_case);

}  // namespace
}  // namespace aoe::tests
