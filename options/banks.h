// Banks: the operator or subgraph banks that hold for a soc_version, the custom one over the one
// that ships with the product.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bank/knowledge_bank.h"
#include "bank/location.h"
#include "compiler/lowering/near_strategies.h"

namespace aoe::options {

struct Banks {
  bank::BankLocation location;  ///< of the custom bank: which directory won, and why
  std::unique_ptr<bank::KnowledgeBank> custom;
  std::unique_ptr<bank::KnowledgeBank> built_in;  ///< nullptr: none for this hardware

  /// Custom first; borrows the banks.
  bank::LayeredSource layered() const;
};

/// The banks as one source that remembers what only the built-in one knew. Borrows them.
class WitnessedBanks final : public bank::StrategySource {
 public:
  explicit WitnessedBanks(const Banks& banks) : banks_(banks), layered_(banks.layered()) {}
  std::optional<bank::StrategySet> find(const bank::TaskKey& key) const override;
  std::string description() const override { return layered_.description(); }
  bool is_empty() const override { return layered_.is_empty(); }
  std::optional<bank::Roofs> roofs() const override { return layered_.roofs(); }

  /// ", 3 of them the built-in bank /usr/share/aoe/bank/op/...", given the repo_key of each hit;
  /// empty when the custom bank had them all.
  std::string built_in_share(const std::vector<std::string>& hits) const;

 private:
  const Banks& banks_;
  const bank::LayeredSource layered_;
  mutable std::mutex mutex_;
  mutable std::set<std::string> from_built_in_;  ///< repo_keys
};

/// What the banks know of other shapes. Borrows them.
class NearBanks final : public compiler::NearSource {
 public:
  explicit NearBanks(const Banks& banks) : banks_(banks) {}
  compiler::Neighbours near(const std::vector<bank::TaskKey>& tasks) const override;

 private:
  const Banks& banks_;
};

/// Which soc_version of the banks beside `location` is nearest to `soc_version`; nullopt: there is no bank of another. Of the same
/// processor with another number of threads before another processor of the same kind, before any.
std::optional<std::string> nearest_soc_version(const bank::BankLocation& location,
                                               const std::string& soc_version);

/// `flag` is --op_bank_path or --mdl_bank_path, empty when not given. A custom bank that is not
/// there yet is empty. Error(kBank).
Banks open_banks(bank::BankKind kind, bank::BankUse use, const std::string& soc_version,
                 const std::string& flag = {});

}  // namespace aoe::options
