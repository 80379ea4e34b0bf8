// The journal of a job, one tuning run of one model: how far it came, so that a run that was
// interrupted, by whatever, goes on as if it had not been.
//
// <job directory>/job.jsonl, one JSON value a line, appended as things happen:
//   {"job": {...}}                       what is tuned, and where the result goes
//   {"plan": {DESCRIPTION: trials}}      of operator tuning, by task
//   {"task": DESCRIPTION, "records": []} measurements of a search
//   {"task": DESCRIPTION, "verdict": {}} a task that was decided
//   {"ended": "tuning successful"}       nothing is left to go on with
//   {}                                   subgraph tuning, whose measurements the bank has
// every line with the seconds and trials the job has taken so far ("s", "trials"). Lines are
// written before the bank is: deciding a task again from its line changes nothing. A last line that
// was cut off counts as not written. The journal is for this machine: it survives the end of the
// process, not of the power.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bank/knowledge_bank.h"
#include "base/descriptor.h"
#include "tuner/session/conclusion.h"

namespace aoe::tuner {

struct JobHeader {
  std::string tuning_name;
  int job_type = 0;
  std::string model;  ///< digest of the model's bytes and of how it is imported
  std::string soc_version;
  std::string timestamp;  ///< of the first start; stands in the names of its files
  std::string result;     ///< path of the result file
};

/// A task as it was decided, without what was committed with it.
struct DecidedTask {
  Conclusion conclusion;  ///< without `race_records`
  std::optional<bank::StrategySet> before;
};

/// What the journal had when it was opened.
struct JobPast {
  std::map<std::string, int> plan;  ///< trials by description
  std::map<std::string, std::vector<bank::Record>> records;
  std::map<std::string, DecidedTask> decided;
  std::int64_t trials = 0;
  double seconds = 0;
  std::optional<double> seconds_before_search;  ///< nothing: it had not begun

  double search_seconds() const {
    return seconds_before_search ? seconds - *seconds_before_search : 0;
  }
};

inline constexpr const char* kJournalName = "job.jsonl";

/// Not thread-safe. Holds a lock on the file: one process works on a job.
class JobJournal {
 public:
  /// Throws Error(kOutput).
  static std::unique_ptr<JobJournal> create(const std::filesystem::path& directory,
                                            const JobHeader& header);

  /// Throws Error(kUsage) that names the directory: no job, damaged, ended, or being worked on.
  static std::unique_ptr<JobJournal> resume(const std::filesystem::path& directory);

  /// What a journal is about, whoever works on it; nothing when there is none that can be read.
  static std::optional<JobHeader> peek(const std::filesystem::path& directory);

  ~JobJournal();
  JobJournal(const JobJournal&) = delete;
  JobJournal& operator=(const JobJournal&) = delete;

  const JobHeader& header() const { return header_; }
  const JobPast& past() const { return past_; }

  /// What the job has taken until now; goes into the lines to come.
  void set_spent(double seconds, std::int64_t trials);
  /// The search begins; of subgraphs without a plan.
  void note_plan(const std::map<std::string, int>& trials);
  void note_records(const bank::TaskKey& key, const std::vector<bank::Record>& records);
  void note_conclusion(const bank::TaskKey& key, const Conclusion& conclusion,
                       const std::optional<bank::StrategySet>& before);
  void note_spent();
  void note_end(const std::string& state);

 private:
  JobJournal(Descriptor file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}
  void append(nlohmann::json line);
  void read();
  void take(const nlohmann::json& line);

  Descriptor file_;
  std::filesystem::path path_;
  JobHeader header_;
  JobPast past_;
  std::optional<std::string> ended_;
  double seconds_ = 0;
  std::int64_t trials_ = 0;
};

}  // namespace aoe::tuner
