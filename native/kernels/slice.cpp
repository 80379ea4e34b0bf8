// Slice and SplitV of sizes or places that only the run knows, as of a cache or of positions behind it: the output's elements in
// their order, shared among the threads.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/ceil_div.h"
#include "native/kernel.h"
#include "reference/elements/typed.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/slice_ranges.h"
#include "reference/tensors/strided.h"

namespace aoe::native {
namespace {

/// Where an output's elements lie in the input.
struct Places {
  Shape shape;  ///< of the output, neighbours that follow each other in both being one
  std::int64_t first = 0;
  reference::Strides strides;
};

template <typename Word>
void copy_elements(const Places& places, const Word* from, Word* to, std::int64_t begin,
                   std::int64_t end) {
  const std::int64_t row = places.shape.back(), step = places.strides.back();
  for (std::int64_t at = begin; at < end;) {
    std::int64_t line = at / row;
    const Word* source = from + places.first + at % row * step;
    for (std::size_t d = places.shape.size() - 1; d-- > 0; line /= places.shape[d])
      source += line % places.shape[d] * places.strides[d];
    const std::int64_t count = std::min(row - at % row, end - at);
    if (step == 1)
      std::memcpy(to + at, source, static_cast<std::size_t>(count) * sizeof(Word));
    else
      for (std::int64_t i = 0; i < count; ++i) to[at + i] = source[i * step];
    at += count;
  }
}

void copy_places(Places places, const Tensor& from, const Tensor& to, Threads& threads) {
  if (to.data == nullptr || to.elements() == 0) return;
  reference::Strides strides[] = {places.strides, reference::dense_strides(places.shape)};
  reference::collapse(places.shape, strides);
  places.strides = strides[0];
  reference::visit_word(to.desc.dtype, [&]<typename Word>() {
    constexpr double kElementNs = 0.5;
    threads.share(to.elements(), kElementNs, [&](std::int64_t begin, std::int64_t end) {
      copy_elements(places, from.as<Word>(), to.as<Word>(), begin, end);
    });
  });
}

void run_slice(const Run& run) {
  const auto ranges = *reference::slice_ranges(run.attrs, run.version, run.inputs);
  Places places{.strides = reference::dense_strides(run.shape(0))};
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    places.shape.push_back(ranges[d].count);
    places.first += ranges[d].start * places.strides[d];
    // A step may be anything where there is nothing to step to.
    if (ranges[d].count > 1) places.strides[d] *= ranges[d].step;
  }
  copy_places(std::move(places), run.inputs[0], run.output(0), run.threads);
}

/// The sizes of the parts as given; empty: the parts are equal, but for the last of 'num_outputs'.
std::vector<std::int64_t> given_sizes(const Run& run) {
  if (run.version < 13) return run.attrs.get_ints("split");
  return run.has_input(1) ? reference::read_ints(run.inputs[1]) : std::vector<std::int64_t>{};
}

void run_split(const Run& run) {
  const Shape& shape = run.shape(0);
  const std::size_t axis = reference::normalize_axis(run.attrs.get_int("axis", 0), shape.size());
  const reference::Strides strides = reference::dense_strides(shape);
  const std::vector<std::int64_t> sizes = given_sizes(run);
  const std::int64_t asked = run.attrs.get_int("num_outputs", 0);
  const std::int64_t equal = asked > 0 ? asked : shape[axis];
  const std::int64_t parts = sizes.empty() ? equal : std::ssize(sizes);
  for (std::int64_t i = 0; i < parts; ++i) {
    const Tensor& to = run.output(static_cast<std::size_t>(i));
    if (to.data == nullptr || to.elements() == 0) continue;
    const std::int64_t each = asked > 0 ? ceil_div(shape[axis], asked) : to.desc.shape[axis];
    const std::int64_t start =
        sizes.empty() ? i * each
                      : std::accumulate(sizes.begin(), sizes.begin() + i, std::int64_t{0});
    copy_places({to.desc.shape, start * strides[axis], strides}, run.inputs[0], to, run.threads);
  }
}

}  // namespace

void register_slice(KernelRegistry& registry) {
  registry.add(
      {.type = "Slice", .supports = takes_all, .run = run_slice, .is_for_open_sizes = always});
  registry.add(
      {.type = "SplitV", .supports = takes_all, .run = run_split, .is_for_open_sizes = always});
}

}  // namespace aoe::native
