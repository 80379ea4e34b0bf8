// Cutting the phases of a group into the shares of its threads.
// Tested by tests/runtime/jit_group_test.cpp.
#include "runtime/jit_group.h"

#include <algorithm>
#include <cmath>

namespace aoe::runtime {
namespace {

/// One stage of the phase that is being cut.
struct Item {
  std::size_t stage, step;
  std::int64_t extent;
  double cost;  ///< of all iterations

  double unit() const { return cost / static_cast<double>(extent); }
};

/// How many of an item's iterations go to the threads before a border.
std::int64_t nearest(double iterations, const Item& item) {
  return std::clamp<std::int64_t>(std::llround(iterations), 0, item.extent);
}

/// Borders of one item: thread t gets [borders[t], borders[t + 1]).
using Borders = std::vector<std::int64_t>;

/// What rounding gives a thread too much of one item it gets less of the next.
std::vector<Borders> cut_each(const std::vector<Item>& items, int threads) {
  std::vector<Borders> all;
  std::vector<double> owed(threads, 0.0);  ///< to the threads before a border, by border
  for (const Item& item : items) {
    Borders borders{0};
    for (int t = 1; t < threads; ++t) {
      const double wanted = static_cast<double>(item.extent) * t / threads;
      const std::int64_t border =
          std::max(borders.back(), nearest(wanted + owed[t] / item.unit(), item));
      owed[t] += (wanted - static_cast<double>(border)) * item.unit();
      borders.push_back(border);
    }
    borders.push_back(item.extent);
    all.push_back(std::move(borders));
  }
  return all;
}

std::vector<Borders> cut_list(const std::vector<Item>& items, int threads) {
  double total = 0, before = 0;
  for (const Item& item : items) total += item.cost;
  std::vector<Borders> all;
  for (const Item& item : items) {
    Borders borders{0};
    for (int t = 1; t < threads; ++t)
      borders.push_back(nearest((total * t / threads - before) / item.unit(), item));
    borders.push_back(item.extent);
    all.push_back(std::move(borders));
    before += item.cost;
  }
  return all;
}

}  // namespace

JitGroup::JitGroup(std::span<const JitGroupStep> steps, GroupShare share, int threads)
    : threads_(threads) {
  std::vector<std::vector<Item>> phases;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto& extents = steps[s].extents;
    first_stages_.push_back(stage_count_);
    phases.resize(std::max(phases.size(), extents.size()));
    // Nobody knows how the cost of a step spreads over its stages.
    const double cost = steps[s].cost / static_cast<double>(extents.size());
    for (std::size_t k = 0; k < extents.size(); ++k, ++stage_count_)
      if (extents[k] > 0) phases[k].push_back({stage_count_, s, extents[k], cost});
  }
  for (const std::vector<Item>& items : phases) {
    const auto borders =
        share == GroupShare::kCutEach ? cut_each(items, threads) : cut_list(items, threads);
    Phase phase(threads);
    for (std::size_t i = 0; i < items.size(); ++i)
      for (int t = 0; t < threads; ++t)
        if (borders[i][t] < borders[i][t + 1])
          phase[t].push_back({items[i].stage, items[i].step, borders[i][t], borders[i][t + 1]});
    phases_.push_back(std::move(phase));
  }
  busy_ticks_.resize(threads, std::vector<std::uint64_t>(steps.size()));
  spans_.resize(steps.size());
}

void JitGroup::begin_times(int thread) {
  std::ranges::fill(busy_ticks_[thread], 0);
}

std::span<const JitGroup::Span> JitGroup::times(std::uint64_t begin_ticks,
                                                std::uint64_t end_ticks) {
  double total = 0;
  for (const auto& of_thread : busy_ticks_)
    for (const std::uint64_t ticks : of_thread) total += static_cast<double>(ticks);
  double before = 0;
  std::uint64_t begin = begin_ticks;
  for (std::size_t s = 0; s < spans_.size(); ++s) {
    for (const auto& of_thread : busy_ticks_) before += static_cast<double>(of_thread[s]);
    const double share = total > 0 ? before / total : 0;
    const bool is_last = s + 1 == spans_.size();
    const auto end = is_last
                         ? end_ticks
                         : begin_ticks + static_cast<std::uint64_t>(
                                             share * static_cast<double>(end_ticks - begin_ticks));
    spans_[s] = {s, begin, end};
    begin = end;
  }
  return spans_;
}

}  // namespace aoe::runtime
