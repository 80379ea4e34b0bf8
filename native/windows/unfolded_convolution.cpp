#include "native/windows/unfolded_convolution.h"

#include <algorithm>
#include <vector>

#include "base/ceil_div.h"
#include "native/products/product.h"
#include "native/scratch.h"
#include "native/wide.h"
#include "native/windows/padded_planes.h"

namespace aoe::native {
namespace {

/// Outputs of a panel in one row of one image, from place x on: columns from `column` on.
struct Piece {
  std::int64_t image, z, y, x, count, column;
};

/// What a tap reads of a piece in channel 0 of a group: elements from `from` on, or zeros; and where they lie in its columns.
struct Segment {
  static constexpr std::int64_t kZeros = -1;
  std::int64_t from, to, count;
};

/// Taps that follow each other, and of which some column reads the image.
struct TapRun {
  std::int64_t first, count;
};

/// The same elements of `planes` planes, `count` of them: to.row(i)[j] = from.row(i)[j * stride].
template <typename T>
AOE_WIDE void copy_of_planes(Rows<const T> from, std::int64_t stride, Rows<T> to,
                             std::int64_t count, std::int64_t planes) {
  using Loose = typename Lanes<T>::Loose;
  constexpr std::int64_t kWhole = Lanes<T>::kCount;
  if (stride == 1 && count >= kWhole) {  // the last two vectors overlap
    for (std::int64_t i = 0; i < planes; ++i) {
      const T* const row = from.row(i);
      T* const out = to.row(i);
      for (std::int64_t j = 0; j < count - kWhole; j += kWhole)
        *reinterpret_cast<Loose*>(out + j) = *reinterpret_cast<const Loose*>(row + j);
      *reinterpret_cast<Loose*>(out + count - kWhole) =
          *reinterpret_cast<const Loose*>(row + count - kWhole);
    }
    return;
  }
  for (std::int64_t i = 0; i < planes; ++i) copy_row(from.row(i), stride, count, to.row(i));
}

template <typename T>
class UnfoldedConvolution {
 public:
  UnfoldedConvolution(const Run& run, const reference::Window& window, const RowEnding& ending)
      : run_(run), window_(window), ending_(ending) {}

  void run() const {
    constexpr std::int64_t kEnough = 4, kLeastChannels = 64;
    const std::int64_t blocks = ceil_div(outputs_, kBlock),
                       parts = parts_of(groups_ * blocks, kEnough, per_group_, kLeastChannels);
    const auto products = static_cast<double>(kBlock * channels_ * taps_);
    const double cost =
        products * (0.1 + static_cast<double>(per_group_) / static_cast<double>(parts) / 25);
    run_.threads.share(groups_ * blocks * parts, cost, [&](std::int64_t begin, std::int64_t end) {
      Block block{
          .columns = Scratch(static_cast<std::size_t>(at_once_ * taps_ * kPanel) * sizeof(T)),
          .sums = Scratch(static_cast<std::size_t>(per_group_ * kBlock) * sizeof(T))};
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t part = i % parts;
        block.first = per_group_ * part / parts;
        block.rows = per_group_ * (part + 1) / parts - block.first;
        run_block(i / parts / blocks, i / parts % blocks * kBlock, block);
      }
    });
  }

 private:
  static constexpr std::int64_t kPanel = 32;  ///< columns: outputs side by side
  /// At a time: weights come from the second-level cache, once from farther.
  static constexpr std::int64_t kPanels = 4, kBlock = kPanel * kPanels;
  static constexpr std::int64_t kTaps =
      256;  ///< at a time: the first-level cache holds a panel of them
  static constexpr std::int64_t kVector = 16;  ///< elements

  /// Output channels of a group, and what is made for them.
  struct Block {
    std::int64_t first = 0, rows = 0;
    Scratch columns, sums;
    std::vector<Piece> pieces = {};
    std::vector<Segment> segments = {};
    std::vector<TapRun> runs = {};
    T* panel(std::int64_t p) const { return sums.as<T>() + p * rows * kPanel; }
  };

