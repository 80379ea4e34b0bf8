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

compiler::Neighbours NearBanks::near(const std::vector<bank::TaskKey>& tasks) const {
  compiler::NearFinder finder(tasks);
  for (const bank::KnowledgeBank* bank : {banks_.custom.get(), banks_.built_in.get()})
    if (bank != nullptr)
      bank->visit([&](const bank::BankEntry& entry) { finder.offer(entry.key, entry.set); });
  return finder.take();
}

namespace {

/// How much of "x86_64-znver5-2t" two names share, the number of threads apart.
std::size_t likeness(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

std::optional<std::string> nearest_soc_version(const bank::BankLocation& location,
                                               const std::string& soc_version) {
  std::optional<std::string> nearest;
  std::error_code status;
  for (const auto& beside :
       std::filesystem::directory_iterator(location.directory.parent_path(), status)) {
    const std::string name = beside.path().filename().string();
    if (name == soc_version || !std::filesystem::exists(beside.path() / "BANK", status)) continue;
    // Of two that are as alike the first by name, so that the answer does not depend on the disk's order.
    const auto rank = [&](const std::string& each) { return likeness(each, soc_version); };
    if (!nearest || rank(name) > rank(*nearest) ||
        (rank(name) == rank(*nearest) && name < *nearest))
      nearest = name;
  }
  return nearest;
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
