// Outputs are numbered as if the padding were part of their rows: an output's taps are then at the same distances from it everywhere.
// What is computed behind the end of a row is dropped.
#include "native/shifted_convolution.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "native/product.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kLeastOutputs = 64, kMostOutputs = 512;  ///< at a time
constexpr std::int64_t kTaps =
    576;  ///< at a time: what those of 64 inputs read, and six rows of weights, stay in the first-level cache

template <typename T>
class ShiftedConvolution {
 public:
  ShiftedConvolution(const Run& run, const reference::Window& window)
      : run_(run), window_(window), x_(run.inputs[0].as<T>()) {
    for (std::size_t i = window.axes.size(); i-- > 0;) {
      const reference::WindowAxis& axis = window.axes[i];
      steps_[i] = plane_;
      last_ += (axis.output - 1) * plane_;
      plane_ *= axis.input + axis.pad_begin + axis.pad_end;
    }
    constexpr std::int64_t kVector = 16, kCached = 4096;  // elements
    block_ = std::clamp(kCached / std::max(channels_, per_group_) / kVector * kVector,
                        kLeastOutputs, kMostOutputs);
    columns_ = std::min(block_, (last_ + kVector) / kVector * kVector);
    if (!lies_well()) copy_planes();
    find_taps();
  }

  void run() const {
    const std::int64_t outputs = last_ + 1, blocks = (outputs + block_ - 1) / block_;
    const double cost =
        static_cast<double>(block_ * per_group_) *
        (1 + static_cast<double>(channels_ * window_.kernel_elements()) / kProductsPerNs);
    run_.threads.share(run_.shape(0)[0] * groups_ * blocks, cost,
                       [&](std::int64_t begin, std::int64_t end) {
                         std::vector<T> sums(static_cast<std::size_t>(per_group_ * block_));
                         for (std::int64_t i = begin; i < end; ++i)
                           run_block(i / blocks, i % blocks * block_, sums.data());
                       });
  }

 private:
  static constexpr double kProductsPerNs = 25;

  /// Where output 0 of a group reads, a tap for each weight of an output channel.
  void find_taps() {
    const auto& [d, h, w] = window_.axes;
    for (std::int64_t i = 0; i < channels_; ++i)
      for (std::int64_t kd = 0; kd < d.kernel; ++kd)
        for (std::int64_t kh = 0; kh < h.kernel; ++kh)
          for (std::int64_t kw = 0; kw < w.kernel; ++kw)
            taps_.push_back(i * stride() + kd * d.dilation * steps_[0] +
                            kh * h.dilation * steps_[1] + kw * w.dilation);
  }

  /// Without padding the planes can be read in place; unless blocks would reach beyond the last, or all begin in one set of a cache.
  bool lies_well() const {
    constexpr std::int64_t kSets = 1024;
    return plane_ == window_.input_elements() && last_ + 1 >= block_ &&
           plane_ * static_cast<std::int64_t>(sizeof(T)) % kSets != 0;
  }

  /// With zeros around them, and behind them for the last block.
  void copy_planes() {
    constexpr std::int64_t kApart = 16;
    const std::int64_t stride = plane_ + block_ + kApart;
    const std::int64_t planes = run_.shape(0)[0] * run_.shape(0)[1];
    copy_ = std::make_unique<T[]>(static_cast<std::size_t>(planes * stride));
    run_.threads.share(
        planes, static_cast<double>(stride) / 4, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t plane = begin; plane < end; ++plane)
            copy_plane(x_ + plane * window_.input_elements(), copy_.get() + plane * stride);
        });
    x_ = copy_.get();
    stride_ = stride;
  }

  void copy_plane(const T* from, T* to) const {
    const auto& [d, h, w] = window_.axes;
    for (std::int64_t z = 0; z < d.input; ++z)
      for (std::int64_t y = 0; y < h.input; ++y, from += w.input)
        std::copy_n(
            from, w.input,
            to + (z + d.pad_begin) * steps_[0] + (y + h.pad_begin) * steps_[1] + w.pad_begin);
  }

  /// Outputs from `first` on of a group of all images; the last block begins early rather than being shorter.
  void run_block(std::int64_t group, std::int64_t first, T* sums) const {
    const std::int64_t begin = std::max<std::int64_t>(0, std::min(first, last_ + 1 - block_));
    const std::int64_t channel = group % groups_ * per_group_;
    const T* bias = run_.has_input(2) ? run_.inputs[2].as<T>() + channel : nullptr;
    for (std::int64_t c = 0; c < per_group_; ++c)
      std::fill_n(sums + c * block_, columns_, bias == nullptr ? T{0} : bias[c]);
    const T* planes = x_ + group * channels_ * stride() + begin;
    const std::int64_t length = std::ssize(taps_);
    const T* weights = run_.inputs[1].as<T>() + channel * length;
    for (std::int64_t i = 0; i < length; i += kTaps)
      add_product<T>({weights + i, length}, per_group_, std::min(kTaps, length - i),
                     RowsAt<const T>{planes, taps_.data() + i}, {sums, block_}, columns_);
    write(sums, begin, first,
          run_.output(0).as<T>() + group * per_group_ * window_.output_elements());
  }

  /// Outputs from `first` on that are there, as far as the block from `begin` on goes: runs along rows.
  void write(const T* sums, std::int64_t begin, std::int64_t first, T* y) const {
    const auto& [d, h, w] = window_.axes;
    const std::int64_t end = std::min(first + block_, last_ + 1);
    for (std::int64_t at = first; at < end;) {
      const std::int64_t od = at / steps_[0], oh = at % steps_[0] / steps_[1], ow = at % steps_[1];
      const std::int64_t until = std::min(end, at - ow + steps_[1]);  // of the row
      const std::int64_t count = std::min(until - at, w.output - ow);
      if (oh < h.output && count > 0)
        for (std::int64_t c = 0; c < per_group_; ++c)
          std::copy_n(sums + c * block_ + (at - begin), count,
                      y + ((c * d.output + od) * h.output + oh) * w.output + ow);
      at = until;
    }
  }

  std::int64_t stride() const { return stride_ > 0 ? stride_ : plane_; }

  const Run& run_;
  const reference::Window& window_;
  const T* x_;
  std::unique_ptr<T[]> copy_;
  std::vector<std::int64_t> taps_;
  std::array<std::int64_t, 3> steps_ = {};  ///< from one element to the next along each axis
  std::int64_t plane_ = 1,
               last_ = 0;     ///< elements with their padding; the number of the last output
  std::int64_t stride_ = 0;   ///< from plane to plane of the copy
  std::int64_t block_ = 0;    ///< outputs at a time
  std::int64_t columns_ = 0;  ///< of a block: fewer of a small plane
  const std::int64_t groups_ = run_.attrs.get_int("group", 1);
  const std::int64_t channels_ = run_.shape(1)[1];             ///< inputs of a group
  const std::int64_t per_group_ = run_.shape(1)[0] / groups_;  ///< outputs
};

}  // namespace

bool can_be_shifted(const reference::Window& window) {
  return std::ranges::all_of(window.axes, [](const auto& axis) {
    return axis.stride == 1 && axis.pad_begin >= 0 && axis.pad_end >= 0;
  });
}

template <typename T>
void run_shifted_convolution(const Run& run, const reference::Window& window) {
  if (run.output(0).elements() > 0) ShiftedConvolution<T>(run, window).run();
}

template void run_shifted_convolution<float>(const Run&, const reference::Window&);
template void run_shifted_convolution<double>(const Run&, const reference::Window&);

}  // namespace aoe::native
