// Confirmation in the whole model, where caches and neighbours are what they are: rounds of compiling, measuring against
// the untuned model by paired verdicts, and taking back what loses there. The session says what an om is made of.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/gears.h"
#include "base/statistics.h"
#include "tuner/measure/measurer.h"
#include "tuner/session/step_share.h"
#include "tuner/tasks/tunable.h"

namespace aoe::tuner {

struct Confirmation {
  double untuned_ns = 0;  ///< medians of the round that decided
  Interval untuned_interval_ns;
  double tuned_ns = 0;
  int pairs = 0;
  Comparison comparison;
  std::set<std::string> demoted;   ///< descriptions of what the chosen om leaves as it was
  std::set<std::string> suspects;  ///< of its attempt
  std::string om;                  ///< the tuned model, serialized
};

/// Where a Tunable stands in the untuned model and in the one that is measured against it.
struct Placed {
  const Tunable* tunable = nullptr;
  int places = 0;  ///< in both; may be fewer than the model has
  std::vector<StepId> before, after;
};

struct ConfirmAttempt {
  std::string om;
  std::vector<Placed> placed;
  /// What is otherwise than in the untuned model: taken back when the whole is slower and nobody's own time says why.
  std::set<std::string> suspects;
};

struct ConfirmSetting {
  std::filesystem::path untuned_om;
  std::filesystem::path scratch_directory;  ///< for the oms under test
  const ConfirmPolicy& policy;
  std::function<bool()> is_stopped;
  Deadline deadline = {};  ///< a round that would not end before it is not begun, but the first
};

/// By loads of both: what two loads of the same om differ by is no verdict. A phase in which others use the caches may last as
/// long as the whole measurement, and favours what needs less of them (untuned and tuned EfficientNet-B0 were 6.7 and 5.9 ms in one
/// minute, 5.5 and 5.2 in another): a gain is what the machine's calmest moments show as well, and no more than they show.
Comparison compare_models(const ModelTiming& untuned, const ModelTiming& tuned, double margin);

/// Descriptions of those that are slower in `tuned` than in `untuned`, all places together, by a paired verdict.
std::set<std::string> slower_ones(const ModelTiming& untuned, const ModelTiming& tuned,
                                  const std::vector<Placed>& placed, double margin);

/// Goes on until nothing loses or the rounds are used up; the fastest of the rounds counts.
/// `compile_without` makes the om that leaves the demoted as they were. "No": a model did not run,
/// the run was stopped, or the first compilation was cut off.
Result<Confirmation> confirm_in_rounds(
    const ConfirmSetting& setting,
    const std::function<ConfirmAttempt(const std::set<std::string>& demoted)>& compile_without,
    Measurer& measurer);

/// What becomes of the winners of a model that was measured.
enum class Fate {
  kConfirmed,  ///< faster with them, or as fast
  kWaiting,    ///< perhaps faster: the next run measures them again before it searches
  kDemoted,    ///< not faster
};
Fate fate_of(const Comparison& comparison);

/// The untuned om in place of one that is not faster beyond doubt; when it is not, everything of `won` is demoted, and the suspects.
void keep_untuned(Confirmation& confirmation, std::string untuned_om,
                  const std::set<std::string>& won);

/// The bytes of the file of an om with gears.
std::string split_om(const std::string& om, const std::string& model, const Gears& gears);

}  // namespace aoe::tuner
