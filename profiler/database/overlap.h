// When the device computes and when it waits (OVERLAP_ANALYSIS).
#pragma once

#include "profiler/database/sqlite.h"

namespace aoe::profiler {

/// Values of OVERLAP_ANALYSIS.type that one device can have; those of communication lie between.
inline constexpr int kOverlapComputing = 0;
inline constexpr int kOverlapFree = 3;

/// A shorter gap is the way from one op to the next, and counts as computing.
inline constexpr std::int64_t kShortestFreeNs = 1000;

/// Fills OVERLAP_ANALYSIS from TASK: stretches in which some stream runs tasks, and the gaps between
/// them, in turn.
void derive_overlap(Connection& connection);

}  // namespace aoe::profiler
