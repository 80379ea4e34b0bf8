// aoe_bank export, import (bank/bank_file.h), backup, restore and promote: a bank elsewhere, and back.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bank/bank_file.h"
#include "bank/merge_content.h"
#include "base/error.h"
#include "tools/aoe_bank/commands.h"

namespace aoe::tools {

void export_bank(const BankRequest& request) {
  const bank::KnowledgeBank bank = request.open();
  const std::string& file = request.subjects()[0];
  const bank::BankContent content = bank::content_of(bank, request.kind());
  bank::write_bank_file(file, content);
  say(request,
      {{"bank", bank.directory().string()},
       {"file", file},
       {"tasks", content.entries.size()},
       {"measurements", content.records.size()}},
      fmt::format("{} tasks, {} measurements of {} in {}", content.entries.size(),
                  content.records.size(), bank.directory().string(), file));
}

void import_bank(const BankRequest& request) {
  const std::string& file = request.subjects()[0];
  const bank::BankContent content = bank::read_bank_file(file);
  const bank::BankKind kind = request.kind(content.kind);
  if (kind != content.kind)
    throw Error(ExitCode::kBank, "is of the bank of the other --job_type", file);
  bank::KnowledgeBank bank = request.open_to_write(kind);
  if (content.soc_version != bank.soc_version())
    throw Error(ExitCode::kBank,
                "is of soc_version " + content.soc_version + ", not " + bank.soc_version(), file,
                "import it with --soc_version=" + content.soc_version);
  const bank::Commit commit = bank::commit_of(content, bank);
  const auto outcomes = bank.commit(commit);
  const auto count = [&](bank::CommitOutcome outcome) {
    return static_cast<int>(std::ranges::count(outcomes, outcome));
  };
  const int added = count(bank::CommitOutcome::kAdded);
  const int updated = count(bank::CommitOutcome::kUpdated);
  const int kept = count(bank::CommitOutcome::kKept);
  say(request,
      {{"bank", bank.directory().string()},
       {"added", added},
       {"updated", updated},
       {"kept", kept},
       {"new_measurements", commit.records.size()}},
      fmt::format(
          "strategies: {} added, {} updated, {} kept as they were; {} new measurements in {}",
          added, updated, kept, commit.records.size(), bank.directory().string()));
}

namespace {

/// Backups of all banks may lie in one directory.
std::filesystem::path backups_of(const BankRequest& request) {
  return std::filesystem::path(request.subjects()[0]) /
         to_text(bank::BankId{request.kind(), request.soc_version()});
}

}  // namespace

void back_up_bank(const BankRequest& request) {
  const bank::KnowledgeBank bank = request.open();
  bank.back_up(backups_of(request));
  const std::string backups = backups_of(request).string();
  say(request, {{"bank", bank.directory().string()}, {"backups", backups}},
      fmt::format("{} is backed up in {}", bank.directory().string(), backups));
}

void restore_bank(const BankRequest& request) {
  bank::KnowledgeBank bank = request.open_to_write();
  bank.restore(backups_of(request));
  const std::size_t tasks = bank.entries().size(), measurements = bank.record_count();
  say(request,
      {{"bank", bank.directory().string()}, {"tasks", tasks}, {"measurements", measurements}},
      fmt::format("{} is what was backed up: {} tasks, {} measurements", bank.directory().string(),
                  tasks, measurements));
}

void promote_bank(const BankRequest& request) {
  const bank::KnowledgeBank bank = request.open();
  bank::BankContent content = bank::content_of(bank, request.kind());
  content.records.clear();
  std::size_t winners = 0;
  for (bank::FileEntry& each : content.entries) {
    each.entry.unconfirmed = {};
    winners += each.entry.set.has_winner();
  }
  const std::filesystem::path directory = std::filesystem::path(request.subjects()[0]) /
                                          to_text(bank::BankId{content.kind, content.soc_version});
  bank::KnowledgeBank built_in(directory, {.soc_version = content.soc_version});
  built_in.commit(bank::commit_of(content, built_in));
  say(request,
      {{"bank", directory.string()},
       {"tasks", content.entries.size()},
       {"tasks_with_winner", winners}},
      fmt::format("{} tasks, {} of them with a winner, in {}", content.entries.size(), winners,
                  directory.string()));
}

}  // namespace aoe::tools
