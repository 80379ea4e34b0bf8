// ROIAlign of float32 and float64: the samples of a region's bins are found once for all channels.
#include <algorithm>
#include <limits>
#include <optional>

#include "native/by_type.h"
#include "native/kernel.h"
#include "native/sampling/taps.h"
#include "reference/tensors/widen.h"
#include "reference/windows/roi.h"

namespace aoe::native {
namespace {

using reference::RoiBins;

constexpr std::int64_t kSamples = 16;  ///< whose taps are found before channels are walked

template <typename T>
class RoiAlign {
  using Taps = TapBlock<T>;
  using Beside = PlanesBeside<T>;

 public:
  explicit RoiAlign(const Run& run)
      : align_(run.attrs, run.version),
        shape_(run.shape(0)),
        x_(run.inputs[0].as<T>()),
        rois_(run.inputs[1].as<T>()),
        images_(reference::to_int64s(run.inputs[2])),
        y_(run.output(0)) {
    check_plane(shape_[2] * shape_[3]);
  }

  void run(Threads& threads) const {
    if (y_.data == nullptr) return;
    const Shape& out = y_.desc.shape;
    for (std::int64_t r = 0; r < out[0]; ++r)
      reference::roi_image(images_.at(static_cast<std::size_t>(r)), shape_[0]);
    const std::int64_t plane = shape_[2] * shape_[3], reads = out[0] * out[2] * out[3] * 4;
    std::optional<Beside> beside;
    if (!align_.is_max() && Beside::pays(shape_[1], shape_[0] * plane, reads))
      beside.emplace(x_, shape_[0], shape_[1], plane, threads);
    const double cost = static_cast<double>(out[1] * out[2] * out[3]) * 4;
    threads.share(out[0], cost, [&](std::int64_t begin, std::int64_t end) {
      Taps taps(4 * kSamples);
      for (std::int64_t r = begin; r < end; ++r) run_region(r, beside, taps);
    });
  }

 private:
  struct Region {
    std::int64_t number;
    RoiBins rows, columns;
    std::int64_t samples() const {
      return std::max<std::int64_t>(rows.samples, 0) * std::max<std::int64_t>(columns.samples, 0);
    }
  };

  void run_region(std::int64_t r, const std::optional<Beside>& beside, Taps& taps) const {
    const Shape& out = y_.desc.shape;
    const T* roi = rois_ + r * 4;
    const Region region{r, align_.bins(roi[1], roi[3], out[2]),
                        align_.bins(roi[0], roi[2], out[3])};
    const bool is_max = align_.is_max() && region.samples() > 0;
    T* y = y_.as<T>() + r * out[1] * out[2] * out[3];
    std::fill_n(y, out[1] * out[2] * out[3], is_max ? -std::numeric_limits<T>::infinity() : T{0});
    for (std::int64_t bin = 0; bin < out[2] * out[3]; bin += Taps::kPoints)
      for (std::int64_t sample = 0; sample < region.samples(); sample += kSamples)
        add_samples(region, bin, sample, beside, taps);
    if (is_max || region.samples() == 0) return;
    const auto count = static_cast<T>(region.samples());
    for (std::int64_t i = 0; i < out[1] * out[2] * out[3]; ++i) y[i] /= count;
  }

  /// Some samples of some bins, of all channels.
  void add_samples(const Region& region, std::int64_t first_bin, std::int64_t first_sample,
                   const std::optional<Beside>& beside, Taps& taps) const {
    const Shape& out = y_.desc.shape;
    const std::int64_t bins = std::min(Taps::kPoints, out[2] * out[3] - first_bin),
                       samples = std::min(kSamples, region.samples() - first_sample);
    taps.clear();
    taps.use(static_cast<std::size_t>(4 * samples));
    for (std::int64_t s = 0; s < samples; ++s)
      for (std::int64_t b = 0; b < bins; ++b)
        set_taps(region, first_bin + b, first_sample + s, b, s, taps);
    const std::int64_t image = images_[static_cast<std::size_t>(region.number)];
    const std::int64_t plane_bins = out[2] * out[3];
    T* y = y_.as<T>() + region.number * out[1] * plane_bins + first_bin;
    if (beside) {
      for (std::int64_t c = 0; c < shape_[1]; c += Taps::kBeside) {
        typename Taps::BesideSums sums;
        taps.sum(beside->planes(image, c / Taps::kBeside), sums);
        for (std::int64_t k = 0; k < std::min(Taps::kBeside, shape_[1] - c); ++k)
          for (std::int64_t b = 0; b < bins; ++b)
            y[(c + k) * plane_bins + b] +=
                sums[static_cast<std::size_t>(k)][static_cast<std::size_t>(b)];
      }
      return;
    }
    for (std::int64_t c = 0; c < shape_[1]; ++c, y += plane_bins) {
      const T* plane = x_ + (image * shape_[1] + c) * shape_[2] * shape_[3];
      typename Taps::Sums sums{};
      std::copy_n(y, bins, sums.begin());
      if (align_.is_max())
        taps.raise(plane, sums);
      else
        taps.add(plane, sums);
      std::copy_n(sums.begin(), bins, y);
    }
  }

  void set_taps(const Region& region, std::int64_t bin, std::int64_t sample, std::int64_t point,
                std::int64_t row, Taps& taps) const {
    const std::int64_t width = y_.desc.shape[3], across = region.columns.samples;
    const double y = region.rows.position(bin / width, sample / across),
                 x = region.columns.position(bin % width, sample % across);
    const reference::RoiCorners corners = reference::roi_corners(shape_[2], shape_[3], y, x);
    for (std::size_t k = 0; corners.is_inside && k < 4; ++k)
      taps.set(static_cast<std::size_t>(row) * 4 + k, point, corners.places[k], corners.weights[k]);
  }

  const reference::RoiAlign align_;
  const Shape shape_;
  const T* x_;
  const T* rois_;
  const std::vector<std::int64_t> images_;
  const Tensor y_;
};

Result<void> supports(const Question& question) {
  for (std::size_t i = 0; i < 2; ++i)
    if (auto typed = takes_types(question, i, {DataType::kFloat, DataType::kDouble}); !typed)
      return typed;
  if (question.inputs[0].dtype != question.inputs[1].dtype)
    return Unexpected("regions of another type");
  return {};
}

}  // namespace

void register_roi_align(KernelRegistry& registry) {
  registry.add({.type = "ROIAlign",
                .supports = supports,
                .run = by_type<reference::TypeList<float, double>>(
                    []<typename T>(const Run& run) { RoiAlign<T>(run).run(run.threads); })});
}

}  // namespace aoe::native
