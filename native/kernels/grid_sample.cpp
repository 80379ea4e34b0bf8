// GridSample of float32 and float64: the taps of a block of points are found once for all channels.
#include <algorithm>
#include <optional>

#include "base/ceil_div.h"
#include "native/by_type.h"
#include "native/kernel.h"
#include "native/sampling/taps.h"
#include "native/wide.h"
#include "reference/tensors/axes.h"
#include "reference/windows/grid_sampler.h"

namespace aoe::native {
namespace {

template <typename T>
class GridSample {
  using Taps = TapBlock<T>;
  using Beside = PlanesBeside<T>;

 public:
  explicit GridSample(const Run& run)
      : sampler_(run.attrs),
        shape_(run.shape(0)),
        sizes_(shape_.begin() + 2, shape_.end()),
        plane_(element_count(sizes_)),
        x_(run.inputs[0].as<T>()),
        grid_(run.inputs[1].as<T>()),
        y_(run.output(0)) {
    check_plane(plane_);
    points_ = reference::dim_product(y_.desc.shape, 2, y_.desc.shape.size());
    for (std::size_t axis = 0; axis < sizes_.size(); ++axis) most_taps_ *= sampler_.most_taps();
  }

  void run(Threads& threads) const {
    if (y_.data == nullptr) return;
    for (std::int64_t image = 0; image < shape_[0]; ++image) run_image(image, threads);
  }

 private:
  void run_image(std::int64_t image, Threads& threads) const {
    const std::int64_t reads = points_ * static_cast<std::int64_t>(most_taps_);
    std::optional<Beside> beside;
    if (Beside::pays(shape_[1], plane_, reads))
      beside.emplace(x_ + image * shape_[1] * plane_, 1, shape_[1], plane_, threads);
    const double cost =
        static_cast<double>(Taps::kPoints) *
        (20 + 0.3 * static_cast<double>(shape_[1]) * static_cast<double>(most_taps_));
    threads.share(ceil_div(points_, Taps::kPoints), cost,
                  [&](std::int64_t begin, std::int64_t end) {
                    Taps taps(most_taps_);
                    for (std::int64_t i = begin; i < end; ++i)
                      run_block(image, i * Taps::kPoints, beside, taps);
                  });
  }

  void run_block(std::int64_t image, std::int64_t first, const std::optional<Beside>& beside,
                 Taps& taps) const {
    const std::int64_t count = std::min(Taps::kPoints, points_ - first);
    set_taps(image * points_ + first, count, taps);
    T* const y = y_.as<T>() + image * shape_[1] * points_ + first;
    if (beside) {
      for (std::int64_t c = 0; c < shape_[1]; c += Taps::kBeside) {
        typename Taps::BesideSums sums;
        taps.sum(beside->planes(0, c / Taps::kBeside), sums);
        for (std::int64_t k = 0; k < std::min(Taps::kBeside, shape_[1] - c); ++k)
          std::copy_n(sums[static_cast<std::size_t>(k)].begin(), count, y + (c + k) * points_);
      }
      return;
    }
    for (std::int64_t c = 0; c < shape_[1]; ++c) {
      typename Taps::Sums sums{};
      taps.add(x_ + (image * shape_[1] + c) * plane_, sums);
      std::copy_n(sums.begin(), count, y + c * points_);
    }
  }

  using Along = reference::GridTapRows;  ///< one axis
  static_assert(Along::kPoints == Taps::kPoints);
  static constexpr std::size_t kMostAxes = 3;

  /// The products of all axes' taps, of `count` points.
  AOE_WIDE void set_taps(std::int64_t first, std::int64_t count, Taps& taps) const {
    const std::size_t rank = sizes_.size(), along = sampler_.most_taps();
    Along axes[kMostAxes];
    for (std::size_t axis = 0; axis < rank; ++axis) {
      // The grid names the last axis first: x, y, z.
      const T* from = grid_ + first * static_cast<std::int64_t>(rank) +
                      static_cast<std::int64_t>(rank - 1 - axis);
      Along::Row<double> coordinates{};
      for (std::int64_t i = 0; i < count; ++i)
        coordinates[static_cast<std::size_t>(i)] = from[i * static_cast<std::int64_t>(rank)];
      sampler_.fill(coordinates, sizes_[axis], axes[axis]);
    }
    for (std::size_t number = 0; number < most_taps_; ++number) {
      const typename Taps::Row row = taps.row(number);
      std::size_t divisor = most_taps_ / along;
      write_first(axes[0], number / divisor % along, row);
      for (std::size_t axis = 1; axis < rank; ++axis) {
        divisor /= along;
        multiply(axes[axis], number / divisor % along, static_cast<std::int32_t>(sizes_[axis]),
                 row);
      }
    }
  }

  AOE_WIDE static void write_first(const Along& axis, std::size_t tap,
                                   const typename Taps::Row& row) {
    for (std::size_t i = 0; i < Along::kPoints; ++i) {
      row.places[i] = axis.positions[tap][i];
      row.weights[i] = static_cast<T>(axis.weights[tap][i]);
      row.masks[i] = axis.masks[tap][i];
    }
  }

  AOE_WIDE static void multiply(const Along& axis, std::size_t tap, std::int32_t size,
                                const typename Taps::Row& row) {
    for (std::size_t i = 0; i < Along::kPoints; ++i) {
      const std::int32_t mask = static_cast<std::int32_t>(row.masks[i]) & axis.masks[tap][i];
      row.places[i] = (row.places[i] * size + axis.positions[tap][i]) & mask;
      row.weights[i] *= static_cast<T>(axis.weights[tap][i]);
      row.masks[i] = mask;
    }
  }

  const reference::GridSampler sampler_;
  const Shape shape_, sizes_;
  const std::int64_t plane_;
  const T* x_;
  const T* grid_;
  const Tensor y_;
  std::int64_t points_ = 0;
  std::size_t most_taps_ = 1;
};

Result<void> supports(const Question& question) {
  const DataType type = question.inputs[0].dtype;
  for (std::size_t i = 0; i < 2; ++i)
    if (auto typed = takes_types(question, i, {DataType::kFloat, DataType::kDouble}); !typed)
      return typed;
  if (question.inputs[1].dtype != type) return Unexpected("a grid of another type");
  constexpr std::size_t kMostRank = 5;
  const Shape& x = question.inputs[0].shape;
  if (x.size() > kMostRank) return Unexpected(to_string(x) + " has more than 3 spatial axes");
  return {};
}

}  // namespace

void register_grid_sample(KernelRegistry& registry) {
  registry.add({.type = "GridSample",
                .supports = supports,
                .run = by_type<reference::TypeList<float, double>>(
                    []<typename T>(const Run& run) { GridSample<T>(run).run(run.threads); })});
}

}  // namespace aoe::native
