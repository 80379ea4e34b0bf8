#include "native/windows/shifted_convolution.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/ceil_div.h"
#include "native/products/product.h"
#include "native/scratch.h"
#include "native/windows/padded_planes.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kLeastOutputs = 64, kMostOutputs = 512;  ///< at a time
constexpr std::int64_t kManyOutputs =
    256;                              ///< at a time, where they share weights that come from memory
constexpr std::int64_t kVector = 16;  ///< elements
constexpr std::int64_t kTaps =
    576;  ///< at a time: what those of 64 inputs read, and eight rows of weights, stay in the first-level cache

template <typename T>
class ShiftedConvolution {
 public:
  ShiftedConvolution(const Run& run, const reference::Window& window, const RowEnding& ending)
      : run_(run), window_(window), ending_(ending), planes_(window), x_(run.inputs[0].as<T>()) {
    constexpr std::int64_t kCached = 4096;  // elements
    block_ = std::clamp(kCached / std::max(channels_, per_group_) / kVector * kVector,
                        kLeastOutputs, kMostOutputs);
    if (reads_weights_from_memory())
      block_ = std::max(block_, std::min(round_up(numbers_, kVector), kManyOutputs));
    if (numbers_ < block_) block_ = std::max(kLeastOutputs, numbers_ / kVector * kVector);
    if (!lies_well()) copy_planes();
    const std::vector<std::int64_t> taps = planes_.taps();
    for (std::int64_t i = 0; i < channels_; ++i)
      for (const std::int64_t tap : taps) taps_.push_back(i * stride_ + tap);
  }

  void run() const {
    const std::int64_t blocks = ceil_div(numbers_, block_),
                       all = run_.shape(0)[0] * groups_ * blocks, parts = parts_of_blocks(all);
    const double cost = static_cast<double>(block_ * per_group_) / static_cast<double>(parts) *
                        (1 + static_cast<double>(std::ssize(taps_)) / kProductsPerNs);
    run_.threads.share(all * parts, cost, [&](std::int64_t begin, std::int64_t end) {
      std::vector<T> sums(static_cast<std::size_t>(per_group_ * block_));
      for (std::int64_t i = begin; i < end; ++i) {
        // A thread stays with the weights of a part.
        const std::int64_t block = i % all, part = i / all;
        run_block(block / blocks, block % blocks * block_,
                  {channels_before(part, parts), channels_before(part + 1, parts)}, sums.data());
      }
    });
  }

 private:
  static constexpr double kProductsPerNs = 25;

  /// Output channels of a group.
  struct Channels {
    std::int64_t begin, end;
    std::int64_t count() const { return end - begin; }
  };

  /// In how many parts the channels of a block are shared: small images have too few blocks for the threads.
  std::int64_t parts_of_blocks(std::int64_t blocks) const {
    constexpr std::int64_t kEnough = 16, kLeastChannels = 24;
    return parts_of(blocks, kEnough, per_group_, kLeastChannels);
  }

  /// Parts have whole blocks of products, but for the last.
  std::int64_t channels_before(std::int64_t part, std::int64_t parts) const {
    constexpr std::int64_t kBlockRows = 8;
    const std::int64_t even = ceil_div(per_group_, kBlockRows) * part / parts * kBlockRows;
    return std::min(even, per_group_);
  }

  /// Weights that no near cache holds are read once for each block: it takes more outputs then, whose planes the second-level cache has.
  bool reads_weights_from_memory() const {
    constexpr std::int64_t kNear = 1 << 20;
    return per_group_ * channels_ * window_.kernel_elements() *
               static_cast<std::int64_t>(sizeof(T)) >
           kNear;
  }

  /// Without padding the planes can be read in place; unless blocks would reach beyond the last, or several begin in one set of a
  /// cache.
  bool lies_well() const {
    constexpr std::int64_t kSets = 1024;
    return planes_.is_plane() && numbers_ >= block_ &&
           (channels_ == 1 || stride_ * static_cast<std::int64_t>(sizeof(T)) % kSets != 0);
  }

