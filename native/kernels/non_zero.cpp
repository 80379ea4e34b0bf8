// NonZero: the elements of each row are counted, then every row knows where its columns begin.
#include <numeric>

#include "native/by_type.h"
#include "native/wide.h"
#include "reference/elements/typed.h"
#include "reference/tensors/axes.h"

namespace aoe::native {
namespace {

template <typename T>
bool counts(T value) {
  if constexpr (std::is_same_v<T, reference::Float16> || std::is_same_v<T, reference::BFloat16>)
    return (value.bits & 0x7fffu) != 0;
  else
    return value != T{0};
}

template <typename T>
AOE_WIDE std::int64_t count_row(const T* row, std::int64_t length) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < length; ++i) count += counts(row[i]) ? 1 : 0;
  return count;
}

/// Writes the last coordinates of a row's elements. Not behind the last of them: the next row may have begun already.
template <typename T>
AOE_WIDE void write_row(const T* row, std::int64_t length, std::int64_t count, std::int64_t* to) {
  if (count == length) {
    std::iota(to, to + length, std::int64_t{0});
    return;
  }
  for (std::int64_t i = 0, found = 0; found < count; ++i)
    if (counts(row[i])) to[found++] = i;
}

template <typename T>
void run_typed(const Run& run) {
  const Shape& shape = run.shape(0);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t length = rank == 0 ? 1 : shape.back();
  const std::int64_t rows = length == 0 ? 0 : element_count(shape) / length;
  const T* x = run.inputs[0].as<T>();
  std::vector<std::int64_t> begins(static_cast<std::size_t>(rows) + 1, 0);  // of each row's columns
  const double cost = static_cast<double>(length);
  run.threads.share(rows, cost / 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r)
      begins[static_cast<std::size_t>(r) + 1] = count_row(x + r * length, length);
  });
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  const std::int64_t columns = begins.back();
  const Tensor output = run.make(0, {rank, columns});
  if (output.data == nullptr || rank == 0) return;
  run.threads.share(rows, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const std::int64_t first = begins[static_cast<std::size_t>(r)],
                         count = begins[static_cast<std::size_t>(r) + 1] - first;
      if (count == 0) continue;
      std::int64_t* to = output.as<std::int64_t>() + first;
      write_row(x + r * length, length, count, to + (rank - 1) * columns);
      std::int64_t rest = r;
      for (std::int64_t axis = rank - 1; axis-- > 0;) {
        const std::int64_t dim = shape[static_cast<std::size_t>(axis)];
        std::fill_n(to + axis * columns, count, rest % dim);
        rest /= dim;
      }
    }
  });
}

}  // namespace

void register_non_zero(KernelRegistry& registry) {
  registry.add(
      {.type = "NonZero",
       .supports = takes_all,
       .run = by_type<reference::AllTypes>([]<typename T>(const Run& run) { run_typed<T>(run); }),
       .makes_shapes = true});
}

}  // namespace aoe::native
