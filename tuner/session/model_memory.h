// What earlier runs on this machine have measured of whole models, in the bank: a run that would measure the same two oms under
// the same policy takes their verdict, and says when it was measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bank/strategy.h"
#include "runtime/om/om.h"
#include "tuner/result/aoe_result.h"
#include "tuner/session/run.h"
#include "tuner/session/tuning_bank.h"

namespace aoe::tuner {

struct RememberedModel {
  std::string
      tuned;  ///< run_digest() of the om that was measured against the untuned one, in hexadecimal
  std::vector<std::string>
      demoted;  ///< digests of the tasks that it leaves as they were, though the banks may have strategies
  bool keeps_untuned = false;    ///< for that om is not faster
  ModelVerdict verdict;          ///< with `measured_utc`
  double measure_s = 0;          ///< what a measurement of the untuned model took
  std::vector<double> steps_ns;  ///< medians, by step of the untuned om
};

class ModelMemory {
 public:
  /// Of runs that begin with this om. The bank stays with the caller.
  ModelMemory(TuningBank& bank, const TuneOptions& options, const runtime::Om& untuned);

  /// The last that was kept, if it is of an om with so many steps; a bank that cannot be read knows none.
  std::optional<RememberedModel> recall(std::size_t steps) const;
  void keep(const RememberedModel& model);
  /// run_digest() of the om, in hexadecimal.
  const std::string& untuned() const { return untuned_; }

 private:
  TuningBank& bank_;
  std::string untuned_;
  bank::TaskKey key_;
  std::string policy_name_;
  int threads_;
};

}  // namespace aoe::tuner
