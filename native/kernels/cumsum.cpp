// CumSum and CumProd whose sizes are known when the model runs.
#include <algorithm>
#include <vector>

#include "native/by_type.h"
#include "native/lines/axis_blocks.h"
#include "native/wide.h"

namespace aoe::native {
namespace {

using Types = reference::TypeList<float, double, std::int32_t, std::int64_t>;

struct Sums {
  static constexpr int kFirst = 0;
  template <typename T>
  static T join(T a, T b) {
    return a + b;
  }
};

struct Products {
  static constexpr int kFirst = 1;
  template <typename T>
  static T join(T a, T b) {
    return a * b;
  }
};

/// Columns at a time: their totals stay in the level-1 cache.
constexpr std::int64_t kBlock = 512;

template <typename Join, bool kExclusive, typename T>
AOE_WIDE void add_row(const T* __restrict x, std::int64_t count,
                      reference::SumType<T>* __restrict totals, T* __restrict y) {
  using Total = reference::SumType<T>;
  for (std::int64_t i = 0; i < count; ++i) {
    const Total next = Join::join(totals[i], static_cast<Total>(x[i]));
    y[i] = static_cast<T>(kExclusive ? totals[i] : next);
    totals[i] = next;
  }
}

/// One line whose elements lie behind each other.
template <typename Join, typename T>
void add_line(const T* x, std::int64_t count, bool is_exclusive, bool is_reverse, T* y) {
  auto total = static_cast<reference::SumType<T>>(Join::kFirst);
  for (std::int64_t step = 0; step < count; ++step) {
    const std::int64_t i = is_reverse ? count - 1 - step : step;
    const auto next = Join::join(total, static_cast<reference::SumType<T>>(x[i]));
    y[i] = static_cast<T>(is_exclusive ? total : next);
    total = next;
  }
}

template <typename Join, typename T>
void accumulate(const Run& run) {
  const Shape& shape = run.shape(0);
  const auto axis = reference::normalize_axis(
      reference::read_scalar<std::int64_t>(run.inputs[1], "axis"), shape.size());
  if (run.output(0).data == nullptr) return;
  const reference::AxisView view = reference::view_axis(shape, axis);
  const bool is_exclusive = run.attrs.get_int("exclusive", 0) != 0,
             is_reverse = run.attrs.get_int("reverse", 0) != 0;
  const AxisBlocks blocks(view, kBlock);
  const T* x = run.inputs[0].as<T>();
  T* y = run.output(0).as<T>();
  run.threads.share(blocks.count(), blocks.elements(), [&](std::int64_t begin, std::int64_t end) {
    std::vector<reference::SumType<T>> totals(static_cast<std::size_t>(blocks.columns()));
    for (std::int64_t i = begin; i < end; ++i) {
      std::ranges::fill(totals, static_cast<reference::SumType<T>>(Join::kFirst));
      const AxisBlock block = blocks.block(i);
      if (view.inner == 1) {
        add_line<Join>(x + block.at, view.dim, is_exclusive, is_reverse, y + block.at);
        continue;
      }
      for (std::int64_t step = 0; step < view.dim; ++step) {
        const std::int64_t row = is_reverse ? view.dim - 1 - step : step;
        const std::int64_t at = block.at + row * view.inner;
        if (is_exclusive)
          add_row<Join, true>(x + at, block.count, totals.data(), y + at);
        else
          add_row<Join, false>(x + at, block.count, totals.data(), y + at);
      }
    }
  });
}

template <typename Join>
void add(KernelRegistry& registry, const char* type) {
  registry.add({.type = type,
                .supports = [](const Question& question) -> Result<void> {
                  return takes_types(question, Types{});
                },
                .run = by_type<Types>([]<typename T>(const Run& run) { accumulate<Join, T>(run); }),
                .is_for_open_sizes = always});
}

}  // namespace

void register_cumsum(KernelRegistry& registry) {
  add<Sums>(registry, "Cumsum");
  add<Products>(registry, "Cumprod");
}

}  // namespace aoe::native
