// Tested by tests/compiler/near_strategies_test.cpp.
#include "compiler/lowering/near_strategies.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace aoe::compiler {
namespace {

/// Three doublings of what an input and an output share; beyond that other bounds hold.
constexpr double kFarthest = 6;
constexpr std::size_t kMostNeighbours = 4;

/// A description (key_of()) as what must be equal, and what may differ. A bank may hold a million of them, so none is parsed.
struct Outline {
  std::string fixed;  ///< with the rank of each shape
  std::vector<std::int64_t> extents;
};

Outline outline_of(std::string_view description) {
  constexpr std::string_view kShape = "\"shape\":[";
  Outline outline;
  for (std::size_t begin; (begin = description.find(kShape)) != std::string_view::npos;) {
    const std::size_t first = begin + kShape.size();
    const std::size_t end = std::min(description.find(']', first), description.size());
    outline.fixed += description.substr(0, first);
    const char* const stop = description.data() + end;
    int rank = 0;
    for (const char* at = description.data() + first; at < stop; ++rank) {
      std::int64_t extent = 0;
      at = std::from_chars(at, stop, extent).ptr;
      if (at < stop) ++at;  // a comma
      outline.extents.push_back(extent);
    }
    outline.fixed += std::to_string(rank);
    description.remove_prefix(end);
  }
  outline.fixed += description;
  return outline;
}

/// Infinite where one of them is stretched and the other is not, or where a size is open.
double distance(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (a[i] <= 1 || b[i] <= 1) return INFINITY;
    sum += std::fabs(std::log2(static_cast<double>(a[i]) / static_cast<double>(b[i])));
  }
  return sum;
}

}  // namespace

NearFinder::NearFinder(const std::vector<bank::TaskKey>& tasks) {
  for (const bank::TaskKey& task : tasks) {
    Outline outline = outline_of(task.description);
    wanted_.emplace(std::move(outline.fixed), Wanted{task.description, std::move(outline.extents)});
  }
}

void NearFinder::offer(const bank::TaskKey& key, const bank::StrategySet& set) {
  if (!set.has_winner()) return;
  const Outline outline = outline_of(key.description);
  const auto [begin, end] = wanted_.equal_range(outline.fixed);
  for (auto each = begin; each != end; ++each) {
    const Wanted& wanted = each->second;
    if (wanted.extents.size() != outline.extents.size()) continue;
    const double away = distance(wanted.extents, outline.extents);
    if (away > kFarthest || away == 0) continue;
    std::vector<Neighbour>& list = found_[wanted.description];
    const auto place = std::ranges::upper_bound(list, away, {}, &Neighbour::distance);
    list.insert(place, {key.repo_key(), away, set});
    if (list.size() > kMostNeighbours) list.pop_back();
  }
}

}  // namespace aoe::compiler
