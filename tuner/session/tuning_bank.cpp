// This run's view, the backlog of a bank that fails, and its file.
#include "tuner/session/tuning_bank.h"

#include "bank/bank_file.h"
#include "base/error.h"
#include "base/log.h"

namespace aoe::tuner {
namespace fs = std::filesystem;
namespace {

/// A bank that is locked makes each try wait.
constexpr auto kRetryInterval = std::chrono::seconds(60);

fs::path file_beside(const fs::path& result_path, bank::BankKind kind) {
  const char* const name = kind == bank::BankKind::kOp ? "_op_bank.zst" : "_graph_bank.zst";
  return result_path.parent_path() / (result_path.stem().string() + name);
}

/// Reading what may be damaged by now: nothing found is worth less than the run.
template <typename Read>
auto read_or_nothing(const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const Error& e) {
    logger("tuner")->warn("{}; tuning goes on without it", e.what());
    return {};
  }
}

}  // namespace

TuningBank::TuningBank(bank::KnowledgeBank& bank, bank::BankKind kind, const fs::path& result_path)
    : bank_(bank), kind_(kind), file_(file_beside(result_path, kind)) {
}

std::optional<bank::StrategySet> TuningBank::find_own(const bank::TaskKey& key) const {
  const auto own = own_.find(key.description);
  if (own == own_.end() || own->second.strategies.empty()) return std::nullopt;
  return own->second;
}

std::optional<bank::StrategySet> TuningBank::find(const bank::TaskKey& key) const {
  if (own_.contains(key.description)) return find_own(key);
  return read_or_nothing([&] { return bank_.find(key); });
}

std::optional<bank::Roofs> TuningBank::roofs() const {
  return read_or_nothing([&] { return bank_.roofs(); });
}

std::optional<bank::StrategySet> TuningBank::find_unconfirmed(const bank::TaskKey& key) const {
  return read_or_nothing([&] { return bank_.find_unconfirmed(key); });
}

bool TuningBank::has_confirmed(const bank::TaskKey& key) const {
  return read_or_nothing([&] { return bank_.find(key); }).has_value();
}

void TuningBank::adopt(const bank::TaskKey& key, bank::StrategySet set) {
  own_[key.description] = std::move(set);
}

std::vector<bank::Record> TuningBank::records(const bank::TaskKey& key) const {
  return read_or_nothing([&] { return bank_.records(key); });
}

void TuningBank::note(const bank::Commit& commit) {
  for (const bank::TaskKey& key : commit.unconfirmed_withdrawn) own_.erase(key.description);
  for (const bank::TaskKey& key : commit.withdrawn) own_[key.description] = {};
  for (const bank::NewStrategy& added : commit.strategies)
    bank::merge(own_[added.key.description], added);
}

void TuningBank::commit(bank::Commit commit) {
  if (commit.is_empty()) return;
  note(commit);
  backlog_.push_back(std::move(commit));
  const bool is_soon_after =
      !failure_.empty() && std::chrono::steady_clock::now() - failed_at_ < kRetryInterval;
  if (!is_soon_after && try_commit()) return;
  bank::write_bank_file(file_, bank::content_of(backlog_, kind_, bank_.soc_version()));
}

bool TuningBank::try_commit() {
  try {
    while (!backlog_.empty()) {
      bank_.commit(backlog_.front());
      backlog_.erase(backlog_.begin());
    }
  } catch (const Error& e) {
    if (failure_.empty())
      logger("tuner")->warn("{}; tuning goes on, {} has what the bank lacks", e.what(),
                            file_.string());
    failure_ = e.what();
    failed_at_ = std::chrono::steady_clock::now();
    return false;
  }
  if (!failure_.empty()) {
    logger("tuner")->warn("the bank works again and has it all");
    std::error_code ignored;
    fs::remove(file_, ignored);
  }
  failure_.clear();
  return true;
}

std::optional<RescuedBank> TuningBank::finish() {
  if (backlog_.empty() || try_commit()) return std::nullopt;
  bank::write_bank_file(file_, bank::content_of(backlog_, kind_, bank_.soc_version()));
  return RescuedBank{file_, failure_};
}

}  // namespace aoe::tuner
