// MaxRoiPool of float32: the elements that bins cover are found once for all channels.
#include <algorithm>
#include <limits>

#include "native/kernel.h"
#include "reference/windows/roi.h"

namespace aoe::native {
namespace {

struct Range {
  std::int64_t begin, end;
};

float largest_of(const float* plane, std::int64_t width, const Range& rows, const Range& columns) {
  if (rows.begin >= rows.end || columns.begin >= columns.end) return 0;
  float largest = -std::numeric_limits<float>::infinity();
  for (std::int64_t h = rows.begin; h < rows.end; ++h)
    for (std::int64_t w = columns.begin; w < columns.end; ++w)
      largest = std::max(largest, plane[h * width + w]);
  return largest;
}

class MaxRoiPool {
 public:
  explicit MaxRoiPool(const Run& run)
      : x_(run.inputs[0]),
        rois_(run.inputs[1].as<float>()),
        y_(run.output(0)),
        scale_(run.attrs.get_float("spatial_scale", 1)) {}

  void run(Threads& threads) const {
    if (y_.data == nullptr) return;
    const Shape& out = y_.desc.shape;
    for (std::int64_t r = 0; r < out[0]; ++r) image_of(r);
    const double cost = static_cast<double>(out[1] * out[2] * out[3]) * 5;
    threads.share(out[0], cost, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) run_region(r);
    });
  }

 private:
  std::int64_t image_of(std::int64_t region) const {
    return reference::roi_image(reference::roi_pixel(rois_[region * 5]), x_.desc.shape[0]);
  }

  std::vector<Range> ranges(double from, double to, std::int64_t bins, std::int64_t extent) const {
    std::vector<Range> all;
    for (std::int64_t bin = 0; bin < bins; ++bin) {
      const auto [begin, end] = reference::roi_range(from * scale_, to * scale_, bin, bins, extent);
      all.push_back({begin, end});
    }
    return all;
  }

  void run_region(std::int64_t region) const {
    const Shape &in = x_.desc.shape, &out = y_.desc.shape;
    const float* roi = rois_ + region * 5;  // image, x1, y1, x2, y2
    const std::vector<Range> rows = ranges(roi[2], roi[4], out[2], in[2]),
                             columns = ranges(roi[1], roi[3], out[3], in[3]);
    const float* plane = x_.as<float>() + image_of(region) * in[1] * in[2] * in[3];
    float* y = y_.as<float>() + region * out[1] * out[2] * out[3];
    for (std::int64_t c = 0; c < in[1]; ++c, plane += in[2] * in[3])
      for (const Range& row : rows)
        for (const Range& column : columns) *y++ = largest_of(plane, in[3], row, column);
  }

  const Tensor x_;
  const float* rois_;
  const Tensor y_;
  const double scale_;
};

}  // namespace

void register_max_roi_pool(KernelRegistry& registry) {
  registry.add({.type = "MaxRoiPool", .supports = takes_floats(2), .run = [](const Run& run) {
                  MaxRoiPool(run).run(run.threads);
                }});
}

}  // namespace aoe::native
