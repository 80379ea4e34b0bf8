// aoe_bank export, import (bank/bank_file.h), backup, restore and promote: a bank elsewhere, and back.
#include <algorithm>
#include <cstdio>

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
  std::printf("%zu tasks, %zu measurements of %s in %s\n", content.entries.size(),
              content.records.size(), bank.directory().c_str(), file.c_str());
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
  std::printf(
      "strategies: %d added, %d updated, %d kept as they were; %zu new measurements in %s\n",
      count(bank::CommitOutcome::kAdded), count(bank::CommitOutcome::kUpdated),
      count(bank::CommitOutcome::kKept), commit.records.size(), bank.directory().c_str());
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
  std::printf("%s is backed up in %s\n", bank.directory().c_str(), backups_of(request).c_str());
}

void restore_bank(const BankRequest& request) {
  bank::KnowledgeBank bank = request.open_to_write();
  bank.restore(backups_of(request));
  std::printf("%s is what was backed up: %zu tasks, %zu measurements\n", bank.directory().c_str(),
              bank.entries().size(), bank.record_count());
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
  std::printf("%zu tasks, %zu of them with a winner, in %s\n", content.entries.size(), winners,
              directory.c_str());
}

}  // namespace aoe::tools
