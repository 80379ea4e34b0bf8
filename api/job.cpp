// Finding, checking and making jobs.
#include "api/job.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/near_names.h"

namespace aoe::api {
namespace fs = std::filesystem;
using tuner::JobHeader;
using tuner::JobJournal;
namespace {

constexpr const char* kWorkspace = "aoe_workspace";

fs::path directory_of(const fs::path& work_path, const JobHeader& header) {
  return work_path / kWorkspace / (header.tuning_name + "_" + header.timestamp);
}

std::vector<std::string> jobs_in(const fs::path& workspace) {
  std::vector<std::string> names;
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(workspace, status))
    if (fs::exists(entry.path() / tuner::kJournalName, status))
      names.push_back(entry.path().filename().string());
  return names;
}

/// Why the job is none of this work; empty when it is.
std::string mismatch(const JobHeader& job, const JobHeader& wanted) {
  if (job.job_type != wanted.job_type)
    return "is a job of --job_type=" + std::to_string(job.job_type);
  if (job.soc_version != wanted.soc_version)
    return "has measured on " + job.soc_version + ", and this is " + wanted.soc_version;
  if (job.model != wanted.model)
    return "is a job of another model (" + job.tuning_name +
           "), or of this one with other flags about the model";
  return {};
}

fs::path named_directory(const std::string& reload, const fs::path& workspace) {
  std::error_code status;
  if (fs::is_directory(reload, status)) return reload;
  if (fs::is_directory(workspace / reload, status)) return workspace / reload;
  const std::string meant = did_you_mean(near_names(reload, jobs_in(workspace)));
  throw Error(ExitCode::kUsage, "there is no such job", "--reload=" + reload,
              meant.empty() ? "jobs are directories in " + workspace.string() : meant);
}

/// The newest one that is of this work.
std::optional<fs::path> most_recent(const fs::path& workspace, const JobHeader& wanted) {
  std::string newest;
  fs::path found;
  for (const std::string& name : jobs_in(workspace)) {
    const auto header = JobJournal::peek(workspace / name);
    if (!header || !mismatch(*header, wanted).empty() || header->timestamp < newest) continue;
    newest = header->timestamp;
    found = workspace / name;
  }
  return newest.empty() ? std::nullopt : std::optional(found);
}

}  // namespace

std::optional<Job> Job::find(const std::string& reload, const fs::path& work_path,
                             const JobHeader& wanted) {
  const fs::path workspace = work_path / kWorkspace;
  if (!reload.empty()) {
    fs::path directory = named_directory(reload, workspace);
    std::unique_ptr<JobJournal> journal = JobJournal::resume(directory);
    const std::string why_not = mismatch(journal->header(), wanted);
    if (!why_not.empty())
      throw Error(ExitCode::kUsage, why_not, "--reload=" + reload, "name a job of this run's work");
    return Job(std::move(directory), std::move(journal), true);
  }
  const auto directory = most_recent(workspace, wanted);
  std::string why_anew = "there is no job of this model in " + workspace.string();
  try {
    if (directory) return Job(*directory, JobJournal::resume(*directory), true);
  } catch (const Error& e) {
    why_anew = e.what();
  }
  logger("aoe")->warn("--reload: {}: tuning starts anew", why_anew);
  return std::nullopt;
}

Job Job::create(const fs::path& work_path, const JobHeader& header) {
  fs::path directory = directory_of(work_path, header);
  std::error_code status;
  fs::create_directories(directory, status);
  if (status)
    throw Error(ExitCode::kOutput, "cannot be created: " + status.message(), directory.string(),
                "set ASCEND_WORK_PATH to a writable place");
  auto journal = JobJournal::create(directory, header);
  return Job(std::move(directory), std::move(journal), false);
}

void Job::place(tuner::TuneOptions& tuning, const std::string& om_suffix) const {
  const JobHeader& header = journal_->header();
  const fs::path tunespace = directory_ / "tunespace";
  tuning.work_directory = tunespace / "scratch";
  tuning.tuned_om_path =
      tunespace / "result" /
      (header.tuning_name + "_" + header.timestamp + "_tune" + om_suffix + ".om");
  tuning.result_path = header.result;
  tuning.journal = journal_.get();
  tuning.reload = goes_on_;
}

}  // namespace aoe::api
