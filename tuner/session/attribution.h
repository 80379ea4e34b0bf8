// Which tuning mode made a winner fast: the way from the default to it in steps of Format, Impl and
// Schedule.
#pragma once

#include <vector>

#include "tuner/result/aoe_result.h"
#include "tuner/search/search.h"

namespace aoe::tuner {

/// One ModeGain per mode that made it faster, in that order; they chain: each begins where the one
/// before ends, the first at `default_ns`, the last at `winner_ns` (both from the paired race). The
/// steps between are trials of `result`: the default's Impl in the winner's Format, then the
/// winner's Impl with its heuristic Schedule; a step that was not measured falls to the next.
std::vector<ModeGain> attribute_gain(const SearchResult& result, const compiler::Candidate& from,
                                     const compiler::Candidate& winner, double default_ns,
                                     double winner_ns, const compiler::Schedule& winners_heuristic);

}  // namespace aoe::tuner
