// See quant_copy.h. Whole quads are copied as they lie; a last one of up to three bytes is put together from them.
#include "compiler/quant/quant_copy.h"

#include <algorithm>

#include "compiler/conv/image_layout.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/emit/narrow_lanes.h"

namespace aoe::compiler {
namespace {

class CopyStage {
 public:
  CopyStage(const Task& task, const QuantCut& cut, std::size_t constants)
      : cut_(cut),
        s_(cut.shape()),
        buffers_(
            declare_buffers(builder_, task, quant_constants(cut, constants), true, cut.inputs())),
        in_(image_layout({s_.batch, s_.in_channels, s_.in_height, s_.in_width}, cut.in_format(),
                         0)),
        padding_(bits_as(unsigned_zero_point(builder_, task, buffers_, cut.lanes()) *
                             int_splat(0x01010101, cut.lanes(), Type::kInt32),
                         Type::kUint8)) {}

  loopnest::Function write() {
    builder_.parallel(s_.batch * cut_.read_height(), [&](Int p) {
      const Int n = p / cut_.read_height();
      const Int row = p % cut_.read_height() - s_.pad_top;
      const Int to = n * (cut_.image_copies() * cut_.image_quads()) +
                     p % cut_.read_height() * (cut_.read_width() * cut_.quads());
      builder_.if_(
          Int(-1) < row && row < Int(s_.in_height), [&] { write_row(n, row, to); },
          [&] { fill(to, cut_.read_width()); });
    });
    return builder_.finish();
  }

 private:
  /// Padding, pixels, padding.
  void write_row(Int n, Int row, Int to) {
    const std::int64_t columns = std::min(s_.in_width, cut_.read_width() - s_.pad_left);
    const Int from = n * in_.batch + row * in_.row;
    fill(to, s_.pad_left);
    const Int first = to + s_.pad_left * cut_.quads();
    if (s_.in_channels % 4 == 0) {
      copy_quads(from, first, columns * cut_.quads());
    } else {
      copy_whole_quads(from, first, columns);
      write_last_quads(from, first, columns);
    }
    fill(first + columns * cut_.quads(), cut_.read_width() - s_.pad_left - columns);
  }

  void fill(Int to, std::int64_t pixels) {
    vector_loop(builder_, "pad", pixels * cut_.quads(), cut_.lanes(),
                [&](Int i, std::optional<Int> active) { store(to + i, padding_, active); });
    const std::int64_t filled = s_.in_channels % 4;
    if (!cut_.sums_pixels() || filled == 0) return;
    // What fills up a pixel's last quad has weights of zero, but would count in the sum of the pixel.
    const Vec last =
        bit_and(bits_as(padding_, Type::kInt32),
                int_splat((std::int64_t{1} << (8 * filled)) - 1, cut_.lanes(), Type::kInt32));
    vector_loop(builder_, "last_pad", pixels, cut_.lanes(), [&](Int i, std::optional<Int> active) {
      store(to + i * cut_.quads() + (cut_.quads() - 1), bits_as(last, Type::kUint8), active,
            cut_.quads());
    });
  }

  void copy_quads(Int from, Int to, std::int64_t quads) {
    vector_loop(builder_, "quad", quads, cut_.lanes(), [&](Int i, std::optional<Int> active) {
      store(to + i, unsigned_bytes(from + i * 4, cut_.lanes(), active), active);
    });
  }

  /// Those of pixels that end in a part of a quad.
  void copy_whole_quads(Int from, Int to, std::int64_t columns) {
    const std::int64_t whole = s_.in_channels / 4;
    builder_.loop("pixel", 0, columns, 1, [&](Int pixel) {
      builder_.loop("quad", 0, whole, 1, [&](Int q) {
        store(to + pixel * cut_.quads() + q, unsigned_bytes(from + pixel * in_.pixel + q * 4, 1));
      });
    });
  }

  /// The last quads of a vector of pixels at a time.
  void write_last_quads(Int from, Int to, std::int64_t columns) {
    const std::int64_t q = cut_.quads() - 1;
    vector_loop(
        builder_, "pixel", columns, cut_.lanes(), [&](Int pixel, std::optional<Int> active) {
          Vec quad = int_splat(0, cut_.lanes(), Type::kInt32);
          for (std::int64_t b = 0; b < s_.in_channels % 4; ++b) {
            const Vec x = byte(from + pixel * in_.pixel, 4 * q + b, active);
            quad = bit_or(quad, shift_left(x, int_splat(8 * b, cut_.lanes(), Type::kInt32)));
          }
          store(to + pixel * cut_.quads() + q, bits_as(quad, Type::kUint8), active, cut_.quads());
        });
  }

  /// As they lie, but unsigned.
  Vec unsigned_bytes(Int at, int quads, std::optional<Int> active = {}) const {
    if (active) active = *active * 4;
    if (!cut_.is_signed()) return builder_.load_as(Type::kUint8, input(), at, 4 * quads, active);
    return flip_signs(builder_.load_as(Type::kInt8, input(), at, 4 * quads, active));
  }

  /// Quads, or both of their pairs.
  void store(Int at, const Vec& bytes, std::optional<Int> active = {}, std::int64_t stride = 1) {
    if (!cut_.has_pairs()) return builder_.store(*buffers_.workspace, at, bytes, active, stride);
    for (const std::int64_t pair : {0, 1})
      builder_.store(*buffers_.workspace, at + pair * cut_.image_quads(), widened_pair(bytes, pair),
                     active, stride);
  }

  Vec byte(Int at, std::int64_t channel, const std::optional<Int>& active) const {
    const Vec value = builder_.load_as(Type::kInt32, input(), at + channel * in_.channel,
                                       cut_.lanes(), active, in_.pixel);
    return cut_.is_signed() ? value + int_splat(128, cut_.lanes(), Type::kInt32) : value;
  }

  Buffer input() const { return *buffers_.inputs[kQuantX]; }

  const QuantCut& cut_;
  const ConvShape& s_;
  Builder builder_{"quant_copy"};
  KernelBuffers buffers_;
  ImageLayout in_;
  Vec padding_;
};

}  // namespace

loopnest::Function quant_copy_stage(const Task& task, const QuantCut& cut, std::size_t constants) {
  return CopyStage(task, cut, constants).write();
}

}  // namespace aoe::compiler
