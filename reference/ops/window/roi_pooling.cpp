// ROIAlign and MaxRoiPool: each region of interest pooled to one fixed size.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "reference/fail.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/widen.h"
#include "reference/windows/roi.h"

namespace aoe::reference {
namespace {

Shape pooled_shape(const Shape& x, const Shape& rois, std::int64_t numbers_per_roi,
                   std::int64_t height, std::int64_t width) {
  if (x.size() != 4 || rois.size() != 2 || (rois[1] != numbers_per_roi && rois[1] != kUnknownDim)) {
    fail_model("input " + to_string(x) + " with regions " + to_string(rois));
  }
  if (x[2] == 0 || x[3] == 0) fail_model("input " + to_string(x) + " has no pixels");
  if (height < 1 || width < 1) {
    fail_model("pools to " + std::to_string(height) + "x" + std::to_string(width));
  }
  return {rois[0], x[1], height, width};
}

std::vector<TensorDesc> infer_roi_align(const InferContext& context) {
  check_vector(context.shape(2), context.shape(1).at(0), "the image index");
  return {{.dtype = context.dtype(0),
           .shape = pooled_shape(context.shape(0), context.shape(1), 4,
                                 context.attrs.get_int("output_height", 1),
                                 context.attrs.get_int("output_width", 1))}};
}

void compute_roi_align(const OpContext& context) {
  const Shape &x_shape = context.inputs[0].desc.shape, &y_shape = context.outputs[0].desc.shape;
  const RoiAlign align(context.attrs, context.version);
  const auto x = to_doubles(context.inputs[0]), rois = to_doubles(context.inputs[1]);
  const auto batches = to_int64s(context.inputs[2]);
  std::vector<double> y;
  for (std::int64_t r = 0; r < y_shape[0]; ++r) {
    const double* roi = rois.data() + r * 4;
    const RoiBins rows = align.bins(roi[1], roi[3], y_shape[2]),
                  columns = align.bins(roi[0], roi[2], y_shape[3]);
    const std::int64_t n = roi_image(batches.at(static_cast<std::size_t>(r)), x_shape[0]);
    for (std::int64_t c = 0; c < x_shape[1]; ++c) {
      const double* plane = x.data() + (n * x_shape[1] + c) * x_shape[2] * x_shape[3];
      for (std::int64_t i = 0; i < y_shape[2]; ++i) {
        for (std::int64_t j = 0; j < y_shape[3]; ++j) {
          double sum = 0, largest = -std::numeric_limits<double>::infinity();
          for (std::int64_t a = 0; a < rows.samples; ++a) {
            for (std::int64_t b = 0; b < columns.samples; ++b) {
              const RoiCorners corners =
                  roi_corners(x_shape[2], x_shape[3], rows.position(i, a), columns.position(j, b));
              std::array<double, 4> weighted{};
              for (std::size_t k = 0; corners.is_inside && k < 4; ++k)
                weighted[k] = corners.weights[k] * plane[corners.places[k]];
              sum += (weighted[0] + weighted[1]) + (weighted[2] + weighted[3]);
              // ONNX's maximum is that of the weighted corners, not of what they add up to.
              largest = std::max(largest, std::ranges::max(weighted));
            }
          }
          const std::int64_t count = rows.samples * columns.samples;
          y.push_back(count <= 0 ? 0 : align.is_max() ? largest : sum / static_cast<double>(count));
        }
      }
    }
  }
  from_doubles(y, context.outputs[0]);
}

std::vector<TensorDesc> infer_max_roi_pool(const InferContext& context) {
  const auto pooled = context.attrs.get_ints("pooled_shape");
  if (pooled.size() != 2)
    fail_model("pooled_shape has " + std::to_string(pooled.size()) + " values, needs 2");
  return {{.dtype = context.dtype(0),
           .shape = pooled_shape(context.shape(0), context.shape(1), 5, pooled[0], pooled[1])}};
}

void compute_max_roi_pool(const OpContext& context) {
  const Shape &x_shape = context.inputs[0].desc.shape, &y_shape = context.outputs[0].desc.shape;
  const double scale = context.attrs.get_float("spatial_scale", 1);
  const auto x = to_doubles(context.inputs[0]), rois = to_doubles(context.inputs[1]);
  std::vector<double> y;
  for (std::int64_t r = 0; r < y_shape[0]; ++r) {
    const double* roi = rois.data() + r * 5;  // image, x1, y1, x2, y2
    const std::int64_t n = roi_image(roi_pixel(roi[0]), x_shape[0]);
    for (std::int64_t c = 0; c < x_shape[1]; ++c) {
      const double* plane = x.data() + (n * x_shape[1] + c) * x_shape[2] * x_shape[3];
      for (std::int64_t i = 0; i < y_shape[2]; ++i) {
        const auto [top, bottom] =
            roi_range(roi[2] * scale, roi[4] * scale, i, y_shape[2], x_shape[2]);
        for (std::int64_t j = 0; j < y_shape[3]; ++j) {
          const auto [left, right] =
              roi_range(roi[1] * scale, roi[3] * scale, j, y_shape[3], x_shape[3]);
          const bool is_empty = top >= bottom || left >= right;
          double largest = is_empty ? 0 : -std::numeric_limits<double>::infinity();
          for (std::int64_t h = top; h < bottom; ++h) {
            for (std::int64_t w = left; w < right; ++w)
              largest = std::max(largest, plane[h * x_shape[3] + w]);
          }
          y.push_back(largest);
        }
      }
    }
  }
  from_doubles(y, context.outputs[0]);
}

/// Boxes of images that each of them may lie in.
bool boxes_apart(const Slicing& slicing) {
  for (std::size_t i = 1; i < slicing.inputs.size(); ++i)
    if (slicing.axes[i] != 0) return false;
  return slicing.is_whole(0) && slicing.output_axes[0] == 0;
}

}  // namespace

void register_roi_pooling(OpRegistry& registry) {
  registry.add(
      {.type = "ROIAlign",
       .onnx_type = "RoiAlign",
       .versions = {10, RoiAlign::kHalfPixelVersion},
       .signature =
           {"f1:4 f1:2 l:1",
            "mode=avg|max output_height=1.. output_width=1.. sampling_ratio=0.. "
            "spatial_scale=float coordinate_transformation_mode=half_pixel|output_half_pixel"},
       .kind = OpKind::kWindow,
       .infer = infer_roi_align,
       .compute = compute_roi_align,
       .work = &CostContext::pairs,
       .min_inputs = 3,
       .slices = boxes_apart});
  registry.add({.type = "MaxRoiPool",
                .signature = {"f1:4 f1:2", "!pooled_shape=ints:1.. spatial_scale=float"},
                .kind = OpKind::kWindow,
                .infer = infer_max_roi_pool,
                .compute = compute_max_roi_pool,
                .work = &CostContext::pairs,
                .min_inputs = 2,
                .slices = boxes_apart});
}

}  // namespace aoe::reference
