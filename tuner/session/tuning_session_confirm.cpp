// The end of a session: the whole model, confirmed or remembered, and its om.
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/statistics.h"
#include "runtime/om/om_graph.h"
#include "tuner/session/tuning_session.h"

namespace aoe::tuner {
namespace {

/// Of the time that is left, each measurement of the confirmation.
constexpr double kShareOfConfirmation = 0.35;

std::string digest_of(const std::string& om) {
  return to_hex(runtime::run_digest(runtime::Om::parse(om, nullptr, "the tuned model")));
}

std::vector<std::string> digests_of(const std::set<std::string>& descriptions) {
  std::vector<std::string> digests;
  for (const std::string& each : descriptions) digests.push_back(to_hex(hash128(each)));
  return digests;
}

}  // namespace

ConfirmSetting TuningSession::confirm_setting() const {
  return {.untuned_om = baseline_.om_path,
          .scratch_directory = options_.work_directory,
          .policy = options_.policy.confirm,
          .is_stopped = [this] { return is_stopped(); },
          .deadline = options_.deadline};
}

void TuningSession::confirm() {
  if (options_.deadline.has_passed()) return;
  report(Stage::kConfirm);
  outcome_.used.search_s = seconds_between(search_begin_, options_.now());
  measurer_.set_bounds(
      {.end = options_.deadline, .model_s = kShareOfConfirmation * options_.deadline.left_s()});
  if (confirm_as_remembered() || !measure_baseline_once()) return;
  auto confirmed = confirm_in_rounds(
      confirm_setting(),
      [this](const std::set<std::string>& demoted) { return compile_without(demoted); }, measurer_);
  if (is_stopped() || (!confirmed && options_.deadline.has_passed())) return;
  if (!confirmed)
    throw Error(ExitCode::kFailure, "the tuned model does not run: " + confirmed.error(),
                graph_.name);
  const Fate fate = fate_of(confirmed->comparison);
  // What waits is measured by the next run, and what was cut short is searched on by it.
  std::optional<RememberedModel> measured;
  if (fate != Fate::kWaiting && ended_by_ == RunEnd::kDone)
    measured = {.tuned = digest_of(confirmed->om),
                .demoted = digests_of(confirmed->demoted),
                .keeps_untuned = fate == Fate::kDemoted};
  if (fate != Fate::kConfirmed)
    keep_untuned(*confirmed, baseline_.compilation.om.serialize(), ledger_.won());
  if (fate == Fate::kWaiting)
    ledger_.postpone(confirmed->demoted, confirmed->suspects);
  else
    ledger_.confirm(confirmed->demoted);
  outcome_.model = ModelVerdict{.before_ms = confirmed->untuned_ns / 1e6,
                                .before_interval_ms = {confirmed->untuned_interval_ns.low / 1e6,
                                                       confirmed->untuned_interval_ns.high / 1e6},
                                .paired = confirmed->comparison,
                                .pairs = confirmed->pairs};
  write_om(*confirmed);
  after_confirmation(*confirmed, fate);
  if (measured) remember(*std::move(measured));
}

/// What the banks have makes the om that an earlier run has measured, or nothing but the untuned one: there is nothing new to
/// measure.
bool TuningSession::confirm_as_remembered() {
  if (!remembered_ || is_baseline_measured_) return false;  // it has searched
  std::set<std::string> demoted;
  const std::set<std::string> digests(remembered_->demoted.begin(), remembered_->demoted.end());
  for (const Tunable* tunable : tunables_)
    if (digests.contains(to_hex(tunable->key.digest()))) demoted.insert(tunable->key.description);
  Confirmation confirmed;
  try {
    confirmed.om = compile_without(demoted).om;
  } catch (const compiler::CutOff&) {
    return false;
  }
  const std::string digest = digest_of(confirmed.om);
  if (digest != remembered_->tuned && !(remembered_->keeps_untuned && digest == memory_->untuned()))
    return false;
  logger("tuner")->info("the untuned and the tuned model are those that were measured at {}",
                        remembered_->verdict.measured_utc);
  if (remembered_->keeps_untuned) confirmed.om = baseline_.compilation.om.serialize();
  ledger_.confirm(demoted);
  outcome_.model = remembered_->verdict;
  write_om(confirmed);
  after_confirmation(confirmed, Fate::kConfirmed);
  return true;
}

/// For a run that begins with what the banks have now.
void TuningSession::remember(RememberedModel model) {
  model.verdict = *outcome_.model;
  model.verdict.measured_utc = now_utc();
  model.measure_s = baseline_.measure_s;
  for (const std::vector<double>& step : baseline_.timing.steps_ns)
    model.steps_ns.push_back(median(step));
  memory_->keep(model);
}

void TuningSession::write_om(const Confirmation& confirmed) {
  if (options_.gears.empty())
    write_file_atomically(options_.tuned_om_path, confirmed.om);
  else
    write_file_atomically(options_.tuned_om_path,
                          split_om(confirmed.om, graph_.name, options_.gears));
  outcome_.om_written = true;
}

/// As it lies there, where it does: with gears the file is another one.
void TuningSession::write_untuned() {
  std::error_code status;
  if (options_.gears.empty())
    std::filesystem::rename(baseline_.om_path, options_.tuned_om_path, status);
  if (!options_.gears.empty() || status)
    return write_om({.om = baseline_.compilation.om.serialize()});
  outcome_.om_written = true;
}

}  // namespace aoe::tuner
