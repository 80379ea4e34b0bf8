// Splits a gain over Format, Impl and Schedule.
#include "tuner/session/attribution.h"

#include <algorithm>
#include <optional>

namespace aoe::tuner {
using compiler::Candidate;
namespace {

/// Fastest verified trial that `matches`.
template <typename Matches>
std::optional<double> fastest(const SearchResult& result, Matches&& matches) {
  for (const Trial* trial : result.ranked())
    if (matches(trial->candidate)) return trial->timing.median_ns();
  return std::nullopt;
}

}  // namespace

std::vector<ModeGain> attribute_gain(const SearchResult& result, const Candidate& from,
                                     const Candidate& winner, double default_ns, double winner_ns,
                                     const compiler::Schedule& winners_heuristic) {
  const bool format_changed = winner.format.name != from.format.name;
  const bool impl_changed = winner.impl != from.impl;
  const bool schedule_tuned = winner.schedule != winners_heuristic;

  std::vector<ModeGain> gains;
  double now_ns = default_ns;
  const auto step = [&](const char* mode, std::optional<double> reached_ns) {
    if (!reached_ns) return;
    const double next_ns = std::max(*reached_ns, winner_ns);
    if (next_ns >= now_ns) return;
    gains.push_back({mode, now_ns / 1e3, next_ns / 1e3, false});
    now_ns = next_ns;
  };
  // The last mode that changed anything ends at the winner itself.
  if (format_changed)
    step("Format", impl_changed || schedule_tuned
                       ? fastest(result,
                                 [&](const Candidate& c) {
                                   return c.impl == from.impl &&
                                          c.format.name == winner.format.name;
                                 })
                       : std::optional(winner_ns));
  if (impl_changed)
    step("Impl", schedule_tuned ? fastest(result,
                                          [&](const Candidate& c) {
                                            return c.impl == winner.impl &&
                                                   c.format.name == winner.format.name &&
                                                   c.schedule == winners_heuristic;
                                          })
                                : std::optional(winner_ns));
  if (schedule_tuned || gains.empty()) step("Schedule", winner_ns);
  return gains;
}

}  // namespace aoe::tuner
