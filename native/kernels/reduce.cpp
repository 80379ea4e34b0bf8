// Reductions and global pooling whose sizes are known when the model runs.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/ceil_div.h"
#include "native/by_type.h"
#include "native/elements/exponential.h"
#include "native/kernel.h"
#include "native/lines/short_lines.h"
#include "native/lines/whole_lines.h"
#include "native/wide.h"
#include "reference/tensors/reductions.h"

namespace aoe::native {
namespace {

/// Of the input: neighbours that are all kept or all reduced are one.
struct Dimension {
  std::int64_t extent, stride;
  bool is_reduced;
};

std::vector<Dimension> merged(Shape shape, const std::vector<bool>& reduced) {
  reference::Strides strides[] = {reference::dense_strides(shape),
                                  reference::output_strides(shape, reduced)};
  reference::collapse(shape, strides);
  std::vector<Dimension> dims;
  for (std::size_t d = 0; d < shape.size(); ++d)
    dims.push_back({shape[d], strides[0][d], strides[1][d] == 0});
  return dims;
}

/// Where the `index`-th of all combinations of these dimensions lies.
std::int64_t offset_of(std::span<const Dimension> dims, std::int64_t index) {
  std::int64_t offset = 0;
  for (std::size_t d = dims.size(); d-- > 0; index /= dims[d].extent)
    offset += index % dims[d].extent * dims[d].stride;
  return offset;
}

std::int64_t count_of(std::span<const Dimension> dims) {
  std::int64_t count = 1;
  for (const Dimension& dim : dims) count *= dim.extent;
  return count;
}

/// f(offset) of each combination, in order.
template <typename F>
void for_each_offset(std::span<const Dimension> dims, std::int64_t offset, const F& f) {
  if (dims.empty()) return f(offset);
  for (std::int64_t i = 0; i < dims.front().extent; ++i)
    for_each_offset(dims.subspan(1), offset + i * dims.front().stride, f);
}

/// Accumulators of elements that follow each other: enough for vectors and their latency. Of comparisons compilers make vectors
/// where a loop over them is left.
template <typename R, typename T>
constexpr std::int64_t kParts = sizeof(typename R::Acc) == sizeof(T) ? 64 : 16;
/// Rows that are added before their sums are stored.
constexpr std::int64_t kRows = 4;
/// Results that are made at a time: their accumulators stay in the level-1 cache. Fewer where threads would have none, but whole lines
/// of it.
constexpr std::int64_t kBlock = 1024, kLeastBlock = 16;

/// exp(x - largest), in float32 but of float64: of integers beyond some hundreds it is 0.
template <typename T>
AOE_WIDE inline double exponential_below(T x, T largest) {
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    constexpr Bits kFar = 200;
    const Bits below = static_cast<Bits>(largest) - static_cast<Bits>(x);
    return exp_down(-static_cast<float>(static_cast<std::int32_t>(below < kFar ? below : kFar)));
  } else {
    return exp_down(x - largest);
  }
}

template <typename T>
struct Largest : reference::Max<T> {
  [[gnu::always_inline]] AOE_WIDE static std::optional<typename Largest::Acc> of_line(
      const typename Largest::Acc* x, std::int64_t count) {
    return extreme_of_line<true>(x, count);
  }
};

template <typename T>
struct Smallest : reference::Min<T> {
  [[gnu::always_inline]] AOE_WIDE static std::optional<typename Smallest::Acc> of_line(
      const typename Smallest::Acc* x, std::int64_t count) {
    return extreme_of_line<false>(x, count);
  }
};

template <template <typename> class R, typename T>
struct InVectors : R<T> {};

template <template <typename> class R>
struct InVectors<R, float> : R<float> {
  [[gnu::always_inline]] AOE_WIDE static std::optional<double> of_line(const float* x,
                                                                       std::int64_t count) {
    return sum_of_line(x, count);
  }
};

template <typename T>
using Total = InVectors<reference::Sum, T>;
template <typename T>
using Average = InVectors<reference::Mean, T>;

template <typename T>
struct LogSumExp : reference::LogSumExp<T> {
  using Acc = typename reference::LogSumExp<T>::Acc;
  static Acc merge(Acc a, Acc b) {
    if (a.largest < b.largest) std::swap(a, b);
    if (b.sum == 0) return a;
    return {a.largest,
            a.sum + (a.largest == b.largest ? b.sum : b.sum * std::exp(b.largest - a.largest))};
  }
  /// The largest first, then exponentials that vectors compute. Nothing where it is infinite, which step() knows about.
  AOE_WIDE static std::optional<Acc> of_line(const T* x, std::int64_t count) {
    constexpr std::int64_t kLanes = 16;
    std::array<T, kLanes> most;
    most.fill(x[0]);
    std::array<double, kLanes> sums = {};
    const std::int64_t whole = count - count % kLanes;
    for (std::int64_t i = 0; i < whole; i += kLanes)
      for (std::int64_t k = 0; k < kLanes; ++k) most[k] = x[i + k] > most[k] ? x[i + k] : most[k];
    for (std::int64_t i = whole; i < count; ++i) most[0] = x[i] > most[0] ? x[i] : most[0];
    const T top = *std::ranges::max_element(most);
    const auto largest = static_cast<double>(top);
    if (!std::isfinite(largest)) return {};
    for (std::int64_t i = 0; i < whole; i += kLanes)
      for (std::int64_t k = 0; k < kLanes; ++k) sums[k] += exponential_below(x[i + k], top);
    for (std::int64_t i = whole; i < count; ++i) sums[0] += exponential_below(x[i], top);
    return Acc{largest, std::accumulate(sums.begin(), sums.end(), 0.0)};
  }
};

/// parts[0] becomes all of them: loops whose lengths the compiler knows.
template <std::int64_t kCount, typename R>
AOE_WIDE inline void merge_all(typename R::Acc* parts) {
  if constexpr (kCount > 1) {
    constexpr std::int64_t kHalf = kCount / 2;
    for (std::int64_t k = 0; k < kHalf; ++k) parts[k] = R::merge(parts[k], parts[k + kHalf]);
    merge_all<kHalf, R>(parts);
  }
}

/// Of as many whole blocks of kCount elements as there are.
template <std::int64_t kCount, typename R, typename T>
AOE_WIDE inline typename R::Acc of_blocks(const T* x, std::int64_t count) {
  std::array<typename R::Acc, kCount> parts;
  parts.fill(R::kStart);
  for (std::int64_t i = 0; i + kCount <= count; i += kCount)
    for (std::int64_t k = 0; k < kCount; ++k) parts[k] = R::step(parts[k], x[i + k]);
  merge_all<kCount, R>(parts.data());
  return parts[0];
}

template <typename R, typename T>
AOE_WIDE typename R::Acc of_line(const T* x, std::int64_t count) {
  constexpr std::int64_t kCount = kParts<R, T>, kFew = sizeof(typename R::Acc) == 1 ? 16 : 8;
  if constexpr (requires { R::of_line(x, count); }) {
    if (const auto line = R::of_line(x, count)) return *line;
  }
  typename R::Acc sum = R::kStart;
  if (count >= kCount) {
    sum = of_blocks<kCount, R>(x, count);
    x += count - count % kCount;
    count %= kCount;
  }
  if (count >= kFew) {
    sum = R::merge(sum, of_blocks<kFew, R>(x, count));
    x += count - count % kFew;
    count %= kFew;
  }
  for (std::int64_t i = 0; i < count; ++i) sum = R::step(sum, x[i]);
  return sum;
}

/// Lines that follow each other.
template <typename R, typename T>
AOE_WIDE void reduce_lines(const T* x, std::int64_t line, std::int64_t count, T* to) {
  for (std::int64_t i = 0; i < count; ++i)
    to[i] =
        reference::convert<T>(R::finish(of_line<R>(x + i * line, line), static_cast<double>(line)));
}

template <typename R, typename T>
AOE_WIDE void take_row(const T* __restrict x, std::int64_t count,
                       typename R::Acc* __restrict sums) {
  for (std::int64_t i = 0; i < count; ++i) sums[i] = R::step(sums[i], x[i]);
}

/// kRows of them, which are `stride` apart.
template <typename R, typename T>
AOE_WIDE void take_rows(const T* __restrict x, std::int64_t stride, std::int64_t count,
                        typename R::Acc* __restrict sums) {
  for (std::int64_t i = 0; i < count; ++i) {
    typename R::Acc sum = sums[i];
    for (std::int64_t k = 0; k < kRows; ++k) sum = R::step(sum, x[k * stride + i]);
    sums[i] = sum;
  }
}

template <typename R, typename T>
class Reduction {
 public:
  using Acc = typename R::Acc;

