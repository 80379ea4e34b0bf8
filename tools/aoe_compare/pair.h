// Two oms of one model, interleaved: what aoe_compare says of each pair.
#pragma once

#include <string>

#include "base/statistics.h"
#include "runtime/om/om_signature.h"

namespace aoe::tools {

struct PairSettings {
  int threads = 0;  ///< 0: what the om was compiled for
  int loads = 6;  ///< processes: where memory and threads lie changes what an om takes by up to 8%
  int rounds = 18;       ///< divided among the loads
  double seconds = 0.1;  ///< of each om in each round
  runtime::OmKeys om_keys = {};
};

/// "squeezenet=before.om,after.om"
struct Pair {
  std::string name, before_om, after_om;
};
/// Throws Error(kUsage).
Pair parse_pair(const std::string& text);

struct PairTimes {
  double before_ms = 0, after_ms = 0;   ///< medians of the rounds'
  double ratio = 1;                     ///< before / after: the median of the loads' own
  Interval ratio_interval;              ///< 95% confidence
  int noisy_rounds = 0;                 ///< met noise and do not count
  double difference = 0;                ///< the largest of all outputs, of their range
  std::string before_hits, after_hits;  ///< operators + subgraphs from the banks: "31 + 2"
};

/// Loads both oms, so that one that is missing, damaged or unlike is known before others are measured. Throws Error.
void check(const Pair& pair, const PairSettings& settings);

/// Both oms get the same inputs. Throws Error.
PairTimes measure(const Pair& pair, const PairSettings& settings);

}  // namespace aoe::tools
