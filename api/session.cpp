// Copies what the caller gives, and runs one model after the other.
#include "api/session.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "api/failure.h"
#include "api/models_on_nodes.h"
#include "base/log.h"
#include "base/measuring_notice.h"
#include "base/stop_scope.h"
#include "options/flags.h"

namespace aoe::api {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& what,
                       const std::string& advice = {}) {
  throw Error(ExitCode::kUsage, what, where, advice);
}

TensorDesc desc_of(const AoeTensor& tensor, const std::string& where) {
  if (tensor.name == nullptr) fail(where, "has no name");
  if (tensor.dims == nullptr && tensor.dim_count > 0) fail(where, "has no dims");
  const TensorDesc desc{.dtype = static_cast<DataType>(tensor.data_type),
                        .shape = Shape(tensor.dims, tensor.dims + tensor.dim_count),
                        .format = Format::kND,
                        .c0 = 0};
  if (size_bytes(desc.dtype) == 0)
    fail(where, "data_type " + std::to_string(tensor.data_type) + " is unknown",
         "use those of aclDataType");
  for (const std::int64_t dim : desc.shape)
    if (dim < 0) fail(where, "has a size below 0", "give the sizes that are meant");
  return desc;
}

GivenInput input_of(const AoeTensor& tensor, const std::string& where) {
  GivenInput input{.desc = desc_of(tensor, where)};
  if (tensor.data == nullptr) return input;
  auto value = std::make_shared<Constant>(input.desc);
  if (value->size_bytes() != tensor.size)
    fail(where, "has " + std::to_string(tensor.size) + " bytes, and " + to_string(input.desc) +
                    " takes " + std::to_string(value->size_bytes()));
  std::memcpy(value->mutable_data(), tensor.data, tensor.size);
  input.value = std::move(value);
  return input;
}

/// Reports stand; this is what the caller is told.
void complain(const std::string& model, const tuner::TuneOutcome& outcome) {
  switch (outcome.state) {
    case tuner::TuningState::kSuccessful:
      return;
    case tuner::TuningState::kFailed:
      throw Failure(AOE_FAILURE,
                    "tuning failed for " + std::to_string(outcome.failed_ops.size()) + " ops",
                    model, "the result lists them");
    case tuner::TuningState::kIncomplete:
      if (outcome.ended_by != tuner::RunEnd::kStopped) return;  // the limit was the caller's own
      break;
  }
  throw Failure(AOE_FAILURE, "tuning was stopped before the end", model,
                "what was won is in the bank, unconfirmed; the option reload goes on");
}

/// There is no report: nothing is known of the model.
[[noreturn]] void complain_of_early_stop(const std::string& model) {
  throw Failure(AOE_FAILURE, "tuning was stopped before anything was measured", model);
}

/// Of what went wrong with some of several models the caller is told the first; each was logged.
Error first_of(const std::vector<ModelFailure>& failures, std::size_t models) {
  const ModelFailure& first = failures.front();
  return Error(first.code, std::to_string(failures.size()) + " of " + std::to_string(models) +
                               " models failed; " + first.name + ": " + first.text);
}

}  // namespace

void Session::set_graph(const AoeGraph& graph) {
  if (graph_)
    throw Failure(AOE_ERROR_REPEAT_GRAPH, "the session has a model", "AoeSetTuningGraph()",
                  "create another session");
  if (graph.path == nullptr && graph.data == nullptr)
    fail("AoeSetTuningGraph()", "neither path nor data is given");
  if (graph.data == nullptr && graph.size > 0) fail("AoeSetTuningGraph()", "size without data");
  GivenGraph given{.path = graph.path == nullptr ? "" : graph.path,
                   .name = graph.name == nullptr ? "" : graph.name};
  if (graph.data != nullptr)
    given.bytes =
        std::make_shared<const std::string>(static_cast<const char*>(graph.data), graph.size);
  graph_ = std::move(given);
}

