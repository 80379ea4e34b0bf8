// Copies what the caller gives, and runs one model after the other.
#include "api/session.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "api/failure.h"
#include "base/log.h"
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
  models_begun_ = 0;
  const auto values = parse_options(options, defaults);
  if (const std::string level = options::text_of(values, "log"); !level.empty())
    if (!set_log_level(level)) fail("log", "unknown level '" + level + "'");
  const Settings settings = read_settings(values, graph_.has_value());
  const tuner::Deadline end = settings.time_limit_s
                                  ? tuner::Deadline(start + tuner::seconds(*settings.time_limit_s))
                                  : tuner::Deadline();
  const std::vector<Subject> subjects = subjects_of(settings, graph_, inputs_);
  const auto models_left = [&](std::size_t i) {
    return static_cast<std::int64_t>(subjects.size() - i);
  };
  std::int64_t trials_left = settings.tuning.max_trials;
  if (trials_left > 0 && trials_left < models_left(0))
    fail("--trials", "are fewer than the models, which are " + std::to_string(models_left(0)));
  bool has_tasks = false;
  std::optional<std::pair<std::string, tuner::TuneOutcome>> failed;  // others are tuned first
  std::set<std::string> searched;
  models_total_ = static_cast<std::int32_t>(subjects.size());
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const std::string& name = subjects[i].name;
    const double share_s = end.left_s() / static_cast<double>(models_left(i));
    const RunHooks hooks{
        .stop = stop_.get_token(),
        .deadline = tuner::Deadline::in(share_s),
        .max_trials = (trials_left + models_left(i) - 1) / models_left(i),
        .searched = &searched,
    };
    ++models_begun_;
    auto outcome = tune_one_of(subjects.size(), settings, subjects[i], hooks);
    if (!outcome) continue;
    if (trials_left > 0)  // what a model leaves is the others'; each has one at least
      trials_left = std::max(models_left(i + 1), trials_left - outcome->trials);
    has_tasks |= outcome->tasks > 0 || outcome->ended_by != tuner::RunEnd::kDone;
    const bool is_stopped = outcome->ended_by == tuner::RunEnd::kStopped;
    if (is_stopped || (!failed && outcome->state == tuner::TuningState::kFailed))
      failed.emplace(name, std::move(*outcome));
    if (is_stopped) break;
  }
  if (failed && failed->second.ended_by == tuner::RunEnd::kStopped)
    complain(failed->first, failed->second);
  if (!failures_.empty()) throw first_of(failures_, subjects.size());
  if (failed) complain(failed->first, failed->second);
  if (!has_tasks)
    throw Failure(AOE_ERROR_NON_OPTIMIZE_GRAPH,
                  "nothing in the model can be tuned; it is compiled");
}

std::optional<tuner::TuneOutcome> Session::tune_one_of(std::size_t count, const Settings& settings,
                                                       const Subject& subject, RunHooks hooks) {
  if (!are_many(settings)) return tune_one(settings, subject, std::move(hooks));
  try {
    if (subject.unreadable) throw Error(*subject.unreadable);
    return tune_one(settings, subject, std::move(hooks));
  } catch (const Error& e) {
    logger("aoe")->error("model {} ({} of {}): {}", subject.name, models_begun_, count, e.what());
    failures_.push_back({.name = subject.name, .code = e.code(), .text = e.what()});
    write_results(settings);
    return std::nullopt;
  }
}

tuner::TuneOutcome Session::tune_one(const Settings& settings, const Subject& subject,
                                     RunHooks hooks) {
  if (on_progress_ != nullptr)
    hooks.on_progress = [&](const tuner::Progress& progress) {
      report_progress(subject.name, progress);
    };
  RunReport report = tune_subject(settings, subject, hooks);
  results_.push_back(std::make_unique<ResultView>(report));
  reports_.push_back(result_json(report, settings));
  write_results(settings);
  if (!report.outcome.rescued.empty()) throw bank_error(report.outcome.rescued);
  return std::move(report.outcome);
}

void Session::write_results(const Settings& settings) const {
  if (!settings.result_file.empty()) write_result_file(settings.result_file, reports_, failures_);
}

void Session::report_progress(const std::string& name, const tuner::Progress& progress) const {
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
                          .model_index = models_begun_,
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
