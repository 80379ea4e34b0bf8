// The job of a run: its directory ${WORK_PATH}/aoe_workspace/<model>_<timestamp>, its journal, and
// what `--reload` goes on with.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tuner/session/job_journal.h"
#include "tuner/tuner.h"

namespace aoe::api {

class Job {
 public:
  /// What an interrupted run of the same work has left; `wanted.timestamp` and `wanted.result` do
  /// not matter. `reload`: value of the flag, a directory or its name in the workspace, or empty:
  /// the most recent job of this work, none (and a line on the log) when that has ended.
  /// Throws Error(kUsage) that names `reload` when there is no such job to go on with.
  static std::optional<Job> find(const std::string& reload, const std::filesystem::path& work_path,
                                 const tuner::JobHeader& wanted);

  /// Makes the directories. Error(kOutput).
  static Job create(const std::filesystem::path& work_path, const tuner::JobHeader& header);

  /// Where all jobs are.
  std::filesystem::path workspace() const { return directory_.parent_path(); }

  /// Result, scratch and om ("..._tune<om_suffix>.om"), the journal, and whether it goes on.
  void place(tuner::TuneOptions& tuning, const std::string& om_suffix) const;

 private:
  Job(std::filesystem::path directory, std::unique_ptr<tuner::JobJournal> journal, bool goes_on)
      : directory_(std::move(directory)), journal_(std::move(journal)), goes_on_(goes_on) {}

  std::filesystem::path directory_;
  std::unique_ptr<tuner::JobJournal> journal_;
  bool goes_on_;
};

}  // namespace aoe::api
