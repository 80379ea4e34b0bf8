// Finds and opens banks by the documented priority of paths.
#include "options/banks.h"

#include <algorithm>

#include "options/data_dirs.h"

namespace aoe::options {

bank::LayeredSource Banks::layered() const {
  std::vector<const bank::StrategySource*> sources = {custom.get()};
  if (built_in) sources.push_back(built_in.get());
  return bank::LayeredSource(std::move(sources));
}

std::optional<bank::StrategySet> WitnessedBanks::find(const bank::TaskKey& key) const {
  auto found = banks_.custom->find(key);
  if (found || !banks_.built_in) return found;
  found = banks_.built_in->find(key);
  if (found) {
    const std::lock_guard lock(mutex_);
    from_built_in_.insert(key.repo_key());
  }
  return found;
}

std::string WitnessedBanks::built_in_share(const std::vector<std::string>& hits) const {
  const std::lock_guard lock(mutex_);
  const auto count = std::ranges::count_if(
      hits, [&](const std::string& repo_key) { return from_built_in_.contains(repo_key); });
  if (count == 0) return {};
  return ", " + std::to_string(count) + " of them the built-in bank " +
         banks_.built_in->directory().string();
}

Banks open_banks(bank::BankKind kind, bank::BankUse use, const std::string& soc_version,
                 const std::string& flag) {
  const auto environment = bank::BankEnvironment::from_process(built_in_bank_root());
  Banks banks;
  banks.location = bank::custom_bank_location(kind, use, soc_version, environment, flag);
  banks.custom = std::make_unique<bank::KnowledgeBank>(
      banks.location.directory, bank::BankOptions{.soc_version = soc_version});
  if (const auto built_in = bank::built_in_bank_location(kind, soc_version, environment))
    banks.built_in = std::make_unique<bank::KnowledgeBank>(
        built_in->directory, bank::BankOptions{.soc_version = soc_version, .read_only = true});
  return banks;
}

}  // namespace aoe::options