  /// Outputs from `begin` on, which are counted through all images.
  void run_block(std::int64_t group, std::int64_t begin, Block& block) const {
    const std::int64_t count = std::min(kBlock, outputs_ - begin),
                       channel = group * per_group_ + block.first, panels = ceil_div(count, kPanel);
    const T* bias = run_.has_input(2) ? run_.inputs[2].as<T>() + channel : nullptr;
    for (std::int64_t p = 0; p < panels; ++p)
      for (std::int64_t r = 0; r < block.rows; ++r)
        std::fill_n(block.panel(p) + r * kPanel, kPanel, bias == nullptr ? T{0} : bias[r]);
    for (std::int64_t i = 0; i < channels_; i += at_once_) {
      const std::int64_t inputs = std::min(at_once_, channels_ - i);
      const Rows<const T> weights = weights_of(channel, i, inputs);
      for (std::int64_t p = 0; p < panels; ++p) {
        const std::int64_t first = p * kPanel, columns = std::min(kPanel, count - first);
        find_pieces(begin + first, columns, block);
        lay_columns(run_.inputs[0].as<T>() + (group * channels_ + i) * window_.input_elements(),
                    inputs, block);
        for (const auto& [from, taps] : block.runs)  // without packed weights one
          add_product<T>(
              weights.from(from * inputs), block.rows, taps * inputs,
              Rows<const T>{block.columns.template as<T>() + from * inputs * kPanel, kPanel},
              {block.panel(p), kPanel}, round_up(columns, kVector));
      }
    }
    for (std::int64_t p = 0; p < panels; ++p) {
      ending_.apply(block.panel(p), block.rows * kPanel);
      find_pieces(begin + p * kPanel, std::min(kPanel, count - p * kPanel), block);
      write(channel, block, block.panel(p));
    }
  }

  /// Of output channel `channel` and those behind it, for `count` inputs from `first` on.
  Rows<const T> weights_of(std::int64_t channel, std::int64_t first, std::int64_t count) const {
    const std::int64_t length = channels_ * taps_;
    if (!weights_) return {run_.inputs[1].as<T>() + channel * length + first * taps_, length};
    const std::int64_t row = count * taps_;
    return {weights_->template as<T>() + first * taps_ * run_.shape(1)[0] + channel * row, row};
  }

  /// Weights for the inputs that are read at once lie side by side, tap after tap: those of eight outputs are one stream then, in place of
  /// eight from as many pages, and taps that only read padding are left out.
  std::shared_ptr<const Scratch> packed_weights() const {
    if (run_.kept(1) == nullptr || channels_ <= at_once_) return nullptr;
    return run_.made_of(1, [&] {
      const std::int64_t outputs = run_.shape(1)[0], length = channels_ * taps_;
      Scratch all(static_cast<std::size_t>(outputs * length) * sizeof(T));
      T* to = all.as<T>();
      for (std::int64_t i = 0; i < channels_; i += at_once_) {
        const std::int64_t inputs = std::min(at_once_, channels_ - i);
        for (std::int64_t c = 0; c < outputs; ++c) {
          const T* const from = run_.inputs[1].as<T>() + c * length + i * taps_;
          for (std::int64_t tap = 0; tap < taps_; ++tap)
            for (std::int64_t input = 0; input < inputs; ++input) *to++ = from[input * taps_ + tap];
        }
      }
      return all;
    });
  }

  void find_pieces(std::int64_t output, std::int64_t count, Block& block) const {
    const auto& [d, h, w] = window_.axes;
    block.pieces.clear();
    for (std::int64_t column = 0; column < count;) {
      const std::int64_t at = output + column, row = at / w.output;
      Piece piece = {.image = row / h.output / d.output,
                     .z = row / h.output % d.output,
                     .y = row % h.output,
                     .x = at % w.output,
                     .count = 0,
                     .column = column};
      piece.count = std::min(w.output - piece.x, count - column);
      block.pieces.push_back(piece);
      column += piece.count;
    }
  }

  /// Of packed weights columns have channel after channel of a tap, otherwise tap after tap of a channel.
  void lay_columns(const T* x, std::int64_t inputs, Block& block) const {
    const std::int64_t tap_step = (weights_ ? inputs : 1) * kPanel,
                       step = (weights_ ? 1 : taps_) * kPanel;
    block.segments.clear();
    block.runs.clear();
    std::int64_t tap = 0;
    for (std::int64_t kd = 0; kd < window_.depth().kernel; ++kd)
      for (std::int64_t kh = 0; kh < window_.height().kernel; ++kh)
        for (std::int64_t kw = 0; kw < window_.width().kernel; ++kw, ++tap)
          add_tap(kd, kh, kw, tap, tap * tap_step, block);
    const std::int64_t plane = window_.input_elements(), stride = window_.width().stride;
    T* const columns = block.columns.template as<T>();
    for (const auto& [from, place, count] : block.segments)
      if (from == Segment::kZeros)
        for (std::int64_t i = 0; i < inputs; ++i)
          std::fill_n(columns + i * step + place, count, T{0});
      else
        copy_of_planes<T>({x + from, plane}, stride, {columns + place, step}, count, inputs);
  }

