// The models of a run on the nodes of a fleet: several at once, each for every kind of node that there is.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "api/subjects.h"
#include "api/tuning_run.h"

namespace aoe::api {

class ModelsOnNodes {
 public:
  /// Both stay with the caller.
  ModelsOnNodes(const Settings& settings, const std::vector<Subject>& subjects,
                tuner::TimePoint begin, const tuner::Deadline& end, std::stop_token stop)
      : settings_(settings),
        subjects_(subjects),
        begin_(begin),
        end_(end),
        stop_(std::move(stop)) {}

  /// Tunes one model for one kind; calls come from several threads, one at a time. False: no other is begun.
  using TuneOne = std::function<bool(const Settings& of_kind, const Subject&)>;
  /// Starts the nodes, and ends them when all models are through. Throws what starting them throws.
  void run(const TuneOne& tune_one);

 private:
  struct Work {
    Settings settings;
    Subject subject;
  };
  std::vector<Work> work_on(tuner::Fleet& fleet, const std::vector<compiler::Soc>& kinds);
  tuner::Deadline deadline_of(std::size_t index) const;

  const Settings& settings_;
  const std::vector<Subject>& subjects_;
  const tuner::TimePoint begin_;
  const tuner::Deadline end_;
  const std::stop_token stop_;
  std::map<std::string, std::set<std::string>> searched_;  ///< by soc_version
};

}  // namespace aoe::api
