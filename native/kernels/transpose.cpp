// Transpose, DepthToSpace and SpaceToDepth whose sizes are known when the model runs.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/ceil_div.h"
#include "native/kernel.h"
#include "native/lines/interleave.h"
#include "native/lines/transpose_block.h"
#include "native/wide.h"
#include "reference/elements/typed.h"
#include "reference/tensors/strided.h"

namespace aoe::native {
namespace {

/// Squares of this side are read and written line by line of the cache.
constexpr std::int64_t kSide = 16;

/// The output's shape, and the input's strides in its order; neighbours that stay beside each other are one.
struct Walk {
  Shape shape;
  reference::Strides from;

  void collapse() {
    reference::Strides strides[] = {from, reference::dense_strides(shape)};
    reference::collapse(shape, strides);
    from = strides[0];
  }
};

Walk walk_of(const reference::Attrs& attrs, const Shape& in) {
  std::vector<std::int64_t> order(in.size());
  std::iota(order.rbegin(), order.rend(), std::int64_t{0});
  if (attrs.has("perm")) order = attrs.get_ints("perm");
  const reference::Strides own = reference::dense_strides(in);
  Walk walk;
  for (const std::int64_t d : order) {
    walk.shape.push_back(in[static_cast<std::size_t>(d)]);
    walk.from.push_back(own[static_cast<std::size_t>(d)]);
  }
  if (in.empty()) return {{1}, {1}};
  walk.collapse();
  return walk;
}

/// Of an image whose channels become blocks of b x b pixels: n, c, h, row of the block, w, column of the block.
Walk depth_to_space(const reference::Attrs& attrs, const Shape& in) {
  const std::int64_t b = attrs.get_int("blocksize", 0), channels = in[1] / (b * b);
  const bool is_crd = attrs.get_string("mode", "DCR") == "CRD";
  const std::int64_t channel = is_crd ? b * b : 1, pixel = is_crd ? 1 : channels;
  const reference::Strides s = reference::dense_strides(in);
  Walk walk{{in[0], channels, in[2], b, in[3], b},
            {s[0], channel * s[1], s[2], b * pixel * s[1], s[3], pixel * s[1]}};
  walk.collapse();
  return walk;
}

/// And back: n, row of the block, column of the block, c, h, w.
Walk space_to_depth(const reference::Attrs& attrs, const Shape& in) {
  const std::int64_t b = attrs.get_int("blocksize", 0);
  const reference::Strides s = reference::dense_strides(in);
  Walk walk{{in[0], b, b, in[1], in[2] / b, in[3] / b},
            {s[0], s[2], s[3], s[1], b * s[2], b * s[3]}};
  walk.collapse();
  return walk;
}

/// Lines that are a power of two apart share a place of the cache: each is read and written once.
template <typename Word>
AOE_WIDE void transpose_square(const Word* __restrict from, std::int64_t step, Word* __restrict to,
                               std::int64_t stride) {
  if constexpr (sizeof(Word) <= 2) {
    constexpr std::int64_t kPart = 16 / sizeof(Word);
    for (std::int64_t k = 0; k < kSide; k += kPart)
      for (std::int64_t r = 0; r < kSide; r += kPart)
        transpose_small_block(from + k * step + r, step, to + r * stride + k, stride);
    return;
  }
  Word square[kSide][kSide];
  for (std::int64_t k = 0; k < kSide; ++k)
    for (std::int64_t r = 0; r < kSide; ++r) square[k][r] = from[k * step + r];
  for (std::int64_t r = 0; r < kSide; ++r)
    for (std::int64_t k = 0; k < kSide; ++k) to[r * stride + k] = square[k][r];
}

/// A matrix whose columns follow each other becomes one whose rows do: its element (r, k) is from[k * step + r], and becomes
/// to[r * stride + k].
template <typename Word>
struct Matrix {
  const Word* from;
  std::int64_t step;
  Word* to;
  std::int64_t stride;
};

template <typename Word>
void transpose_matrix(const Matrix<Word>& matrix, std::int64_t rows, std::int64_t columns) {
  const auto& [from, step, to, stride] = matrix;
  for (std::int64_t row = 0; row < rows; row += kSide)
    for (std::int64_t column = 0; column < columns; column += kSide) {
      const Word* const read = from + column * step + row;
      Word* const written = to + row * stride + column;
      const std::int64_t height = std::min(kSide, rows - row);
      const std::int64_t width = std::min(kSide, columns - column);
      if (height == kSide && width == kSide) {
        transpose_square(read, step, written, stride);
        continue;
      }
      for (std::int64_t r = 0; r < height; ++r)
        for (std::int64_t k = 0; k < width; ++k) written[r * stride + k] = read[k * step + r];
    }
}

/// Walks over all but two dimensions: the last one, and that along which the input's elements follow each other. These two are
/// cut into parts.
template <typename Word>
class Transposition {
 public:
  Transposition(const Walk& walk, const Word* from, Word* to)
      : walk_(walk), to_strides_(reference::dense_strides(walk.shape)), from_(from), to_(to) {
    const auto found =
        static_cast<std::size_t>(std::ranges::find(walk.from, 1) - walk.from.begin());
    is_in_lines_ = found >= last();
    row_ = is_in_lines_ ? std::max<std::size_t>(last(), 1) - 1 : found;
    rows_ = row_ == last() ? 1 : walk.shape[row_];
    columns_ = walk.shape[last()];
    const bool is_matrix = !is_in_lines_ && to_strides_[row_] == columns_;
    interleaves_ = is_matrix && columns_ <= kMostInterleaved;
    deinterleaves_ = !is_in_lines_ && rows_ <= kMostInterleaved && walk.from[last()] == rows_;
    most_rows_ = is_in_lines_ ? ceil_div(kLong, columns_) : interleaves_ ? kLong : kSide;
  }

