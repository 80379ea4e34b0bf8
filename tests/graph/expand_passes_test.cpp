// Passes that take an operator apart into others, or its type.
#include "tests/graph/pass_case.h"

namespace aoe::tests {
namespace {

const PassCase kExpandCases[] = {
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
    {"expand_composites_batch_statistics", "expand_composites",
     R"(g (float[2,3,2] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3,2] y, float[3] n, float[3] w) {
       y, n, w = BatchNormalization <training_mode = 1, momentum = 0.75> (x, s, b, m, v)
     })",
     15},
    {"expand_composites_computed_statistics", "expand_composites",
     R"(g (float[2,3,2] x, float[3] m) => (float[2,3,2] y) <float[3] s, float[3] b, float[3] v = {1, 2, 3}> {
       y = BatchNormalization (x, s, b, m, v)
     })",
     15},
    {"expand_composites_batch_norm_of_double", "expand_composites",
     R"(g (double[2,3,2] x) => (double[2,3,2] y) <double[3] s, double[3] b, double[3] m, double[3] v = {1, 2, 3}> {
       y = BatchNormalization (x, s, b, m, v)
     })",
     15},
    {"expand_composites_leaves_constant_batch_norm", "expand_composites",
     R"(g (float[2,3,2] x) => (float[2,3,2] y) <float[3] s, float[3] b, float[3] m, float[3] v = {1, 2, 3}> {
       y = BatchNormalization (x, s, b, m, v)
     })",
     15},
    {"expand_places_trilu", "expand_places",
     "g (bool[2,3,4] x, int64 k) => (bool[2,3,4] y) { y = Trilu <upper = 0> (x, k) }"},
    {"expand_places_one_hot", "expand_places",
     R"(g (int32[2,3] x) => (double[2,5,3] y) <int64 depth = {5}, double[2] values = {2, 3}> {
       y = OneHot <axis = 1> (x, depth, values)
     })"},
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
    {"expand_composites_vector_product", "expand_composites",
     "g (float[3] x, float[2,3,4] w) => (float[2,4] y) { y = MatMul (x, w) }"},
    {"expand_composites_product_with_vector", "expand_composites",
     "g (double[2,3] x, double[3] w) => (double[2] y) { y = MatMul (x, w) }"},
    {"expand_composites_keeps_double", "expand_composites",
     "g (double[2,3] x) => (double[2,3] y) { y = Hardmax <axis = 1> (x) }"},
    {"expand_composites_lp_norm_of_double", "expand_composites",
     "g (double[2,3] x) => (double[2,3] y) { y = LpNormalization <axis = 1> (x) }"},
    {"expand_composites_log_sum_exp_of_double", "expand_composites",
     "g (double[2,3] x) => (double[2] y) { y = ReduceLogSumExp <axes = [1], keepdims = 0> (x) }"},
    {"expand_composites_norms_of_open_axes", "expand_composites",
     R"(g (float[4] c, float[4,4] x) => (y, z, m) <int64[1] flat = {-1}> {
       n = NonZero (c)
       i = Reshape (n, flat)
       columns = Gather <axis = 1> (x, i)
       rows = Gather <axis = 0> (x, i)
       y = LpNormalization <axis = 1> (columns)
       z = LpNormalization <axis = 1> (rows)
       m = MeanVarianceNormalization <axes = [0]> (rows)
     })"},
    {"multiply_places", "multiply_places",
     R"(g (float[3,64,2,2] x) => (float[3,1024,1,1] y) <float[1024,64,2,2] w, float[1024] b> {
       c = Conv (x, w, b)
       r = Relu (c)
       two = Constant <value = float {2.0}> ()
       y = Mul (r, two)
     })"},
    {"multiply_places_refuses", "multiply_places",
     R"(g (float[3,512,1,1] x, float[3,256,1,1] few, float[1,512,1,1] one, float[3,512,2,2] four, float[1024,512,1,1] v) =>
       (float[3,512,1,1] s, float[1,1024,1,1] o, float[3,1024,2,2] f, float[3,1024,1,1] c, float[3,1024,1,1] g)
       <float[512,256,1,1] u, float[1024,512,1,1] w, float[1024,256,1,1] h> {
       s = Conv (few, u)
       o = Conv (one, w)
       f = Conv (four, w)
       c = Conv (x, v)
       g = Conv <group = 2> (x, h)
     })"},
    {"convolve_transposed", "convolve_transposed",
     R"(g (float[2,3,8,8] x) => (float[2,2,16,16] y) <float[3,2,4,4] w, float[2] b> {
       c = ConvTranspose <strides = [2,2], pads = [1,1,1,1]> (x, w, b)
       r = Relu (c)
       two = Constant <value = float {2.0}> ()
       y = Mul (r, two)
     })"},
    {"convolve_transposed_pixels", "convolve_transposed",
     R"(g (float[1,3,2,5] x) => (float[1,4,6,15] y, float[1,4,6,15] z) <float[3,4,3,3] w> {
       y = ConvTranspose <strides = [3,3]> (x, w)
       z = Relu (y)
     })"},
    {"convolve_transposed_asymmetric", "convolve_transposed",
     R"(g (float[1,2,12,12] x) => (float[1,3,24,24] y) <float[2,3,5,5] w> {
       c = ConvTranspose <strides = [2,2], pads = [2,2,2,2], output_padding = [1,1]> (x, w)
       y = Tanh (c)
     })"},
    {"convolve_transposed_refuses", "convolve_transposed",
     R"(g (float[1,4,12,12] x, float[4,3,2,2] v) => (float[1,2,24,24] g, float[1,3,25,25] o, float[1,3,24,24] c, float[1,3,24,24] s)
       <float[4,1,2,2] w, float[4,3,3,3] u> {
       g = ConvTranspose <strides = [2,2], group = 2> (x, w)
       o = ConvTranspose <strides = [2,2]> (x, u)
       c = ConvTranspose <strides = [2,2]> (x, v)
       s = ConvTranspose <strides = [2,2], pads = [1,1,1,1], output_padding = [1,1]> (x, u)
     })"},
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
    {"expand_einsum", "expand_einsum",
     R"(g (float[2,4,3,5] q, float[2,6,3,5] k, float[5,7] w) => (float[2,3,4,6] y, float[2,4,3,7] z, float[2,4,6] s) {
       y = Einsum <equation = "bihd,bjhd->bhij"> (q, k)
       z = Einsum <equation = "bihd, do -> biho"> (q, w)
       s = Einsum <equation = "bihd,bjhd->bij"> (q, k)
     })"},
    {"expand_einsum_ellipsis", "expand_einsum",
     R"(g (int32[2,4,3,5] q, int32[5,6] k, double[2,4,3] a, double[2,4,3] b) => (int32[2,4,3,6] y, double[2,4,3,3] z) {
       y = Einsum <equation = "...ij,jk->...ik"> (q, k)
       z = Einsum <equation = "...i,...j->...ij"> (a, b)
     })"},
    {"expand_einsum_of_one", "expand_einsum",
     R"(g (float[2,3,3] a, float[4,4] b) => (float[3,2,3] p, float[3,2] d, float[2] s, float t) {
       p = Einsum <equation = "aij->jai"> (a)
       d = Einsum <equation = "aii->ia"> (a)
       s = Einsum <equation = "a...->a"> (a)
       t = Einsum <equation = "ii"> (b)
     })"},
    {"expand_einsum_of_three", "expand_einsum",
     R"(g (float[50,40] a, float[40,30] b, float[30,2] c, float[50] d) => (float[50,2] y, float[50,2] z) {
       y = Einsum <equation = "ij,jk,kl->il"> (a, b, c)
       z = Einsum <equation = "ij,i,jk,kl->il"> (a, d, b, c)
     })"},
    {"expand_einsum_stretched", "expand_einsum",
     R"(g (float[1,4,3] q, float[2,3,5] k, float[2,3] a, float[3,3] b) => (float[2,4,5] y, float[2] s, float[2,3] z) {
       y = Einsum <equation = "...ij,...jk->...ik"> (q, k)
       s = Einsum <equation = "ij,kk->i"> (a, b)
       z = Einsum <equation = "ij,kj->ij"> (a, b)
     })"},
};

INSTANTIATE_TEST_SUITE_P(Expand, EachPass, testing::ValuesIn(kExpandCases), name_of_case);

}  // namespace
}  // namespace aoe::tests
