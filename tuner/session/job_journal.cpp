// Appending to and reading of job.jsonl.
#include "tuner/session/job_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/log.h"
#include "tuner/session/conclusion_json.h"

namespace aoe::tuner {
using nlohmann::json;
namespace fs = std::filesystem;
namespace {

constexpr int kVersion = 1;

json to_json(const JobHeader& header) {
  return {{"version", kVersion},
          {"tuning_name", header.tuning_name},
          {"job_type", header.job_type},
          {"model", header.model},
          {"soc_version", header.soc_version},
          {"timestamp", header.timestamp},
          {"result", header.result}};
}

JobHeader header_from_json(const json& j) {
  if (j.at("version") != kVersion) throw std::runtime_error("written by another version of aoe");
  return {.tuning_name = j.at("tuning_name"),
          .job_type = j.at("job_type"),
          .model = j.at("model"),
          .soc_version = j.at("soc_version"),
          .timestamp = j.at("timestamp"),
          .result = j.at("result")};
}

/// What a search recalls of it; features are the bank's.
json to_json(const bank::Record& record) {
  return {{"strategy", bank::to_json(record.strategy)},
          {"status", record.status},
          {"detail", record.detail},
          {"seed", record.seed}};
}

bank::Record record_from_json(const json& j) {
  return {.strategy = bank::strategy_from_json(j.at("strategy")),
          .status = j.at("status"),
          .detail = j.at("detail"),
          .seed = j.at("seed")};
}

json to_json(const Conclusion& conclusion, const std::optional<bank::StrategySet>& before) {
  json j = tuner::to_json(conclusion);
  if (before) j["before"] = bank::to_json(*before);
  return j;
}

DecidedTask decided_from_json(const json& j) {
  DecidedTask task{.conclusion = conclusion_from_json(j), .before = {}};
  if (task.conclusion.decision >= Decision::kStopped)
    throw std::runtime_error("an unknown decision");
  if (j.contains("before")) task.before = bank::strategy_set_from_json(j.at("before"));
  return task;
}

[[noreturn]] void refuse(const fs::path& directory, const std::string& what,
                         const std::string& advice) {
  throw Error(ExitCode::kUsage, what, directory.string(), advice);
}

}  // namespace

std::unique_ptr<JobJournal> JobJournal::create(const fs::path& directory, const JobHeader& header) {
  const fs::path path = directory / kJournalName;
  Descriptor file(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_CLOEXEC, 0644));
  if (!file.is_open())
    throw Error(ExitCode::kOutput, std::string("cannot be written: ") + std::strerror(errno),
                path.string(), "set ASCEND_WORK_PATH to a writable place");
  std::unique_ptr<JobJournal> journal(new JobJournal(std::move(file), path));
  ::flock(journal->file_.number(), LOCK_EX | LOCK_NB);  // nobody else knows of it yet
  journal->header_ = header;
  journal->append({{"job", to_json(header)}});
  return journal;
}

std::unique_ptr<JobJournal> JobJournal::resume(const fs::path& directory) {
  const fs::path path = directory / kJournalName;
  std::error_code status;
  if (!fs::is_directory(directory, status))
    refuse(directory, "there is no such job", "jobs are directories in aoe_workspace");
  Descriptor file(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
  if (!file.is_open())
    refuse(directory,
           std::string("is no job to go on with: ") + kJournalName + ": " + std::strerror(errno),
           "name a directory that an interrupted aoe has left in aoe_workspace");
  std::unique_ptr<JobJournal> journal(new JobJournal(std::move(file), path));
  if (::flock(journal->file_.number(), LOCK_EX | LOCK_NB) != 0)
    refuse(directory, "another process works on this job", "let it end");
  try {
    journal->read();
  } catch (const std::exception& e) {
    refuse(directory, std::string(kJournalName) + " is damaged: " + e.what(), "start anew");
  }
  if (journal->ended_)
    refuse(directory, "the job has ended (" + *journal->ended_ + ")", "run without --reload");
  return journal;
}

std::optional<JobHeader> JobJournal::peek(const fs::path& directory) {
  std::ifstream file(directory / kJournalName);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  try {
    return header_from_json(parse_json(line).at("job"));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

JobJournal::~JobJournal() = default;

void JobJournal::set_spent(double seconds, std::int64_t trials) {
  seconds_ = seconds;
  trials_ = trials;
}

void JobJournal::note_plan(const std::map<std::string, int>& trials) {
  append({{"plan", trials}});
}

void JobJournal::note_records(const bank::TaskKey& key, const std::vector<bank::Record>& records) {
  json list = json::array();
  for (const bank::Record& record : records) list.push_back(to_json(record));
  append({{"task", key.description}, {"records", std::move(list)}});
}

void JobJournal::note_conclusion(const bank::TaskKey& key, const Conclusion& conclusion,
                                 const std::optional<bank::StrategySet>& before) {
  append({{"task", key.description}, {"verdict", to_json(conclusion, before)}});
}

void JobJournal::note_spent() {
  append(json::object());
}

void JobJournal::note_end(const std::string& state) {
  append({{"ended", state}});
}

/// One write a line. A journal that cannot be written costs the repetition of some measurements
/// after an interruption, not the run.
void JobJournal::append(json line) {
  line["s"] = seconds_;
  line["trials"] = trials_;
  const std::string text = json_text(line, -1, BadUtf8::kReplaced) + "\n";
  if (::write(file_.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    logger("tuner")->warn("{}: cannot be written: {}", path_.string(), std::strerror(errno));
}

void JobJournal::read() {
  const std::string text = read_file(path_, ExitCode::kUsage);
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const json line = json_or_discarded(std::string_view(text).substr(begin, end - begin));
    if (begin == 0 && (!line.is_object() || !line.contains("job")))
      throw std::runtime_error("the first line is no job");
    // A line that a full disk cut off runs into the next one; what both said is lost.
    if (line.is_object()) take(line);
  }
  if (begin == 0) throw std::runtime_error("is empty");
  // A line cut off by the end of the process: the next one must not run into it.
  if (begin < text.size() && ::ftruncate(file_.number(), static_cast<off_t>(begin)) != 0)
    throw std::runtime_error(std::strerror(errno));
  past_.seconds = seconds_;
  past_.trials = trials_;
}

void JobJournal::take(const json& line) {
  seconds_ = line.at("s");
  trials_ = line.at("trials");
  if (line.contains("job")) {
    header_ = header_from_json(line["job"]);
  } else if (line.contains("plan")) {
    line["plan"].get_to(past_.plan);
    past_.seconds_before_search = seconds_;
  } else if (line.contains("records")) {
    auto& list = past_.records[line.at("task")];
    for (const json& record : line["records"]) list.push_back(record_from_json(record));
  } else if (line.contains("verdict")) {
    past_.decided.insert_or_assign(line.at("task"), decided_from_json(line["verdict"]));
  } else if (line.contains("ended")) {
    ended_ = line["ended"];
  }
}

}  // namespace aoe::tuner
