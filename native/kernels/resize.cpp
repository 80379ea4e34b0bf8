// Resize and Upsample, of all element types: to the nearest element by moving it; by weights in float64, axis after axis in the
// order of the reference.
#include "reference/windows/resize.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "native/kernel.h"
#include "native/sampling/places.h"
#include "native/wide.h"
#include "reference/elements/typed.h"

namespace aoe::native {
namespace {

using Table = std::vector<reference::ResampledPosition>;

/// Nothing is weighed.
bool moves(const Table& table) {
  return std::ranges::all_of(table, [](const reference::ResampledPosition& position) {
    return position.taps.size() == 1 && position.taps[0].weight == 1;
  });
}

void run_nearest(const Run& run, const std::vector<Table>& tables) {
  reference::PlaceTables places;
  for (const Table& table : tables) {
    std::vector<std::int64_t>& along = places.emplace_back();
    for (const reference::ResampledPosition& position : table)
      along.push_back(position.taps.front().position);
  }
  take_places(places, 0, run.inputs[0], run.output(0), run.threads);
}

/// A table the other way round: entry tap * outputs + o. What has fewer taps than others has weights of 0 behind them.
struct Picks {
  std::vector<std::int64_t> positions = {};
  std::vector<double> weights = {};
  std::int64_t inputs = 0, outputs = 0,
               inner = 1;  ///< elements behind each; few are entries of their own
};

Picks picks_of(const Table& table, std::int64_t inputs, std::int64_t inner) {
  constexpr std::int64_t kFew = 8;  // channels of an image, which are no vectors
  const std::int64_t apart = inner < kFew ? inner : 1;
  std::size_t taps = 1;
  for (const auto& position : table) taps = std::max(taps, position.taps.size());
  Picks picks{
      .inputs = inputs * apart, .outputs = std::ssize(table) * apart, .inner = inner / apart};
  for (std::size_t tap = 0; tap < taps; ++tap)
    for (const auto& position : table) {
      const bool is_there = tap < position.taps.size();
      for (std::int64_t i = 0; i < apart; ++i) {
        picks.positions.push_back(is_there ? position.taps[tap].position * apart + i : 0);
        picks.weights.push_back(is_there ? position.taps[tap].weight : 0);
      }
    }
  return picks;
}

/// to[i] += weight * from[i].
template <typename T>
AOE_WIDE_EXACT void add_weighted(const T* __restrict from, double weight, std::int64_t count,
                                 double* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += weight * static_cast<double>(from[i]);
}

/// A row becomes another. Nothing is taken 0 times, of infinities neither.
AOE_WIDE_EXACT void pick(const double* __restrict from, const std::int64_t* __restrict positions,
                         const double* __restrict weights, std::int64_t count,
                         double* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double part = weights[i] * from[positions[i]];
    to[i] += weights[i] == 0 ? 0 : part;
  }
}

template <typename T>
AOE_WIDE_EXACT void store(const double* __restrict from, std::int64_t count, T* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = reference::convert<T>(from[i]);
}

/// Along an axis.
void blend(const std::vector<double>& from, const Picks& picks, std::vector<double>& result) {
  const std::int64_t inner = picks.inner;
  const std::int64_t outer = std::ssize(from) / (picks.inputs * inner);
  result.assign(static_cast<std::size_t>(outer * picks.outputs * inner), 0);
  const std::int64_t entries = std::ssize(picks.positions);
  for (std::int64_t o = 0; o < outer; ++o) {
    const double* row = from.data() + o * picks.inputs * inner;
    double* to = result.data() + o * picks.outputs * inner;
    for (std::int64_t entry = 0; entry < entries; entry += inner == 1 ? picks.outputs : 1) {
      const auto at = static_cast<std::size_t>(entry);
      if (inner == 1)
        pick(row, &picks.positions[at], &picks.weights[at], picks.outputs, to);
      else if (picks.weights[at] != 0)
        add_weighted(row + picks.positions[at] * inner, picks.weights[at], inner,
                     to + entry % picks.outputs * inner);
    }
  }
}

/// An iteration makes what belongs to one position of the first axis that changes; of the axes in front of it, all.
template <typename T>
class Blend {
 public:
  Blend(const Run& run, const std::vector<Table>& tables)
      : x_(run.inputs[0]), y_(run.output(0)), first_(first_resized(run.shape(0), tables)) {
    const Shape& shape = run.shape(0);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (d < first_) outer_ *= shape[d];
      if (d > first_) inner_ *= shape[d];
      if (d > first_) inner_outputs_ *= std::ssize(tables[d]);
    }
    std::int64_t behind = inner_;
    for (std::size_t d = first_ + 1; d < shape.size(); ++d) {
      behind /= shape[d];
      if (!is_identity(tables[d], shape[d]))
        later_.push_back(picks_of(tables[d], shape[d], behind));
    }
    table_ = &tables[first_];
    inputs_ = shape[first_];
  }