  /// What the pieces read of it; nothing where that is padding and it can be left out.
  void add_tap(std::int64_t kd, std::int64_t kh, std::int64_t kw, std::int64_t tap, std::int64_t to,
               Block& block) const {
    const auto segments = block.segments.size();
    for (const Piece& piece : block.pieces) add_segments(piece, kd, kh, kw, to, block.segments);
    const auto is_padding = [](const Segment& segment) { return segment.from == Segment::kZeros; };
    const auto first = block.segments.begin() + static_cast<std::ptrdiff_t>(segments);
    if (weights_ && std::all_of(first, block.segments.end(), is_padding)) {
      block.segments.erase(first, block.segments.end());
      return;
    }
    if (block.runs.empty() || block.runs.back().first + block.runs.back().count != tap)
      block.runs.push_back({tap, 0});
    ++block.runs.back().count;
  }

  void add_segments(const Piece& piece, std::int64_t kd, std::int64_t kh, std::int64_t kw,
                    std::int64_t to, std::vector<Segment>& segments) const {
    const auto& [d, h, w] = window_.axes;
    const std::int64_t z = d.tap(piece.z, kd), y = h.tap(piece.y, kh), end = piece.x + piece.count;
    const auto add = [&](std::int64_t from, std::int64_t first, std::int64_t last) {
      if (last > first)
        segments.push_back({from, to + piece.column + first - piece.x, last - first});
    };
    if (!d.is_inside(z) || !h.is_inside(y)) return add(Segment::kZeros, piece.x, end);
    const auto [inside, beyond] = w.outputs_inside(kw);
    const std::int64_t first = std::clamp(inside, piece.x, end),
                       last = std::clamp(beyond, first, end);
    add(Segment::kZeros, piece.x, first);
    add((piece.image * run_.shape(0)[1] * d.input + z) * h.input * w.input + y * w.input +
            w.tap(first, kw),
        first, last);
    add(Segment::kZeros, last, end);
  }

  void write(std::int64_t channel, const Block& block, const T* sums) const {
    const std::int64_t plane = window_.output_elements();
    for (const Piece& piece : block.pieces) {
      T* y = y_ + (piece.image * run_.shape(1)[0] + channel) * plane +
             (piece.z * window_.height().output + piece.y) * window_.width().output + piece.x;
      copy_rows(sums + piece.column, kPanel, piece.count, block.rows, y, plane);
    }
  }

  const Run& run_;
  T* const y_ = run_.output(0).as<T>();
  const reference::Window& window_;
  const RowEnding& ending_;
  const std::int64_t groups_ = run_.attrs.get_int("group", 1);
  const std::int64_t channels_ = run_.shape(1)[1];             ///< inputs of a group
  const std::int64_t per_group_ = run_.shape(1)[0] / groups_;  ///< outputs
  const std::int64_t taps_ = window_.kernel_elements();
  const std::int64_t outputs_ = run_.shape(0)[0] * window_.output_elements();
  const std::int64_t at_once_ =
      std::clamp<std::int64_t>(kTaps / taps_, 1, std::max<std::int64_t>(channels_, 1));  ///< inputs
  const std::shared_ptr<const Scratch> weights_ = packed_weights();
};

}  // namespace

bool unfolding_pays(const Run& run, const reference::Window& window) {
  constexpr std::int64_t kLeastOutputs = 24, kLeastRow = 16;
  constexpr double kMostNumbers = 1.3;
  if (run.shape(1)[0] / run.attrs.get_int("group", 1) < kLeastOutputs) return false;
  if (window.kernel_elements() == 1) return true;
  return window.width().output >= kLeastRow &&
         PaddedPlanes::numbers_per_output(window) > kMostNumbers;
}

template <typename T>
void run_unfolded_convolution(const Run& run, const reference::Window& window,
                              const RowEnding& ending) {
  if (run.output(0).elements() > 0) UnfoldedConvolution<T>(run, window, ending).run();
}

template void run_unfolded_convolution<float>(const Run&, const reference::Window&,
                                              const RowEnding&);
template void run_unfolded_convolution<double>(const Run&, const reference::Window&,
                                               const RowEnding&);

}  // namespace aoe::native
