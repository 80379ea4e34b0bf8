// Passes that leave less: constants folded, nodes that do nothing, parameters moved into weights and windows.
#include "tests/graph/pass_case.h"

namespace aoe::tests {
namespace {

const PassCase kSimplifyCases[] = {
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
    {"settle_reshapes", "settle_reshapes",
     R"(g (float[6,4] x, bool[6] chosen) => (y) <int64[1] first = {0}, int64[2] two = {2, 2}> {
       rows = Compress <axis = 0> (x, chosen)
       s = Shape (rows)
       n = Gather <axis = 0> (s, first)
       asked = Concat <axis = 0> (n, two)
       y = Reshape (rows, asked)
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
    {"remove_identities_empty_operands", "remove_identities",
     R"(g (float[2,3] x, float[2,0] n, float[3,0] m, float[0,0] k) => (float[2,3] y, float[2,6] z, float[5,0] w) {
       w = Concat <axis = 0> (m, k, n)
       a = Neg (x)
       b = Concat <axis = 1> (n, a)
       y = Neg (b)
       z = Concat <axis = 1> (x, n, a)
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
    {"remove_identities_reshapes_of_nothing", "remove_identities",
     R"(g (float[1,2,0] x) => (float[1,0] y) {
       a = Flatten <axis = 0> (x)
       shape = Constant <value = int64[2] {1, 0}> ()
       b = Reshape (a, shape)
       y = Neg (b)
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
    {"use_global_pooling", "use_global_pooling",
     R"(g (float[1,2,4,4] x) => (float[1,2] a, float[1,2,1,1] b, float[1,2,1,1] c, float[1,1,1,2] d) {
       a = ReduceMean <axes = [2,3], keepdims = 0> (x)
       b = ReduceMean <axes = [-1,-2]> (x)
       c = AveragePool <kernel_shape = [5,5], pads = [0,0,1,1]> (x)
       t = Transpose <perm = [0,2,3,1]> (x)
       d = ReduceMean <axes = [1,2]> (t)
     })"},
    {"use_global_pooling_empty", "use_global_pooling",
     R"(g (float[1,2,1,0] x) => (float[1,2,1,1] y) {
       y = AveragePool <kernel_shape = [1,1], pads = [0,0,0,1]> (x)
     })"},
    {"reduce_windows", "reduce_windows",
     R"(g (float[1,2,4,20] x) => (float[1,2,4,1] a, float[1,2,4,2] b, float[1,2,1,1] c, float[1,2,4,4] d,
                                 float[1,2,2,1] e, float[1,2,4,2] f) {
       a = MaxPool <kernel_shape = [1,20]> (x)
       b = AveragePool <kernel_shape = [1,10], strides = [1,10]> (x)
       c = MaxPool <kernel_shape = [4,20]> (x)
       d = MaxPool <kernel_shape = [1,5], strides = [1,5]> (x)
       e = MaxPool <kernel_shape = [2,20], strides = [2,1]> (x)
       f = MaxPool <kernel_shape = [1,11], strides = [1,9]> (x)
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
};

INSTANTIATE_TEST_SUITE_P(Simplify, EachPass, testing::ValuesIn(kSimplifyCases), name_of_case);

}  // namespace
}  // namespace aoe::tests