  void run(Threads& threads) const {
    constexpr double kCostNs = 1;  // of an element
    const std::int64_t outputs = std::ssize(*table_);
    const double cost = kCostNs * static_cast<double>(inner_ + inner_outputs_);
    threads.share(outer_ * outputs, cost, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> values, next;
      for (std::int64_t i = begin; i < end; ++i) {
        take(x_.as<T>() + i / outputs * inputs_ * inner_,
             (*table_)[static_cast<std::size_t>(i % outputs)], values);
        for (const Picks& picks : later_) {
          blend(values, picks, next);
          std::swap(values, next);
        }
        store(values.data(), inner_outputs_, y_.as<T>() + i * inner_outputs_);
      }
    });
  }

 private:
  /// One changes, or Blend is not needed; where it is the last alone, the one in front, so that an iteration has a row.
  static std::size_t first_resized(const Shape& shape, const std::vector<Table>& tables) {
    std::size_t d = 0;
    while (d + 2 < shape.size() && is_identity(tables[d], shape[d])) ++d;
    return d;
  }

  static bool is_identity(const Table& table, std::int64_t inputs) {
    if (std::ssize(table) != inputs || !moves(table)) return false;
    for (std::size_t o = 0; o < table.size(); ++o)
      if (table[o].taps[0].position != static_cast<std::int64_t>(o)) return false;
    return true;
  }

  /// What lies at a position of the first axis, in front of the others.
  void take(const T* from, const reference::ResampledPosition& position,
            std::vector<double>& values) const {
    values.assign(static_cast<std::size_t>(inner_), 0);
    for (const reference::ResampleTap& tap : position.taps)
      add(from + tap.position * inner_, tap.weight, values);
  }

  void add(const T* from, double weight, std::vector<double>& values) const {
    if constexpr (std::is_arithmetic_v<T>) return add_weighted(from, weight, inner_, values.data());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] += weight * reference::convert<double>(from[i]);
  }

  const Tensor x_, y_;
  const std::size_t first_;
  const Table* table_ = nullptr;  ///< of the first axis that changes
  std::int64_t inputs_ = 1;       ///< along it
  std::int64_t outer_ = 1, inner_ = 1, inner_outputs_ = 1;
  std::vector<Picks> later_;
};

void run_resize(const Run& run) {
  if (run.output(0).data == nullptr || run.output(0).elements() == 0) return;
  const std::vector<Table> tables = reference::resize_tables(run.call, run.inputs);
  if (std::ranges::all_of(tables, moves)) return run_nearest(run, tables);
  reference::visit_type<reference::AllTypes>(
      run.inputs[0].desc.dtype, [&]<typename T>() { Blend<T>(run, tables).run(run.threads); });
}

Result<void> supports(const Question& question) {
  if (question.call.attrs.get_string("coordinate_transformation_mode", "") == "tf_crop_and_resize")
    return Unexpected("crops");
  return {};
}

}  // namespace

void register_resize(KernelRegistry& registry) {
  for (const char* type : {"Resize", "Upsample"})
    registry.add({.type = type, .supports = supports, .run = run_resize});
}

}  // namespace aoe::native
