// ROIAlign and MaxRoiPool: each region of interest pooled to one fixed size.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "reference/axes.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/widen.h"

namespace aoe::reference {
namespace {

constexpr int kHalfPixelVersion = 16;  ///< ROIAlign has coordinate_transformation_mode since

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

/// One plane of the input.
struct Plane {
  const double* data = nullptr;
  std::int64_t height = 0, width = 0;
  double at(std::int64_t y, std::int64_t x) const { return data[y * width + x]; }
};

/// The four neighbours of a place, weighted for bilinear interpolation; zero more than one element outside, the border
/// within that.
std::array<double, 4> weighted_corners(const Plane& plane, double y, double x) {
  if (y < -1 || y > static_cast<double>(plane.height) || x < -1 ||
      x > static_cast<double>(plane.width)) {
    return {};
  }
  const auto bracket = [](double v, std::int64_t size, std::int64_t& low, std::int64_t& high) {
    v = std::max(v, 0.0);
    low = std::min(static_cast<std::int64_t>(v), size - 1);
    high = std::min(low + 1, size - 1);
    return low == high ? 0.0 : v - static_cast<double>(low);
  };
  std::int64_t y0 = 0, y1 = 0, x0 = 0, x1 = 0;
  const double ty = bracket(y, plane.height, y0, y1), tx = bracket(x, plane.width, x0, x1);
  return {(1 - ty) * (1 - tx) * plane.at(y0, x0), (1 - ty) * tx * plane.at(y0, x1),
          ty * (1 - tx) * plane.at(y1, x0), ty * tx * plane.at(y1, x1)};
}

std::int64_t batch_index(std::int64_t index, std::int64_t batches) {
  if (index < 0 || index >= batches) {
    fail_model("a region lies in image " + std::to_string(index) + " of " +
               std::to_string(batches));
  }
  return index;
}

std::vector<TensorDesc> infer_roi_align(const InferContext& context) {
  check_vector(context.shape(2), context.shape(1).at(0), "the image index");
  return {{.dtype = context.dtype(0),
           .shape = pooled_shape(context.shape(0), context.shape(1), 4,
                                 context.attrs.get_int("output_height", 1),
                                 context.attrs.get_int("output_width", 1))}};
}

constexpr double kMostSamples = 65536;  ///< of one bin along one axis: images are smaller

/// One axis of a region: where its bins begin, how large they are and how many samples each takes.
struct Bins {
  double begin = 0, size = 0;
  std::int64_t samples = 1;
  double position(std::int64_t bin, std::int64_t sample) const {
    return begin + size * (static_cast<double>(bin) +
                           (static_cast<double>(sample) + 0.5) / static_cast<double>(samples));
  }
};

void compute_roi_align(const OpContext& context) {
  const Attrs& attrs = context.attrs;
  const Shape &x_shape = context.inputs[0].desc.shape, &y_shape = context.outputs[0].desc.shape;
  const bool is_max = attrs.get_string("mode", "avg") == "max";
  const double scale = attrs.get_float("spatial_scale", 1);
  const std::int64_t ratio = attrs.get_int("sampling_ratio", 0);
  const bool is_half_pixel =
      context.version >= kHalfPixelVersion &&
      attrs.get_string("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const auto x = to_doubles(context.inputs[0]), rois = to_doubles(context.inputs[1]);
  const auto batches = to_int64s(context.inputs[2]);
  const auto make_bins = [&](double from, double to, std::int64_t bins) {
    const double offset = is_half_pixel ? 0.5 : 0.0;
    double length = (to - from) * scale;
    if (!is_half_pixel) length = std::max(length, 1.0);
    const double size = length / static_cast<double>(bins);
    const double samples = ratio > 0 ? static_cast<double>(ratio) : std::ceil(size);
    if (!(samples <= kMostSamples))
      fail_model("a region takes " + std::to_string(samples) + " samples for each bin");
    return Bins{from * scale - offset, size, static_cast<std::int64_t>(std::max(samples, -1.0))};
  };
  std::vector<double> y;
  for (std::int64_t r = 0; r < y_shape[0]; ++r) {
    const double* roi = rois.data() + r * 4;
    const Bins rows = make_bins(roi[1], roi[3], y_shape[2]),
               columns = make_bins(roi[0], roi[2], y_shape[3]);
    const std::int64_t n = batch_index(batches.at(static_cast<std::size_t>(r)), x_shape[0]);
    for (std::int64_t c = 0; c < x_shape[1]; ++c) {
      const Plane plane{x.data() + (n * x_shape[1] + c) * x_shape[2] * x_shape[3], x_shape[2],
                        x_shape[3]};
      for (std::int64_t i = 0; i < y_shape[2]; ++i) {
        for (std::int64_t j = 0; j < y_shape[3]; ++j) {
          double sum = 0, largest = -std::numeric_limits<double>::infinity();
          for (std::int64_t a = 0; a < rows.samples; ++a) {
            for (std::int64_t b = 0; b < columns.samples; ++b) {
              const auto corners =
                  weighted_corners(plane, rows.position(i, a), columns.position(j, b));
              sum += (corners[0] + corners[1]) + (corners[2] + corners[3]);
              // ONNX's maximum is that of the weighted corners, not of what they add up to.
              largest = std::max(largest, std::ranges::max(corners));
            }
          }
          const std::int64_t count = rows.samples * columns.samples;
          y.push_back(count <= 0 ? 0 : (is_max ? largest : sum / static_cast<double>(count)));
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

/// The elements [begin, end) of an axis that bin `bin` of a region from `first` to `last` covers.
std::pair<std::int64_t, std::int64_t> bin_range(std::int64_t first, std::int64_t last,
                                                std::int64_t bin, std::int64_t bins,
                                                std::int64_t extent) {
  const double size =
      static_cast<double>(std::max<std::int64_t>(last - first + 1, 1)) / static_cast<double>(bins);
  const auto begin = first + static_cast<std::int64_t>(std::floor(static_cast<double>(bin) * size));
  const auto end =
      first + static_cast<std::int64_t>(std::ceil(static_cast<double>(bin + 1) * size));
  return {std::clamp<std::int64_t>(begin, 0, extent), std::clamp<std::int64_t>(end, 0, extent)};
}

void compute_max_roi_pool(const OpContext& context) {
  const Shape &x_shape = context.inputs[0].desc.shape, &y_shape = context.outputs[0].desc.shape;
  const double scale = context.attrs.get_float("spatial_scale", 1);
  const auto x = to_doubles(context.inputs[0]), rois = to_doubles(context.inputs[1]);
  const auto whole = [](double v) {  // what no image reaches is as good as its border
    constexpr double kFar = 1e9;
    return std::isnan(v) ? std::int64_t{0}
                         : static_cast<std::int64_t>(std::clamp(std::round(v), -kFar, kFar));
  };
  const auto corner = [&](double v) { return whole(v * scale); };
  std::vector<double> y;
  for (std::int64_t r = 0; r < y_shape[0]; ++r) {
    const double* roi = rois.data() + r * 5;  // image, x1, y1, x2, y2
    const std::int64_t n = batch_index(whole(roi[0]), x_shape[0]);
    for (std::int64_t c = 0; c < x_shape[1]; ++c) {
      const Plane plane{x.data() + (n * x_shape[1] + c) * x_shape[2] * x_shape[3], x_shape[2],
                        x_shape[3]};
      for (std::int64_t i = 0; i < y_shape[2]; ++i) {
        const auto [top, bottom] =
            bin_range(corner(roi[2]), corner(roi[4]), i, y_shape[2], plane.height);
        for (std::int64_t j = 0; j < y_shape[3]; ++j) {
          const auto [left, right] =
              bin_range(corner(roi[1]), corner(roi[3]), j, y_shape[3], plane.width);
          const bool is_empty = top >= bottom || left >= right;
          double largest = is_empty ? 0 : -std::numeric_limits<double>::infinity();
          for (std::int64_t h = top; h < bottom; ++h) {
            for (std::int64_t w = left; w < right; ++w) largest = std::max(largest, plane.at(h, w));
          }
          y.push_back(largest);
        }
      }
    }
  }
  from_doubles(y, context.outputs[0]);
}

}  // namespace

void register_roi_pooling(OpRegistry& registry) {
  registry.add({.type = "ROIAlign",
                .onnx_type = "RoiAlign",
                .versions = {10, kHalfPixelVersion},
                .kind = OpKind::kWindow,
                .infer = infer_roi_align,
                .compute = compute_roi_align,
                .work = &CostContext::pairs,
                .min_inputs = 3});
  registry.add({.type = "MaxRoiPool",
                .onnx_type = "MaxRoiPool",
                .kind = OpKind::kWindow,
                .infer = infer_max_roi_pool,
                .compute = compute_max_roi_pool,
                .work = &CostContext::pairs,
                .min_inputs = 2});
}

}  // namespace aoe::reference
