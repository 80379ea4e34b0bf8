// Baseline, one Tunable after the other, confirmation, results.
#include "tuner/session/tuning_session.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "tuner/measure/statistics.h"

namespace aoe::tuner {
namespace {

/// The file is written whole each time: not after every task of a model that has thousands. A run that is killed
/// leaves what was known so long ago, or more.
constexpr auto kResultInterval = std::chrono::seconds(1);

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::chrono::steady_clock::duration seconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
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
      begin_(Clock::now() - seconds(past_.seconds)),
      search_begin_(begin_) {
  result_.tuning_name = options.tuning_name;
  result_.soc_version = options.soc.version;
  result_.threads = options.soc.threads;
  for (const GearValues& gear : options.gears.values) result_.gears.push_back(gear_text(gear));
}

compiler::CompileOptions TuningSession::compile_options() const {
  compiler::CompileOptions options;
  options.soc = options_.soc;
  options.compile_threads = options_.compile_threads;
  return options;
}

TuneOutcome TuningSession::run() {
  outcome_.trials = past_.trials;
  write();
  if (!is_stopped()) measure_untuned();
  if (!is_stopped()) collect_and_plan();
  for (const Tunable* tunable : tunables_) {
    if (is_stopped()) break;
    tune(*tunable);
  }
  if (!is_stopped()) after_search();
  if (!is_stopped()) confirm();
  finish();
  return std::move(outcome_);
}

void TuningSession::measure_untuned() {
  report(Stage::kBaseline);
  auto baseline = measure_baseline(graph_, compile_options(), measurer_, options_);
  if (!baseline) return;
  baseline_ = std::move(*baseline);
  untuned_steps_.emplace(graph_, baseline_.compilation.steps);
  outcome_.baseline_ms = baseline_.median_ms();
}

void TuningSession::collect_and_plan() {
  tunables_ = collect();
  std::ranges::stable_sort(tunables_, std::ranges::greater{}, &Tunable::model_ns);
  outcome_.tasks = progress_.tasks_total = static_cast<int>(tunables_.size());
  search_begin_ = Clock::now() - seconds(past_.search_seconds());
  write();
  const auto planned = plan();
  journal_spent();
  if (options_.journal != nullptr && !past_.seconds_before_search)
    options_.journal->note_plan(planned);
}

// ---- one Tunable ----

void TuningSession::tune(const Tunable& tunable) {
  begin_progress(tunable);
  report(Stage::kSearch);
  const auto is_settled = [&](const Known& known) {
    return known && !options_.repeat_tune && is_settled_by(*known, tunable);
  };
  const Known known = if_valid(layers_.find(tunable.key), tunable);
  bool is_done = true;
  if (settle_as_before(tunable)) {
    // decided by this run before it was interrupted
  } else if (const Known unconfirmed = if_valid(bank_.find_unconfirmed(tunable.key), tunable);
             is_settled(unconfirmed)) {
    ++outcome_.settled;  // this run's model decides
    ledger_.adopt(tunable, *unconfirmed);
    on_settled(tunable, *unconfirmed);
  } else if (is_settled(known)) {
    ++outcome_.settled;
    ledger_.note_known(tunable, known);
    on_settled(tunable, *known);
  } else if (is_time_up() || trials_for(tunable) == 0) {
    ledger_.note_known(tunable, known);
  } else {
    is_done = search(tunable, known);
  }
  after(tunable);
  if (is_done) ++progress_.tasks_done;
  is_result_stale_ = true;
  report(Stage::kSearch);
}

/// What the banks have, if this program can still build it.
TuningSession::Known TuningSession::if_valid(Known found, const Tunable& tunable) const {
  if (!found || found->strategies.empty()) return std::nullopt;
  return tunable.accepts(found->strategies.front(), options_.soc) ? found : std::nullopt;
}

// ---- limits ----

std::optional<TuningSession::Clock::time_point> TuningSession::deadline() const {
  const double limit_s = options_.policy.search.time_limit_s;
  if (limit_s <= 0) return std::nullopt;
  return search_begin_ + seconds(limit_s);
}

double TuningSession::seconds_left() const {
  return std::max(0.0, options_.policy.search.time_limit_s - seconds_since(search_begin_));
}

void TuningSession::journal_spent() const {
  if (options_.journal != nullptr)
    options_.journal->set_spent(seconds_since(begin_), outcome_.trials);
}

// ---- in the whole model ----

ConfirmSetting TuningSession::confirm_setting() const {
  return {.untuned_om = baseline_.om_path,
          .scratch_directory = options_.work_directory,
          .policy = options_.policy.confirm,
          .is_stopped = [this] { return is_stopped(); }};
}

void TuningSession::confirm() {
  report(Stage::kConfirm);
  auto confirmed = confirm_in_rounds(
      confirm_setting(),
      [this](const std::set<std::string>& demoted) { return compile_without(demoted); }, measurer_);
  if (is_stopped()) return;
  if (!confirmed)
    throw Error(ExitCode::kFailure, "the tuned model does not run: " + confirmed.error(),
                graph_.name);
  const bool keeps = confirmed->comparison.speedup >= 1;
  if (!keeps) keep_untuned(*confirmed, baseline_.compilation.om.serialize(), ledger_.won());
  ledger_.confirm(confirmed->demoted);
  outcome_.baseline_ms = confirmed->untuned_ns / 1e6;
  outcome_.result_ms = confirmed->tuned_ns / 1e6;
  outcome_.verdict = result_.verdict = confirmed->comparison.verdict;
  write_file_atomically(options_.tuned_om_path,
                        om_file_of(*confirmed, graph_.name, options_.gears));
  outcome_.om_written = true;
  after_confirmation(*confirmed, keeps);
}

// ---- results ----

void TuningSession::fill_result() {
  result_.trials = outcome_.trials;
  if (SectionResult* section = fill_section(result_)) {
    if (outcome_.baseline_ms > 0) section->baseline_ms = outcome_.baseline_ms;
    if (outcome_.om_written) section->result_ms = outcome_.result_ms;
    section->summary = ledger_.summary();
  }
}

void TuningSession::write() {
  fill_result();
  write_result(result_, options_.result_path);
  is_result_stale_ = false;
  written_at_ = Clock::now();
}

void TuningSession::finish() {
  ledger_.flush();
  fill_result();  // says which operators failed, too
  if (outcome_.om_written)
    result_.state = outcome_.failed_ops.empty() ? TuningState::kSuccessful : TuningState::kFailed;
  outcome_.state = result_.state;
  outcome_.gains = ledger_.gains();
  result_.tuning_time_s = seconds_since(begin_);
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
  if (is_result_stale_ && Clock::now() - written_at_ >= kResultInterval) write();
  if (!options_.on_progress) return;
  progress_.stage = stage;
  progress_.elapsed_s = seconds_since(begin_);
  progress_.remaining_s = stage == Stage::kSearch ? remaining_s() : 0;
  options_.on_progress(progress_);
}

/// From the pace so far; not beyond the time limit.
double TuningSession::remaining_s() const {
  const double left = share_left();
  if (left >= 1) return 0;
  const double rest_s = seconds_since(search_begin_) * left / (1 - left);
  return deadline() ? std::min(rest_s, seconds_left()) : rest_s;
}

}  // namespace aoe::tuner
