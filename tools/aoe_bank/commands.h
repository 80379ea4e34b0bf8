// The subcommands of aoe_bank: one file and one row of kCommands (main.cpp) each.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bank/bank_file.h"
#include "bank/knowledge_bank.h"

namespace aoe::tools {

struct BankQuery {
  std::string repo_key;  ///< show: the task
  std::string file;      ///< export: where to
  bank::BankKind kind = bank::BankKind::kOp;
  bool json = false;     ///< machine-readable output
  bool records = false;  ///< show: every measurement, not the winners alone
};

/// What import adds is said on stdout. Error(kBank).
void import_bank(bank::KnowledgeBank& bank, const bank::BankContent& content,
                 const std::string& file);

/// Print to stdout. Throw Error(kUsage) when the query names nothing that is there.
void list_entries(const bank::KnowledgeBank& bank, const BankQuery& query);
void show_entry(const bank::KnowledgeBank& bank, const BankQuery& query);
void export_bank(const bank::KnowledgeBank& bank, const BankQuery& query);

/// A task's description for people: "Conv2D+Relu", "1x64x56x56, 64x64x3x3".
std::string op_text(const bank::TaskKey& key);
std::string shape_text(const bank::TaskKey& key);
/// As JSON, else as a text.
nlohmann::json description_json(const bank::TaskKey& key);
/// "oc_vectors=2 ow_block=14"; "-" when empty.
std::string schedule_text(const bank::Schedule& schedule);

}  // namespace aoe::tools