void Session::set_inputs(const AoeTensor* inputs, std::size_t count) {
  if (inputs == nullptr && count > 0) fail("AoeSetTuningGraphInput()", "inputs is a null pointer");
  GivenInputs given;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string where = "inputs[" + std::to_string(i) + "]";
    GivenInput input = input_of(inputs[i], where);
    if (!given.emplace(inputs[i].name, std::move(input)).second)
      fail(where, "'" + std::string(inputs[i].name) + "' is given twice");
  }
  inputs_ = std::move(given);
}

void Session::set_progress(AoeProgressCallback callback, void* user) {
  on_progress_ = callback;
  progress_user_ = user;
}

void Session::begin() {
  stop_ = {};
}

void Session::tune(const OptionList& options, const OptionList& defaults) {
  const tuner::TimePoint start = std::chrono::steady_clock::now();
  results_.clear();
  reports_.clear();
  failures_.clear();
  failed_.reset();
  has_tasks_ = was_stopped_ = false;
  models_begun_ = 0;
  const auto values = parse_options(options, defaults);
  if (const std::string level = options::text_of(values, "log"); !level.empty())
    if (!set_log_level(level)) fail("log", "unknown level '" + level + "'");
  const Settings settings = read_settings(values, graph_.has_value());
  const tuner::Deadline end = settings.time_limit_s
                                  ? tuner::Deadline(start + tuner::seconds(*settings.time_limit_s))
                                  : tuner::Deadline();
  const std::vector<Subject> subjects = [&] {
    const StopScope scope(stop_.get_token());
    try {
      return subjects_of(settings, graph_, inputs_);
    } catch (const Error& e) {
      if (e.code() == ExitCode::kInterrupted) complain_of_early_stop({});
      throw;
    }
  }();
  models_total_ = static_cast<std::int32_t>(subjects.size());
  if (settings.max_trials > 0 && settings.max_trials < models_total_)
    fail("--trials", "are fewer than the models, which are " + std::to_string(models_total_));
  if (settings.workers.empty())
    tune_in_turn(settings, subjects, start, end);
  else
    tune_on_nodes(settings, subjects, start, end);
  conclude();
}

void Session::tune_in_turn(const Settings& settings, const std::vector<Subject>& subjects,
                           tuner::TimePoint begin, const tuner::Deadline& end) {
  const MeasuringNotice notice(*logger("aoe"));
  const auto models_left = [&](std::size_t i) {
    return static_cast<std::int64_t>(subjects.size() - i);
  };
  std::int64_t trials_left = settings.max_trials;
  std::set<std::string> searched;
  for (std::size_t i = 0; i < subjects.size() && !was_stopped_; ++i) {
    const double share_s = end.left_s() / static_cast<double>(models_left(i));
    Settings of_model = settings;
    of_model.tuning.stop = stop_.get_token();
    of_model.tuning.deadline = tuner::Deadline::in(share_s);
    of_model.tuning.begin = begin;
    of_model.tuning.max_trials = (trials_left + models_left(i) - 1) / models_left(i);
    of_model.tuning.searched = &searched;
    ++models_begun_;
    const std::int64_t trials = tune_one_of(of_model, subjects[i]);
    if (trials_left > 0)  // what a model leaves is the others'; each has one at least
      trials_left = std::max(models_left(i + 1), trials_left - trials);
    begin = std::chrono::steady_clock::now();
  }
}

void Session::tune_on_nodes(const Settings& settings, const std::vector<Subject>& subjects,
                            tuner::TimePoint begin, const tuner::Deadline& end) {
  ModelsOnNodes models(settings, subjects, begin, end, stop_.get_token());
  models.run([&](const Settings& of_kind, const Subject& subject) {
    models_begun_ = of_kind.tuning.fleet_index + 1;
    tune_one_of(of_kind, subject);
    return !was_stopped_;
  });
}

void Session::conclude() const {
  if (failed_ && failed_->second.ended_by == tuner::RunEnd::kStopped)
    complain(failed_->first, failed_->second);
  if (!failures_.empty()) throw first_of(failures_, static_cast<std::size_t>(models_total_));
  if (failed_) complain(failed_->first, failed_->second);
  if (!has_tasks_)
    throw Failure(AOE_ERROR_NON_OPTIMIZE_GRAPH,
                  "nothing in the model can be tuned; it is compiled");
}

