// One session of the library: a model, what it shall be fed with, and what its last run gave. Used by one caller at a time
// (library.h), but for stop().
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "aoe/aoe.h"
#include "api/option_list.h"
#include "api/result_file.h"
#include "api/result_view.h"
#include "api/subjects.h"

namespace aoe::api {

class Session {
 public:
  explicit Session(std::uint64_t id) : id_(id) {}

  /// Failure(AOE_ERROR_REPEAT_GRAPH), Error(kUsage).
  void set_graph(const AoeGraph& graph);
  /// Error(kUsage).
  void set_inputs(const AoeTensor* inputs, std::size_t count);
  void set_progress(AoeProgressCallback callback, void* user);

  /// From now on stop() means the run to come.
  void begin();
  /// Behind begin(). Throws what is wrong with the options and the work, and Failure when a model was not tuned to the end.
  void tune(const OptionList& options, const OptionList& defaults);
  /// From any thread.
  void stop();

  std::size_t result_count() const { return results_.size(); }
  /// Error(kUsage).
  const AoeTuningResult& result(std::size_t index) const;

 private:
  void tune_in_turn(const Settings& settings, const std::vector<Subject>& subjects,
                    tuner::TimePoint begin, const tuner::Deadline& end);
  void tune_on_nodes(const Settings& settings, const std::vector<Subject>& subjects,
                     tuner::TimePoint begin, const tuner::Deadline& end);
  /// Notes how it ended; what is wrong with one of several is in `failures_`. Trials that it made.
  std::int64_t tune_one_of(const Settings& settings, const Subject& subject);
  tuner::TuneOutcome tune_one(Settings settings, const Subject& subject);
  void conclude() const;
  void write_results(const Settings& settings) const;
  void report_progress(const std::string& name, std::int32_t index,
                       const tuner::Progress& progress) const;

  const std::uint64_t id_;
  std::optional<GivenGraph> graph_;
  GivenInputs inputs_;
  AoeProgressCallback on_progress_ = nullptr;
  void* progress_user_ = nullptr;
  std::vector<std::unique_ptr<ResultView>> results_;
  std::vector<nlohmann::ordered_json> reports_;  ///< of the option result
  std::vector<ModelFailure> failures_;
  /// Not to its end: the one that was stopped, else the first.
  std::optional<std::pair<std::string, tuner::TuneOutcome>> failed_;
  bool has_tasks_ = false, was_stopped_ = false;
  std::int32_t models_begun_ = 0, models_total_ = 0;
  std::stop_source stop_;  ///< of the run at work; written while none is
};

}  // namespace aoe::api