  Reduction(const Tensor& in, const std::vector<bool>& reduced, const Tensor& out)
      : x_(in.as<T>()), y_(out.as<T>()) {
    std::vector<Dimension> dims = merged(in.desc.shape, reduced);
    (dims.back().is_reduced ? line_ : row_) = dims.back().extent;
    dims.pop_back();
    for (const Dimension& dim : dims) (dim.is_reduced ? reduced_ : kept_).push_back(dim);
    lines_ = count_of(reduced_);
  }

  void run(Threads& threads) const {
    constexpr double kElementNs = 0.3;
    if (has_lines() && line_ <= kShortLine) return run_short_lines(threads);
    if (has_lines())
      return threads.share(kept_[0].extent, kElementNs * static_cast<double>(line_),
                           [&](std::int64_t begin, std::int64_t end) {
                             reduce_lines<R>(x_ + begin * line_, line_, end - begin, y_ + begin);
                           });
    const std::int64_t block = block_for(threads), blocks = ceil_div(row_, block);
    const double cost = kElementNs * static_cast<double>(lines_ * line_ * std::min(row_, block));
    threads.share(count_of(kept_) * blocks, cost, [&](std::int64_t begin, std::int64_t end) {
      std::vector<Acc> sums(static_cast<std::size_t>(std::min(row_, block)));
      for (std::int64_t i = begin; i < end; ++i)
        run_block(i / blocks, i % blocks * block, block, sums);
    });
  }