std::int64_t Session::tune_one_of(const Settings& settings, const Subject& subject) {
  try {
    if (subject.unreadable) throw Error(*subject.unreadable);
    tuner::TuneOutcome outcome = tune_one(settings, subject);
    const std::int64_t trials = outcome.trials;
    has_tasks_ |= outcome.tasks > 0 || outcome.ended_by != tuner::RunEnd::kDone;
    was_stopped_ |= outcome.ended_by == tuner::RunEnd::kStopped;
    if (was_stopped_ || (!failed_ && outcome.state == tuner::TuningState::kFailed))
      failed_.emplace(subject.name, std::move(outcome));
    return trials;
  } catch (const Error& e) {
    if (e.code() == ExitCode::kInterrupted) complain_of_early_stop(subject.name);
    if (!are_many(settings)) throw;
    logger("aoe")->error("model {} ({} of {}): {}", subject.name, models_begun_, models_total_,
                         e.what());
    failures_.push_back({.name = subject.name, .code = e.code(), .text = e.what()});
    write_results(settings);
    return 0;
  }
}

tuner::TuneOutcome Session::tune_one(Settings settings, const Subject& subject) {
  tuner::TuneOptions& tuning = settings.tuning;
  const std::string name = subject.name + subject.variant;
  const std::int32_t index = tuning.fleet == nullptr ? models_begun_ : tuning.fleet_index + 1;
  if (on_progress_ != nullptr)
    tuning.on_progress = [&](const tuner::Progress& progress) {
      report_progress(name, index, progress);
    };
  RunReport report = tune_subject(settings, subject);
  results_.push_back(std::make_unique<ResultView>(report));
  reports_.push_back(result_json(report, settings));
  write_results(settings);
  if (!report.outcome.rescued.empty())
    throw bank_error(report.outcome.rescued, settings.tuning.soc.version);
  return std::move(report.outcome);
}

void Session::write_results(const Settings& settings) const {
  if (!settings.result_file.empty()) write_result_file(settings.result_file, reports_, failures_);
}

void Session::report_progress(const std::string& name, std::int32_t index,
                              const tuner::Progress& progress) const {
  const AoeProgress shown{.stage = static_cast<int32_t>(progress.stage),
                          .tasks_done = progress.tasks_done,
                          .tasks_total = progress.tasks_total,
                          .trials = progress.trials,
                          .tuning_name = name.c_str(),
                          .op_name = progress.op_name.c_str(),
                          .op_type = progress.op_type.c_str(),
                          .shape = progress.shape.c_str(),
                          .default_ns = progress.default_ns,
                          .best_ns = progress.best_ns,
                          .elapsed_s = progress.elapsed_s,
                          .remaining_s = progress.remaining_s,
                          .limit_left_s = progress.limit_left_s,
                          .waiting = progress.waiting.c_str(),
                          .known_tasks = progress.known,
                          .not_searched = progress.not_searched,
                          .model_index = index,
                          .model_count = models_total_};
  on_progress_(id_, &shown, progress_user_);
}

void Session::stop() {
  stop_.request_stop();
}

const AoeTuningResult& Session::result(std::size_t index) const {
  if (index >= results_.size())
    fail("AoeGetTuningResult()", "there is no result " + std::to_string(index),
         "ask AoeGetTuningResultCount()");
  return results_[index]->get();
}

static_assert(static_cast<int>(tuner::Stage::kBaseline) == AOE_STAGE_BASELINE &&
              static_cast<int>(tuner::Stage::kSearch) == AOE_STAGE_SEARCH &&
              static_cast<int>(tuner::Stage::kConfirm) == AOE_STAGE_CONFIRM &&
              static_cast<int>(tuner::Stage::kDone) == AOE_STAGE_DONE);

}  // namespace aoe::api