  /// With zeros around them, and a vector behind them that the last outputs reach; no two planes begin in one set of a cache.
  void copy_planes() {
    stride_ = ((planes_.elements() + 2 * kVector - 1) / kVector | 1) * kVector;
    const std::int64_t planes = run_.shape(0)[0] * run_.shape(0)[1];
    copy_.emplace(static_cast<std::size_t>(planes * stride_) * sizeof(T));
    T* const copy = copy_->as<T>();
    run_.threads.share(
        planes, static_cast<double>(stride_) / 4, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t plane = begin; plane < end; ++plane) {
            std::fill_n(copy + plane * stride_, stride_, T{0});
            planes_.copy(x_ + plane * window_.input_elements(), copy + plane * stride_);
          }
        });
    x_ = copy;
  }

  /// Outputs from number `first` on of a group of all images. Where nothing was copied the last block begins early rather than being shorter.
  void run_block(std::int64_t group, std::int64_t first, Channels channels, T* sums) const {
    const bool can_be_short = copy_.has_value();  // there is something behind the planes to be read
    const std::int64_t begin = can_be_short ? first : std::min(first, numbers_ - block_);
    const std::int64_t columns = std::min(block_, round_up(numbers_ - begin, kVector));
    const std::int64_t channel = group % groups_ * per_group_ + channels.begin;
    const T* bias = run_.has_input(2) ? run_.inputs[2].as<T>() + channel : nullptr;
    for (std::int64_t c = 0; c < channels.count(); ++c)
      std::fill_n(sums + c * block_, columns, bias == nullptr ? T{0} : bias[c]);
    const T* planes = x_ + group * channels_ * stride_ + begin;
    const std::int64_t length = std::ssize(taps_);
    const T* weights = run_.inputs[1].as<T>() + channel * length;
    for (std::int64_t i = 0; i < length; i += kTaps)
      add_product<T>({weights + i, length}, channels.count(), std::min(kTaps, length - i),
                     RowsAt<const T>{planes, taps_.data() + i}, {sums, block_}, columns);
    ending_.apply(sums, channels.count() * block_);
    T* const y = y_ + (group * per_group_ + channels.begin) * window_.output_elements();
    write(sums, begin, first, channels.count(), y);
  }

  /// Outputs from number `first` on that are there, as far as the block from `begin` on goes: runs along rows.
  void write(const T* sums, std::int64_t begin, std::int64_t first, std::int64_t channels,
             T* y) const {
    const std::int64_t plane = window_.output_elements();
    planes_.for_each_row(first, std::min(first + block_, numbers_),
                         [&](std::int64_t at, std::int64_t output, std::int64_t count) {
                           copy_rows(sums + (at - begin), block_, count, channels, y + output,
                                     plane);
                         });
  }

  const Run& run_;
  T* const y_ = run_.output(0).as<T>();
  const reference::Window& window_;
  const RowEnding& ending_;
  const PaddedPlanes planes_;
  const T* x_;
  std::optional<Scratch> copy_;
  std::vector<std::int64_t>
      taps_;  ///< where output 0 of a group reads, one for each weight of a channel
  const std::int64_t numbers_ = planes_.numbers();
  std::int64_t stride_ = window_.input_elements();  ///< from plane to plane
  std::int64_t block_ = 0;                          ///< outputs at a time
  const std::int64_t groups_ = run_.attrs.get_int("group", 1);
  const std::int64_t channels_ = run_.shape(1)[1];             ///< inputs of a group
  const std::int64_t per_group_ = run_.shape(1)[0] / groups_;  ///< outputs
};

}  // namespace

template <typename T>
void run_shifted_convolution(const Run& run, const reference::Window& window,
                             const RowEnding& ending) {
  if (run.output(0).elements() > 0) ShiftedConvolution<T>(run, window, ending).run();
}

template void run_shifted_convolution<float>(const Run&, const reference::Window&,
                                             const RowEnding&);
template void run_shifted_convolution<double>(const Run&, const reference::Window&,
                                              const RowEnding&);

}  // namespace aoe::native
