// The session: one run over the Tunables of a model, whatever they are. It measures the model as it is, tunes what takes
// the most of it first, within one budget of trials and time, and confirms in the model what was won; the bank, the result
// file and the journal are told on the way.
//
// An order of tuning (operator_session.cpp: OPAT; subgraph_session.cpp: SGAT) says what the Tunables are, how one is
// searched and how what was won is put into the model.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bank/knowledge_bank.h"
#include "compiler/compiler.h"
#include "tuner/measure/calm_measurer.h"
#include "tuner/search/search.h"
#include "tuner/session/baseline.h"
#include "tuner/session/confirmation.h"
#include "tuner/session/job_journal.h"
#include "tuner/session/ledger.h"
#include "tuner/session/model_memory.h"
#include "tuner/session/run.h"
#include "tuner/session/tuning_bank.h"

namespace aoe::tuner {

class TuningSession {
 public:
  TuningSession(const graph::Graph& graph, bank::KnowledgeBank& bank, bank::BankKind kind,
                const bank::StrategySource* built_in, Measurer& measurer,
                const TuneOptions& options);
  virtual ~TuningSession() = default;

  virtual TuneOutcome run();

 protected:
  using Known = std::optional<bank::StrategySet>;

  // ---- what an order of tuning says ----

  virtual compiler::CompileOptions compile_options() const;  ///< of the model as it is
  /// After the baseline; their `model_ns` is set. They stay.
  virtual std::vector<const Tunable*> collect() = 0;
  /// Called once with the Tunables collected; planned trials by description, if there is such a plan.
  virtual std::map<std::string, int> plan() { return {}; }
  virtual int trials_for(const Tunable& tunable) const = 0;
  /// Whether this run decided it before it was interrupted, and nothing has changed since.
  virtual bool settle_as_before(const Tunable&) { return false; }
  /// Whether what a bank has spares the search, when tuning is not repeated.
  virtual bool is_settled_by(const bank::StrategySet& known, const Tunable& tunable) const = 0;
  virtual void on_settled(const Tunable&, const bank::StrategySet&) {}
  enum class Searched { kDecided, kStopped, kElsewhere };
  /// kElsewhere: finish_elsewhere() decides.
  virtual Searched search(const Tunable& tunable, const Known& known) = 0;
  /// Before the Tunables are collected, and behind the last.
  virtual void before_search() {}
  /// Whether another run decides it at this time; finish_elsewhere() comes back to it.
  virtual bool is_of_others(const Tunable&) { return false; }
  virtual void finish_elsewhere() {}
  virtual void after(const Tunable&) {}  ///< whatever became of it
  virtual void after_search() {}
  virtual ConfirmAttempt compile_without(const std::set<std::string>& demoted) = 0;
  /// What comes after the search takes about so long: with a deadline, the search leaves it.
  virtual double closing_s() const { return confirmation_s(); }
  virtual void after_confirmation(const Confirmation&, Fate) {}
  /// Its section of the result file, but for times and the summary; nullptr: has none.
  virtual SectionResult* fill_section(AoeResult& result) = 0;
  virtual double share_left() const = 0;  ///< of the search's work, for estimates
  virtual std::vector<TuningBank*> banks() { return {&bank_}; }

  // ---- what it is given ----

  bool is_stopped() const { return options_.stop.stop_requested(); }
  /// Of the search: of the limit of the search, and of the run less what is to follow.
  const Deadline& search_deadline() const { return search_deadline_; }
  bool is_time_up() const { return search_deadline_.has_passed(); }
  double confirmation_s() const;  ///< what a confirmation takes, about
  ConfirmSetting confirm_setting() const;
  /// A limit has come before everything was done.
  void cut_short(RunEnd limit) { ended_by_ = limit; }
  void note_undecided(const Tunable& tunable, const Known& known, int trials);
  void tune(const Tunable& tunable);
  void note_decided(const Tunable& tunable);
  void journal_spent() const;
  void begin_progress(const Tunable& tunable);
  void show(const SearchResult& so_far);
  void report(Stage stage);
  void write();
  void finish();

  const graph::Graph& graph_;
  CalmMeasurer measurer_;
  const TuneOptions& options_;
  TuningBank bank_;
  const bank::LayeredSource layers_;  ///< the bank over what the product has
  const JobPast past_;
  Baseline baseline_;
  std::optional<StepIndex> untuned_steps_;  ///< set with the baseline
  Ledger ledger_{bank_};
  AoeResult result_;
  TuneOutcome outcome_;
  Progress progress_;

 private:
  bool measure_untuned();
  void recall_baseline();
  bool measure_baseline_once();
  void collect_and_plan();
  void limit_search();
  bool was_searched(const Tunable& tunable) const;
  Known if_valid(Known found, const Tunable& tunable) const;
  Searched search_in_time(const Tunable& tunable, const Known& known);
  void confirm();
  bool confirm_as_remembered();
  void remember(RememberedModel model);
  void write_om(const Confirmation& confirmed);
  void write_untuned();
  double remaining_s() const;
  void fill_result();

  std::optional<ModelMemory> memory_;          ///< set with the baseline
  std::optional<RememberedModel> remembered_;  ///< by an earlier run of this model
  bool is_baseline_measured_ = false;          ///< by this run
  bool is_result_stale_ = false;               ///< the file knows less than the ledger
  TimePoint written_at_;

  const TimePoint begin_;
  TimePoint search_begin_;
  Deadline search_deadline_;
  RunEnd search_limit_ = RunEnd::kSearchLimit;  ///< whose the deadline of the search is
  RunEnd ended_by_ = RunEnd::kDone;
  std::vector<const Tunable*> tunables_;
};

}  // namespace aoe::tuner
