// Banks: the operator or subgraph banks that hold for a soc_version, the custom one over the one
// that ships with the product.
#pragma once

#include <memory>
#include <string>

#include "bank/knowledge_bank.h"
#include "bank/location.h"

namespace aoe::tools {

struct Banks {
  bank::BankLocation location;  ///< of the custom bank: which directory won, and why
  std::unique_ptr<bank::KnowledgeBank> custom;
  std::unique_ptr<bank::KnowledgeBank> built_in;  ///< nullptr: none for this hardware

  /// Custom first; borrows the banks.
  bank::LayeredSource layered() const;
};

/// `flag` is --op_bank_path or --mdl_bank_path, empty when not given. A custom bank that is not
/// there yet is empty. Error(kBank).
Banks open_banks(bank::BankKind kind, bank::BankUse use, const std::string& soc_version,
                 const std::string& flag = {});

}  // namespace aoe::tools