  void run(Threads& threads) const {
    std::int64_t others = 1;
    for (std::size_t d = 0; d < last(); ++d) others *= d == row_ ? 1 : walk_.shape[d];
    const std::int64_t high = ceil_div(rows_, most_rows_), wide = ceil_div(columns_, kLong);
    const std::int64_t elements = std::min(rows_, most_rows_) * std::min(columns_, kLong);
    threads.share(others * high * wide, static_cast<double>(elements),
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t i = begin; i < end; ++i)
                      copy(i / wide / high, i / wide % high * most_rows_, i % wide * kLong);
                  });
  }

 private:
  static constexpr std::int64_t kLong = 4096;

  std::size_t last() const { return walk_.shape.size() - 1; }

  /// Of one combination of the other dimensions: the last one, or a part of the matrix.
  void copy(std::int64_t combination, std::int64_t row, std::int64_t column) const {
    const Word* from = from_;
    Word* to = to_;
    for (std::size_t d = last(); d-- > 0;) {
      if (d == row_) continue;
      from += combination % walk_.shape[d] * walk_.from[d];
      to += combination % walk_.shape[d] * to_strides_[d];
      combination /= walk_.shape[d];
    }
    const std::int64_t step = walk_.from[last()], stride = to_strides_[row_];
    const Matrix<Word> part{from + column * step + row * walk_.from[row_], step,
                            to + row * stride + column, stride};
    const std::int64_t rows = std::min(most_rows_, rows_ - row);
    const std::int64_t columns = std::min(kLong, columns_ - column);
    if (is_in_lines_)
      copy_lines(part, rows, columns);
    else if (interleaves_)
      with_lines(columns, [&]<std::int64_t kLines>() {
        interleave<kLines>(part.from, step, part.to, rows);
      });
    else if (deinterleaves_)
      with_lines(rows, [&]<std::int64_t kLines>() {
        deinterleave<kLines>(part.from, stride, part.to, columns);
      });
    else
      transpose_matrix(part, rows, columns);
  }

  void copy_lines(const Matrix<Word>& part, std::int64_t rows, std::int64_t columns) const {
    constexpr std::size_t kShort = 32;
    const std::int64_t next = walk_.from[row_];
    const std::size_t bytes = static_cast<std::size_t>(columns) * sizeof(Word);
    for (std::int64_t r = 0; r < rows; ++r) {
      const Word* const from = part.from + r * next;
      Word* const to = part.to + r * part.stride;
      if (part.step != 1)
        for (std::int64_t i = 0; i < columns; ++i) to[i] = from[i * part.step];
      else if (bytes == kShort)  // without a call
        std::memcpy(to, from, kShort);
      else
        std::memcpy(to, from, bytes);
    }
  }

  const Walk& walk_;
  const reference::Strides to_strides_;
  const Word* from_;
  Word* to_;
  bool is_in_lines_;  ///< what the input has side by side stays so, or nothing is
  std::size_t row_;   ///< else the dimension along which the input's elements follow each other
  std::int64_t rows_, columns_;
  std::int64_t most_rows_;            ///< of a part, which has kLong columns at most
  bool interleaves_, deinterleaves_;  ///< a few lines, which fill no squares
};

bool is_aligned(const Tensor& tensor, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(tensor.data) % bytes == 0;
}

/// Elements that stay side by side, as many as one word has room for, become that word: its type.
DataType join_words(Walk& walk, const Tensor& from, const Tensor& to) {
  const DataType type = to.desc.dtype;
  const std::int64_t line = walk.shape.back();
  const std::size_t bytes = size_bytes(type) * static_cast<std::size_t>(line);
  if (walk.shape.size() < 2 || walk.from.back() != 1 || line == 1) return type;
  if ((bytes != 2 && bytes != 4 && bytes != 8) || !is_aligned(from, bytes) ||
      !is_aligned(to, bytes))
    return type;
  walk.shape.pop_back();
  walk.from.pop_back();
  for (std::int64_t& stride : walk.from) stride /= line;
  return bytes == 2 ? DataType::kUint16 : bytes == 4 ? DataType::kUint32 : DataType::kUint64;
}

template <Walk (*kWalk)(const reference::Attrs&, const Shape&)>
void run_transpose(const Run& run) {
  const Tensor& out = run.output(0);
  if (out.data == nullptr || out.elements() == 0) return;
  Walk walk = kWalk(run.attrs, run.shape(0));
  reference::visit_word(join_words(walk, run.inputs[0], out), [&]<typename Word>() {
    Transposition<Word>(walk, run.inputs[0].as<Word>(), out.as<Word>()).run(run.threads);
  });
}

}  // namespace

void register_transpose(KernelRegistry& registry) {
  const auto add = [&](const char* type, void (*run)(const Run&)) {
    registry.add({.type = type, .supports = takes_all, .run = run, .is_for_open_sizes = always});
  };
  add("Transpose", run_transpose<walk_of>);
  add("DepthToSpace", run_transpose<depth_to_space>);
  add("SpaceToDepth", run_transpose<space_to_depth>);
}

}  // namespace aoe::native
