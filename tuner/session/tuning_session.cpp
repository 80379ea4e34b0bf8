// Baseline, one Tunable after the other, confirmation, results.
#include "tuner/session/tuning_session.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/statistics.h"

namespace aoe::tuner {
namespace {

/// The file is written whole each time: not after every task of a model that has thousands. A run that is killed
/// leaves what was known so long ago, or more.
constexpr auto kResultInterval = std::chrono::seconds(1);

/// Of the time that is left: what the measurement of the untuned model may take, and the closing of the run. With little time
/// the search still gets a part of it.
constexpr double kShareOfBaseline = 0.15, kMostForClosing = 0.5;

MeasureBounds bounds_of(const Deadline& end, double share) {
  return {.end = end, .model_s = share * end.left_s()};
}

std::vector<const bank::StrategySource*> layers_of(const TuningBank& bank,
                                                   const bank::StrategySource* built_in) {
  if (built_in == nullptr) return {&bank};
  return {&bank, built_in};
}

}  // namespace

TuningSession::TuningSession(const graph::Graph& graph, bank::KnowledgeBank& bank,
                             bank::BankKind kind, const bank::StrategySource* built_in,
                             Measurer& measurer, const TuneOptions& options)
    : graph_(graph),
      measurer_(measurer, options.policy.measure, options.stop),
      options_(options),
      bank_(bank, kind, options.result_path),
      layers_(layers_of(bank_, built_in)),
      past_(options.journal != nullptr ? options.journal->past() : JobPast{}),
      begin_(options.begin.value_or(options.now()) - seconds(past_.seconds)),
      search_begin_(begin_) {
  result_.tuning_name = options.tuning_name;
  result_.soc_version = options.soc.version;
  result_.threads = options.soc.threads;
  for (const GearValues& gear : options.gears.values) result_.gears.push_back(gear_text(gear));
  measurer_.set_on_wait([this](const std::string& reason) {
    progress_.waiting = reason;
    report(progress_.stage);
  });
}

compiler::CompileOptions TuningSession::compile_options() const {
  compiler::CompileOptions options;
  options.soc = options_.soc;
  options.compile_threads = options_.compile_threads;
  options.is_cut_off = [this] { return is_stopped() || options_.deadline.has_passed(); };
  return options;
}

TuneOutcome TuningSession::run() {
  outcome_.trials = past_.trials;
  write();
  if (!is_stopped() && measure_untuned()) {
    before_search();
    collect_and_plan();
    for (const Tunable* tunable : tunables_) {
      if (is_stopped()) break;
      tune(*tunable);
    }
    if (!is_stopped()) finish_elsewhere();
    progress_.not_searched = ledger_.summary().not_searched;
    if (!is_stopped()) after_search();
    if (!is_stopped()) confirm();
  }
  if (!is_stopped() && !outcome_.om_written) {
    logger("tuner")->warn(
        "the time was up before the model could be measured: its om is untuned{}",
        outcome_.trials > 0 ? ", and what was won waits in the bank for the next run" : "");
    cut_short(RunEnd::kTimeLimit);
    write_untuned();
  }
  if (is_stopped() && !outcome_.om_written) ended_by_ = RunEnd::kStopped;
  outcome_.ended_by = ended_by_;
  result_.ended_by = ended_by_;
  finish();
  return std::move(outcome_);
}

/// False: it could not be.
bool TuningSession::measure_untuned() {
  report(Stage::kBaseline);
  compiler::CompileOptions compile = compile_options();
  compile.is_cut_off = [this] { return is_stopped(); };  // it must be there to be written
  try {
    baseline_ = compile_baseline(graph_, compile, options_);
  } catch (const compiler::CutOff&) {
    return false;
  }
  outcome_.used.compile_s = baseline_.compile_s;
  untuned_steps_.emplace(graph_, baseline_.compilation.steps);
  measurer_.set_bounds(bounds_of(options_.deadline, kShareOfBaseline));
  if (is_stopped() || options_.deadline.has_passed()) return false;
  memory_.emplace(bank_, options_, baseline_.compilation.om);
  recall_baseline();
  return remembered_ || measure_baseline_once();
}

/// What an earlier run knows spares this one the measurement until there is something to compare.
void TuningSession::recall_baseline() {
  if (options_.repeat_tune || options_.fleet != nullptr || past_.seconds > 0) return;
  remembered_ = memory_->recall(baseline_.compilation.steps.size());
  if (!remembered_) return;
  baseline_.timing = {.samples_ns = {remembered_->verdict.before_ms * 1e6}, .load_begins = {0}};
  for (const double ns : remembered_->steps_ns) baseline_.timing.steps_ns.push_back({ns});
  baseline_.measure_s = remembered_->measure_s;
  outcome_.baseline_ms = baseline_.median_ms();
}

/// Measures it unless this run has. False: it was stopped or its time is up.
bool TuningSession::measure_baseline_once() {
  if (is_baseline_measured_) return true;
  if (options_.before_measuring) options_.before_measuring();
  if (!measure_baseline(baseline_, graph_, measurer_, options_)) return false;
  outcome_.baseline_ms = baseline_.median_ms();
  return is_baseline_measured_ = true;
}

void TuningSession::collect_and_plan() {
  tunables_ = collect();
  std::ranges::stable_sort(tunables_, std::ranges::greater{}, &Tunable::model_ns);
  outcome_.tasks = progress_.tasks_total = static_cast<int>(tunables_.size());
  search_begin_ = options_.now() - seconds(past_.search_seconds());
  limit_search();
  write();
  const auto planned = plan();
  journal_spent();
  if (options_.journal != nullptr && !past_.seconds_before_search)
    options_.journal->note_plan(planned);
}

// ---- one Tunable ----

void TuningSession::tune(const Tunable& tunable) {
  if (is_of_others(tunable)) return;
  const auto is_settled = [&](const Known& known) {
    if (!known || was_searched(tunable)) return known.has_value();
    return !options_.repeat_tune && is_settled_by(*known, tunable);
  };
  const Known known = if_valid(layers_.find(tunable.key), tunable);
  begin_progress(tunable);
  if (settle_as_before(tunable)) {
    // decided by this run before it was interrupted
  } else if (const Known unconfirmed = if_valid(bank_.find_unconfirmed(tunable.key), tunable);
             is_settled(unconfirmed)) {
    progress_.known = ++outcome_.settled;  // this run's model decides
    ledger_.adopt(tunable, *unconfirmed);
    on_settled(tunable, *unconfirmed);
  } else if (is_settled(known)) {
    progress_.known = ++outcome_.settled;
    ledger_.note_known(tunable, known);
    on_settled(tunable, *known);
  } else if (is_time_up() || trials_for(tunable) == 0 || !measure_baseline_once()) {
    note_undecided(tunable, known, 0);
    return after(tunable);
  } else {
    report(Stage::kSearch);
    const Searched searched = search_in_time(tunable, known);
    if (searched == Searched::kElsewhere) return;
    if (searched == Searched::kStopped && !is_stopped())
      note_undecided(tunable, known, progress_.trials);
    if (searched == Searched::kStopped) return after(tunable);
    if (options_.searched != nullptr) options_.searched->insert(tunable.key.description);
  }
  note_decided(tunable);
}

TuningSession::Searched TuningSession::search_in_time(const Tunable& tunable, const Known& known) {
  try {
    return search(tunable, known);
  } catch (const compiler::CutOff&) {
    return Searched::kStopped;
  }
}

void TuningSession::note_decided(const Tunable& tunable) {
  after(tunable);
  ++progress_.tasks_done;
  is_result_stale_ = true;
  report(Stage::kSearch);
}

/// For a model before this one, in the same session.
bool TuningSession::was_searched(const Tunable& tunable) const {
  return options_.searched != nullptr && options_.searched->contains(tunable.key.description);
}

void TuningSession::note_undecided(const Tunable& tunable, const Known& known, int trials) {
  ledger_.note_undecided(tunable, known, trials);
  cut_short(is_time_up() ? search_limit_ : RunEnd::kTrials);
  is_result_stale_ = true;
}

/// What the banks have, if this program can still build it.
TuningSession::Known TuningSession::if_valid(Known found, const Tunable& tunable) const {
  if (!found || found->strategies.empty()) return std::nullopt;
  return tunable.accepts(found->strategies.front(), options_.soc) ? found : std::nullopt;
}

// ---- limits ----

/// Measurements of a search that has reached its own limit may end; those of a run that has may not.
void TuningSession::limit_search() {
  const Deadline& end = options_.deadline;
  const Deadline by_run =
      end.is_set() ? end.sooner_by(std::min(closing_s(), kMostForClosing * end.left_s())) : end;
  measurer_.set_bounds(bounds_of(by_run, kShareOfBaseline));
  search_deadline_ = by_run;
  search_limit_ = RunEnd::kTimeLimit;
  const double limit_s = options_.policy.search.time_limit_s;
  if (limit_s <= 0 || options_.fleet != nullptr) return;  // which is of the time of nodes
  const Deadline own(search_begin_ + seconds(limit_s), options_.now);
  if (by_run < own) return;
  search_deadline_ = own;
  search_limit_ = RunEnd::kSearchLimit;
}

/// Two models are measured instead of one, and compiled with more to weigh.
double TuningSession::confirmation_s() const {
  return 2 * baseline_.compile_s + 2.5 * baseline_.measure_s;
}

void TuningSession::journal_spent() const {
  if (options_.journal != nullptr)
    options_.journal->set_spent(seconds_between(begin_, options_.now()), outcome_.trials);
}

// ---- results ----

void TuningSession::fill_result() {
  result_.trials = outcome_.trials;
  if (SectionResult* section = fill_section(result_)) {
    if (outcome_.baseline_ms > 0) section->baseline_ms = outcome_.baseline_ms;
    section->model = outcome_.model;
    section->summary = ledger_.summary();
  }
}

void TuningSession::write() {
  fill_result();
  write_result(result_, options_.result_path);
  is_result_stale_ = false;
  written_at_ = options_.now();
}

void TuningSession::finish() {
  ledger_.flush();
  fill_result();  // says which operators failed, too
  outcome_.not_searched = ledger_.summary().not_searched;
  if (outcome_.om_written && !outcome_.failed_ops.empty())
    result_.state = TuningState::kFailed;
  else if (outcome_.om_written && ended_by_ == RunEnd::kDone)
    result_.state = TuningState::kSuccessful;
  outcome_.state = result_.state;
  outcome_.gains = ledger_.gains();
  outcome_.fates = ledger_.fates();
  outcome_.used.elapsed_s = seconds_between(begin_, options_.now());
  outcome_.used.waited_s = measurer_.waited_s();
  result_.tuning_time_s = outcome_.used.elapsed_s;
  write();
  for (TuningBank* bank : banks())
    if (auto rescued = bank->finish()) outcome_.rescued.push_back(std::move(*rescued));
  if (options_.journal != nullptr && result_.state != TuningState::kIncomplete) {
    journal_spent();
    options_.journal->note_end(text(result_.state));
  }
  report(Stage::kDone);
}

// ---- progress ----

void TuningSession::begin_progress(const Tunable& tunable) {
  progress_.op_name = tunable.first_node();
  progress_.op_type = tunable.type_text();
  progress_.shape = tunable.shape_text();
  progress_.default_ns = progress_.best_ns = 0;
  progress_.trials = 0;
}

void TuningSession::show(const SearchResult& so_far) {
  progress_.trials = static_cast<int>(so_far.trials.size());
  if (!so_far.trials.empty() && so_far.default_trial().timing.ok())
    progress_.default_ns = so_far.default_trial().timing.median_ns();
  if (const Trial* best = so_far.best()) progress_.best_ns = best->timing.median_ns();
  report(Stage::kSearch);
}

void TuningSession::report(Stage stage) {
  if (is_result_stale_ && options_.now() - written_at_ >= kResultInterval) write();
  progress_.stage = stage;
  if (!options_.on_progress) return;
  progress_.elapsed_s = seconds_between(begin_, options_.now());
  if (options_.deadline.is_set()) progress_.limit_left_s = options_.deadline.left_s();
  progress_.remaining_s = stage == Stage::kSearch ? remaining_s() : 0;
  options_.on_progress(progress_);
}

/// From the pace so far; not beyond the time limit.
double TuningSession::remaining_s() const {
  const double left = share_left();
  if (left >= 1) return 0;
  const double rest_s = seconds_between(search_begin_, options_.now()) * left / (1 - left);
  return std::min(rest_s, search_deadline_.left_s());
}

}  // namespace aoe::tuner
