// AIPP: preparing images, as ordinary operators between an input and the model (--insert_op_conf). The input becomes uint8
// pixels; the operators are fused and compiled like the model's own.
//
// In this order, each step only where it is asked for: channels swapped, cropped, resized (bilinear, to whole pixel
// values), colours converted, (pixel - mean - min) * var_reci, padded.
//
//   colours   out[i] = (sum of matrix_r<i>c<j> * (in[j] - input_bias_<j>)) >> 8, cut off to 0..255, for YUV420SP_U8;
//             from RGB: out[i] = (sum of matrix_r<i>c<j> * in[j] >> 8) + output_bias_<i>
//   pixels    RGB888_U8 [N, H, W, 3]; XRGB8888_U8 [N, H, W, 4]; YUV400_U8 [N, H, W, 1];
//             YUV420SP_U8 [N, H * 3 / 2, W, 1]: rows of Y, then rows of U and V in turn for every 2 x 2 pixels
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

enum class PixelFormat : int {
  kUndefined = 0,
  kYuv420sp = 1,
  kXrgb8888 = 2,
  kRgb888 = 3,
  kYuv400 = 4,
};

struct PixelSize {
  std::int64_t width = 0, height = 0;
  bool operator==(const PixelSize&) const = default;
};

/// One `aipp_op` with the documented defaults. Sizes of 0 follow from the model's input.
struct Aipp {
  std::int64_t input = 0;  ///< related_input_rank
  std::string input_name;  ///< related_input_name; wins when it is not empty
  PixelFormat format = PixelFormat::kUndefined;
  PixelSize source;
  bool crops = false;
  PixelSize crop_start, crop_size;
  bool resizes = false;
  PixelSize resized;
  bool pads = false;
  std::int64_t left = 0, right = 0, top = 0, bottom = 0;
  double padding_value = 0;
  bool swaps_rbuv = false;  ///< R and B, or U and V
  bool swaps_ax = false;    ///< XRGB -> RGBX
  bool converts = false;    ///< csc_switch
  std::array<std::array<double, 3>, 3> matrix = {{{298, 516, 0}, {298, -100, -208}, {298, 0, 409}}};
  std::array<double, 3> input_bias = {16, 128, 128}, output_bias = {16, 128, 128};
  std::array<double, 4> mean = {}, min = {}, var_reci = {1, 1, 1, 1};
};

/// Reads `aipp_op { key : value ... }`, several of them, with # comments. Error(kUsage) with `where` and the line on unknown
/// keys, bad values, and on what only other modes than static have. Warns of keys that mean nothing here.
std::vector<Aipp> parse_aipp(const std::string& text, const std::string& where);

/// Error(kUsage) when the configuration does not make what the model's input takes.
void insert_aipp(Graph& graph, const std::vector<Aipp>& ops);

}  // namespace aoe::graph
