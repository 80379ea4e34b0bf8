// ArgMax and ArgMin whose sizes are known when the model runs, HardMax of float64 and of such sizes.
#include <vector>

#include "native/by_type.h"
#include "native/lines/axis_blocks.h"
#include "native/lines/best.h"
#include "native/lines/short_lines.h"

namespace aoe::native {
namespace {

using Types =
    reference::TypeList<float, double, std::int8_t, std::uint8_t, std::int32_t, std::int64_t>;

/// Columns at a time: what is best of them stays in the level-1 cache.
constexpr std::int64_t kBlock = 1024;

template <typename T, typename Wins, typename Take>
void for_each_best_of_short(const T* x, const reference::AxisView& view, Threads& threads,
                            const Take& take) {
  for_each_short_line(x, view.dim, view.outer, threads,
                      [&](const T* columns, std::int64_t first, std::int64_t count) {
                        T best[kLinesAtOnce];
                        PlaceBeside<T> places[kLinesAtOnce];
                        best_of_columns<T, Wins>(columns, view.dim, kLinesAtOnce, count, best,
                                                 places);
                        for (std::int64_t i = 0; i < count; ++i)
                          take(first + i, 0, std::int64_t{places[i]});
                      });
}

/// take(outer, inner, place) for each line of the view.
template <typename T, typename Wins, typename Take>
void for_each_best(const T* x, const reference::AxisView& view, Threads& threads,
                   const Take& take) {
  if (view.inner == 1 && view.dim > 0 && view.dim <= kShortLine)
    return for_each_best_of_short<T, Wins>(x, view, threads, take);
  const AxisBlocks blocks(view, kBlock);
  threads.share(blocks.count(), 0.5 * blocks.elements(), [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> best(static_cast<std::size_t>(blocks.columns()));
    std::vector<PlaceBeside<T>> places(best.size());
    for (std::int64_t i = begin; i < end; ++i) {
      const AxisBlock block = blocks.block(i);
      const T* from = x + block.at;
      if (view.inner == 1) {
        take(block.outer, 0, best_of_line<T, Wins>(from, view.dim));
        continue;
      }
      best_of_columns<T, Wins>(from, view.dim, view.inner, block.count, best.data(), places.data());
      for (std::int64_t k = 0; k < block.count; ++k)
        take(block.outer, block.inner + k, std::int64_t{places[static_cast<std::size_t>(k)]});
    }
  });
}

template <typename T, typename Wins>
void write_places(const Run& run) {
  const Shape& shape = run.shape(0);
  const reference::AxisView view = reference::view_axis(
      shape, reference::normalize_axis(run.attrs.get_int("axis", 0), shape.size()));
  std::int64_t* to = run.output(0).as<std::int64_t>();
  for_each_best<T, Wins>(run.inputs[0].as<T>(), view, run.threads,
                         [&](std::int64_t outer, std::int64_t inner, std::int64_t place) {
                           to[outer * view.inner + inner] = place;
                         });
}

template <typename First, typename Last>
void add_arg(KernelRegistry& registry, const char* type) {
  registry.add({.type = type,
                .supports = [](const Question& question) -> Result<void> {
                  return takes_types(question, Types{});
                },
                .run = by_type<Types>([]<typename T>(const Run& run) {
                  if (run.attrs.get_int("select_last_index", 0) != 0)
                    write_places<T, Last>(run);
                  else
                    write_places<T, First>(run);
                }),
                .is_for_open_sizes = always});
}

template <typename T>
void run_hardmax(const Run& run) {
  const reference::AxisView view = reference::softmax_view(run.attrs, run.version, run.shape(0));
  if (view.dim == 0) return;
  T* to = run.output(0).as<T>();
  std::fill_n(to, run.output(0).elements(), T{0});
  for_each_best<T, std::greater<>>(run.inputs[0].as<T>(), view, run.threads,
                                   [&](std::int64_t outer, std::int64_t inner, std::int64_t place) {
                                     to[(outer * view.dim + place) * view.inner + inner] = 1;
                                   });
}

}  // namespace

void register_arg_max(KernelRegistry& registry) {
  add_arg<std::greater<>, std::greater_equal<>>(registry, "ArgMaxV2");
  add_arg<std::less<>, std::less_equal<>>(registry, "ArgMin");
  registry.add({.type = "HardMax",
                .supports = takes_one_float_type,
                .run = by_type<reference::TypeList<float, double>>(
                    []<typename T>(const Run& run) { run_hardmax<T>(run); })});
}

}  // namespace aoe::native
