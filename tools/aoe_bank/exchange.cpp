// aoe_bank export and import: a bank as one file (bank/bank_file.h).
#include <algorithm>
#include <cstdio>

#include "bank/bank_file.h"
#include "base/error.h"
#include "tools/aoe_bank/commands.h"

namespace aoe::tools {

void export_bank(const bank::KnowledgeBank& bank, const BankQuery& query) {
  const bank::BankContent content = bank::content_of(bank, query.kind);
  bank::write_bank_file(query.file, content);
  std::printf("%zu tasks, %zu measurements of %s in %s\n", content.entries.size(),
              content.records.size(), bank.directory().c_str(), query.file.c_str());
}

void import_bank(bank::KnowledgeBank& bank, const bank::BankContent& content,
                 const std::string& file) {
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

}  // namespace aoe::tools