 private:
  std::int64_t block_for(const Threads& threads) const {
    const std::int64_t rows = count_of(kept_);
    if (rows == 0 || rows * ceil_div(row_, kBlock) >= threads.count()) return kBlock;
    const std::int64_t even = ceil_div(row_, ceil_div(threads.count(), rows));
    return std::min(kBlock, ceil_div(even, kLeastBlock) * kLeastBlock);
  }

  /// Nothing else is reduced, and the lines follow each other.
  bool has_lines() const {
    return lines_ == 1 && line_ > 1 && kept_.size() == 1 && kept_[0].stride == line_;
  }

  void run_short_lines(Threads& threads) const {
    for_each_short_line(x_, line_, kept_[0].extent, threads,
                        [&](const T* columns, std::int64_t first, std::int64_t count) {
                          Acc sums[kLinesAtOnce];
                          std::fill_n(sums, count, R::kStart);
                          for (std::int64_t k = 0; k < line_; ++k)
                            take_row<R>(columns + k * kLinesAtOnce, count, sums);
                          finish(sums, count, y_ + first);
                        });
  }

  void finish(const Acc* sums, std::int64_t count, T* to) const {
    const auto elements = static_cast<double>(lines_ * line_);
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = reference::convert<T>(R::finish(sums[i], elements));
  }

