// Runs sessions again and again, one or several at once, and notes how long each run took.
#pragma once

#include <functional>
#include <vector>

#include "tools/aoe_run/session.h"

namespace aoe::tools {

struct RunPlan {
  int warmup = 1;      ///< runs that do not count; the first touches all memory
  int repeat = 10;     ///< runs of each stream that count
  double seconds = 0;  ///< > 0: instead of `repeat`
};

struct RunTimes {
  std::vector<double> latencies_ns;  ///< of all streams, one stream after the other
  double wall_s = 0;                 ///< from the first run that counts to the last
};

/// A stream is a thread with a session of its own, but for a single one, which is the caller's. Of that alone, and either may
/// be empty: `before_first` is called when it is warm, `after_run` behind each run that counts. Throws what a session throws.
RunTimes run_streams(const std::vector<Session*>& sessions, const RunPlan& plan,
                     const std::function<void()>& before_first,
                     const std::function<void()>& after_run);

}  // namespace aoe::tools
