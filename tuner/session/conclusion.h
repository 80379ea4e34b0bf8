// How the tuning of one Tunable ended.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bank/knowledge_bank.h"
#include "base/statistics.h"
#include "tuner/result/aoe_result.h"

namespace aoe::tuner {

/// The numbers stand in journals.
enum class Decision {
  kAdd,          ///< new and better than the default
  kUpdate,       ///< better than what the bank had, side by side
  kReserved,     ///< the bank's stays
  kUnsatisfied,  ///< nothing better than the default
  kFailed,       ///< not even the default could be measured
  kStopped,      ///< no decision: tuning was stopped
  kNotSearched,  ///< its turn did not come; in no journal
  kUndecided,    ///< searched, but a limit came before it was decided; in no journal
};

inline bool is_win(Decision decision) {
  return decision == Decision::kAdd || decision == Decision::kUpdate;
}

/// "added", "updated", "reserved", "unsatisfied", "failed", "stopped", "not searched", "undecided"
std::string_view name(Decision decision);

struct Conclusion {
  Decision decision = Decision::kStopped;
  /// For the bank: the best of every Format that raced, the winner first; of kUnsatisfied the default first.
  std::vector<bank::Strategy> strategies;
  std::vector<bank::Record> race_records;
  double default_ns = 0;  ///< from the race
  double best_ns = 0;
  Comparison paired;            ///< of a win: the race of both
  std::vector<ModeGain> gains;  ///< of an operator's win
  std::string cause;            ///< of kFailed
  int measured = 0;             ///< trials that were not recalled
};

}  // namespace aoe::tuner