  void run_block(std::int64_t kept, std::int64_t first, std::int64_t block,
                 std::vector<Acc>& sums) const {
    const std::int64_t count = std::min(block, row_ - first);
    std::ranges::fill(sums, R::kStart);
    const std::int64_t offset = offset_of(kept_, kept) + first;
    if (reduced_.size() == 1 && line_ == 1)
      add_rows(x_ + offset, count, sums.data());
    else
      for_each_offset(reduced_, offset, [&](std::int64_t at) {
        if (line_ > 1)
          sums[0] = R::merge(sums[0], of_line<R>(x_ + at, line_));
        else if (line_ == 1)
          take_row<R>(x_ + at, count, sums.data());
      });
    finish(sums.data(), count, y_ + kept * row_ + first);
  }

  void add_rows(const T* x, std::int64_t count, Acc* sums) const {
    const Dimension& rows = reduced_.front();
    std::int64_t row = 0;
    if constexpr (!std::is_same_v<Acc, T>)  // wider ones are worth keeping for a while
      for (; row + kRows <= rows.extent; row += kRows)
        take_rows<R>(x + row * rows.stride, rows.stride, count, sums);
    for (; row < rows.extent; ++row) take_row<R>(x + row * rows.stride, count, sums);
  }

  const T* x_;
  T* y_;
  std::vector<Dimension> kept_, reduced_;  ///< but for the innermost
  std::int64_t row_ = 1, line_ = 1;        ///< elements of the innermost, kept or reduced
  std::int64_t lines_ = 1;                 ///< or rows, behind one result
};

/// Every axis behind the channels.
std::vector<bool> spatial_axes(const Shape& shape) {
  std::vector<bool> axes(shape.size(), true);
  std::fill_n(axes.begin(), 2, false);
  return axes;
}

template <template <typename> class R, typename T>
void reduce(const Run& run) {
  const Tensor& out = run.output(0);
  if (out.data == nullptr) return;
  const bool is_pooling = run.call.type.starts_with("Global");
  const std::vector<bool> axes =
      is_pooling ? spatial_axes(run.shape(0))
                 : *reference::reduced_axes(run.call.type, run.version, run.attrs, run.inputs);
  Reduction<R<T>, T>(run.inputs[0], axes, out).run(run.threads);
}

/// Of integers nothing but this has them.
bool has_generated_exponentials(const Question& question) {
  return is_floating(question.inputs[0].dtype);
}

template <template <typename> class R, typename... Types>
void add(KernelRegistry& registry, const char* type,
         const std::function<bool(const Question&)>& is_for_open_sizes = always) {
  registry.add({.type = type,
                .supports = [](const Question& question) -> Result<void> {
                  return takes_types(question, reference::TypeList<Types...>{});
                },
                .run = by_type<reference::TypeList<Types...>>(
                    []<typename T>(const Run& run) { reduce<R, T>(run); }),
                .is_for_open_sizes = is_for_open_sizes});
}

template <template <typename> class R>
void add_numeric(KernelRegistry& registry, const char* type) {
  add<R, float, double, std::int32_t, std::int64_t>(registry, type);
}

/// Of bytes and bool too.
template <template <typename> class R>
void add_extreme(KernelRegistry& registry, const char* type) {
  add<R, float, double, std::int8_t, std::uint8_t, std::int32_t, std::int64_t, bool>(registry,
                                                                                     type);
}

}  // namespace

void register_reduce(KernelRegistry& registry) {
  add_numeric<Total>(registry, "ReduceSum");
  add_numeric<Average>(registry, "ReduceMean");
  add_extreme<Largest>(registry, "ReduceMax");
  add_extreme<Smallest>(registry, "ReduceMin");
  add_numeric<reference::Prod>(registry, "ReduceProd");
  add_numeric<reference::SumSquare>(registry, "ReduceSumSquare");
  add_numeric<reference::L1>(registry, "ReduceL1");
  add_numeric<reference::L2>(registry, "ReduceL2");
  add_numeric<reference::LogSum>(registry, "ReduceLogSum");
  add<LogSumExp, float, double, std::int32_t, std::int64_t>(registry, "ReduceLogSumExp",
                                                            has_generated_exponentials);
  add<Average, float, double>(registry, "GlobalAveragePool");
  add<Largest, float, double>(registry, "GlobalMaxPool");
}

}  // namespace aoe::native
