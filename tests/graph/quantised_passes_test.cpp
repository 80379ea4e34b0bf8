// Passes over quantised models.
#include "tests/graph/pass_case.h"

namespace aoe::tests {
namespace {

const PassCase kQuantisedCases[] = {
    {"fuse_dynamic_quantized_product", "fuse_dynamic_quantized",
     "g (float[2,3] x, uint8 zero) => (float[2,2] y) <int8[3,2] w = {1, 2, 3, 4, 5, -6}, int8[2] "
     "wz = {1, 0}, float s = {0.5}> "
     "{ q, qs, qz = DynamicQuantizeLinear (x) p = MatMulInteger (q, w, qz, wz) "
     "f = Cast <to = 1> (p) m = Mul (qs, s) y = Mul (f, m) }"},
    {"fuse_dynamic_quantized_convolution", "fuse_dynamic_quantized",
     "g (uint8[1,1,3,3] x, uint8 zero) => (float[1,1,3,3] y) <uint8[1,1,3,3] w = {1, 2, 3, 4, 5, "
     "6, "
     "7, 8, 9}, uint8 wz = {3}> "
     "{ p = ConvInteger <pads = [1,1,1,1]> (x, w, zero, wz) y = Cast <to = 1> (p) }"},
    {"fuse_dynamic_quantized_sums_stay", "fuse_dynamic_quantized",
     "g (uint8[1,1,3,3] x, uint8 zero) => (float[1,1,1,1] y, int32[1,1,1,1] p) <int8[1,1,3,3] w = "
     "{1, 2, 3, 4, 5, 6, 7, 8, -9}> "
     "{ p = ConvInteger (x, w, zero) y = Cast <to = 1> (p) }"},
    {"move_zero_points_product", "move_zero_points",
     "g (uint8[2,3] x, uint8 zero) => (int32[2,2] y) <int8[3,2] w = {1, 2, 3, 4, 5, -6}, int8[2] "
     "wz = {1, 0}> "
     "{ y = MatMulInteger (x, w, zero, wz) }"},
    {"move_zero_points_convolution", "move_zero_points",
     "g (uint8[1,1,3,3] x, uint8 zero) => (int32[1,1,3,3] y) <int8[1,1,3,3] w = {1, 2, 3, 4, 5, 6, "
     "7, 8, -9}> "
     "{ y = ConvInteger <pads = [1,1,1,1]> (x, w, zero) }"},
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
    {"fuse_quantized_sequence", "fuse_quantized fuse_epilogues widen_sequences",
     R"(g (float[1,2,9] x) => (float[1,3,8] y)
         <float s = {0.02}, uint8 z = {117}, int8[3,2,2] w = {90, -7, 12, 55, -100, 3, 1, 2, 3, 4, 5, 6},
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
    {"drop_saturated_clips_scaled", "fuse_quantized drop_saturated_clips",
     R"(g (float[1,2,5,5] x) => (float[1,3,5,5] y)
         <float s = {0.02}, uint8 z = {117}, int8[3,2,1,1] w = {90, -7, 12, 55, -100, 3},
          float ws = {0.01}, float low = {0}, float high = {6}, float t = {0.023529412}, uint8 u = {0}> {
       q = QuantizeLinear (x, s, z)
       d = DequantizeLinear (q, s, z)
       v = DequantizeLinear (w, ws)
       c = Conv (d, v)
       r = Clip (c, low, high)
       e = QuantizeLinear (r, t, u)
       y = DequantizeLinear (e, t, u)
     })"},
    {"drop_saturated_clips_keeps_upper_bound", "fuse_quantized drop_saturated_clips",
     R"(g (float[1,2,5,5] x) => (float[1,3,5,5] y)
         <float s = {0.02}, uint8 z = {117}, int8[3,2,1,1] w = {90, -7, 12, 55, -100, 3},
          float ws = {0.01}, float low = {0}, float high = {6}, float t = {0.03}, uint8 u = {0}> {
       q = QuantizeLinear (x, s, z)
       d = DequantizeLinear (q, s, z)
       v = DequantizeLinear (w, ws)
       c = Conv (d, v)
       r = Clip (c, low, high)
       e = QuantizeLinear (r, t, u)
       y = DequantizeLinear (e, t, u)
     })"},
    {"drop_saturated_clips_keeps_lower_bound", "fuse_quantized drop_saturated_clips",
     R"(g (float[1,2,5,5] x) => (float[1,3,5,5] y)
         <float s = {0.02}, uint8 z = {117}, int8[3,2,1,1] w = {90, -7, 12, 55, -100, 3},
          float ws = {0.01}, float low = {0}, float high = {6}, float t = {0.02}, uint8 u = {3}> {
       q = QuantizeLinear (x, s, z)
       d = DequantizeLinear (q, s, z)
       v = DequantizeLinear (w, ws)
       c = Conv (d, v)
       r = Clip (c, low, high)
       e = QuantizeLinear (r, t, u)
       y = DequantizeLinear (e, t, u)
     })"},
    {"drop_saturated_clips", "drop_saturated_clips",
     R"(g (float[1,2,5,5] x, float[1,2,5,5] y) => (uint8[1,2,5,5] a, uint8[1,2,5,5] b, int8[1,2,5,5] c, uint8[1,2,5,5] d, float[1,2,5,5] r5)
         <float s = {0.02}, uint8 z = {0}, uint8 middle = {128}, int8 least = {-128}, float low = {-2.56}, float high = {2.54}> {
       sum = Add (x, y)
       r1 = Relu (sum)
       a = QuantizeLinear (r1, s, z)
       r2 = Relu (sum)
       b = QuantizeLinear (r2, s, middle)
       r3 = Clip (sum, low, high)
       r4 = Relu (r3)
       c = QuantizeLinear (r4, s, least)
       r5 = Relu (sum)
       d = QuantizeLinear (r5, s, z)
     })"},
    {"raise_quantize", "raise_quantize",
     R"(g (uint8[1,2,6,6] a, uint8[1,3,6,6] b, float[1,1,6,6] c) => (uint8[1,6,3,3] p, uint8[1,6,6,6] q, float[1,5,3,3] f)
         <float s = {0.02}, float t = {0.03}, uint8 z = {7}, uint8 u = {100}> {
       a1 = DequantizeLinear (a, s, z)
       b1 = DequantizeLinear (b, t, u)
       ab = Concat <axis = 1> (a1, b1)
       m = MaxPool <kernel_shape = [2,2], strides = [2,2]> (ab)
       q1 = QuantizeLinear (m, t, u)
       abc = Concat <axis = 1> (a1, b1, c)
       q = QuantizeLinear (abc, s, z)
       q2 = DequantizeLinear (q, s, z)
       n = MaxPool <kernel_shape = [2,2], strides = [2,2]> (q2)
       p = QuantizeLinear (n, t, u)
       f = DequantizeLinear (q1, t, u)
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
    {"expand_qlinear_computed_scales", "expand_qlinear",
     R"(g (float[1,2,3,3] x, float s, float[2] ws, float t) => (float[1,2,3,3] y)
         <uint8 z = {117}, uint8[2,2,1,1] w = {90, 10, 200, 30}, uint8 wz = {100}, int32[2] b = {500, 20}> {
       q = QuantizeLinear (x, s, z)
       c = QLinearConv (q, s, z, w, ws, wz, t, z, b)
       y = DequantizeLinear (c, t, z)
     })"},
    {"expand_qlinear_batches", "expand_qlinear",
     R"(g (float[2,3,2] x, int8[2,2,3] w) => (float[2,3,3] y)
         <float s = {0.02}, int8 z = {-7}, float ws = {0.01}, float t = {0.031}> {
       q = QuantizeLinear (x, s, z)
       c = QLinearMatMul (q, s, z, w, ws, z, t, z)
       y = DequantizeLinear (c, t, z)
     })"},
    {"expand_qlinear_not_scales_of_rows", "expand_qlinear",
     R"(g (int8[3,2] q) => (float[3,3] y)
         <float[3] s = {0.02, 0.03, 0.04}, int8[3] z = {-7, 0, 1}, int8[2,3] w = {90, -7, 12, 55, -100, 3},
          float ws = {0.01}, int8 wz = {2}, float t = {0.031}> {
       c = QLinearMatMul (q, s, z, w, ws, wz, t, wz)
       y = DequantizeLinear (c, t, wz)
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
    {"pack_weights_bias", "pack_weights",
     R"(g (float[3,16] x, float[2] r) => (float[3,2] y, float[2,3,2] z, float[3,2] u)
         <int8[16,2] w = {-8, -1, 6, -3, 4, -5, 2, -7, 0, 7, -2, 5, -4, 3, -6, 1, -8, -1, 6, -3, 4, -5, 2, -7, 0, 7, -2, 5, -4, 3, -6, 1},
          float[1,2] s = {0.5, 0.25}, float[1,2] b = {0.5, -3}, float[2,1,2] c = {1, 2, 3, 4}> {
       d = DequantizeLinear <axis = 0, block_size = 16> (w, s)
       p = MatMul (x, d)
       y = Add (b, p)
       q = MatMul (x, d)
       z = Add (q, c)
       v = MatMul (x, d)
       u = Add (v, r)
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
    {"sink_dequantize_through_gather", "sink_dequantize", R"(g (float[4,3] x) => (float[2,3] y)
         <float s = {0.02}, uint8 z = {117}, int64[2] rows = {3, 1}> {
       q = QuantizeLinear (x, s, z)
       d = DequantizeLinear (q, s, z)
       m = Gather (d, rows)
       e = QuantizeLinear (m, s, z)
       y = DequantizeLinear (e, s, z)
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
    {"group_byte_chains", "fuse_quantized fold_dequantized group_byte_chains fuse_epilogues",
     R"(g (uint8[3,2] q) => (uint8[3,3] y)
         <float s = {0.02}, uint8 z = {117}, int8[2,3] w = {90, -7, 12, 55, -100, 3}, float ws = {0.01},
          float t = {0.03}, float root = {1.41421}, float one = {1}, float half = {0.5}> {
       d = DequantizeLinear (q, s, z)
       v = DequantizeLinear (w, ws)
       c = MatMul (d, v)
       e = QuantizeLinear (c, t, z)
       x = DequantizeLinear (e, t, z)
       a = Div (x, root)
       b = Erf (a)
       f = Add (b, one)
       g = Mul (x, f)
       h = Mul (g, half)
       y = QuantizeLinear (h, s, z)
     })"},
    {"group_byte_chains_not_of_two", "group_byte_chains fuse_elementwise",
     R"(g (uint8[2,3] q, uint8[2,3] r) => (uint8[2,3] y, uint8[2,3] u, float[2,3] seen, uint8[2,3] v)
         <float s = {0.02}, uint8 z = {117}, float[3] w = {1, 2, 3}> {
       a = DequantizeLinear (q, s, z)
       b = DequantizeLinear (r, s, z)
       c = Sigmoid (a)
       d = Mul (c, b)
       y = QuantizeLinear (d, s, z)
       e = Mul (c, w)
       u = QuantizeLinear (e, s, z)
       f = DequantizeLinear (y, s, z)
       seen = Tanh (f)
       v = QuantizeLinear (seen, s, z)
     })"},
    {"group_byte_chains_not_of_a_few_sums", "group_byte_chains",
     R"(g (uint8[2,3] q) => (uint8[2,3] y) <float s = {0.02}, uint8 z = {117}> {
       d = DequantizeLinear (q, s, z)
       r = HardSwish (d)
       y = QuantizeLinear (r, s, z)
     })",
     14},
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

INSTANTIATE_TEST_SUITE_P(Quantised, EachPass, testing::ValuesIn(kQuantisedCases), name_of_case);

}  // namespace
}  // namespace aoe::tests
