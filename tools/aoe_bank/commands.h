// The subcommands of aoe_bank: one function and one row of kCommands (main.cpp) each.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bank/bank_file.h"
#include "bank/knowledge_bank.h"
#include "base/error.h"
#include "tools/common/flags.h"

namespace aoe::tools {

/// What a subcommand was asked, and which bank it is about.
class BankRequest {
 public:
  BankRequest(const po::variables_map& flags, std::vector<std::string> subjects);

  /// The words behind the command: as many as its row asks for.
  const std::vector<std::string>& subjects() const { return subjects_; }
  const po::variables_map& flags() const { return flags_; }
  bool is_json() const { return is_json_; }
  bool has(const char* flag) const { return flags_.contains(flag); }

  /// --job_type; without it `fallback`, or as the directory of --bank is named.
  bank::BankKind kind(bank::BankKind fallback = bank::BankKind::kOp) const;
  /// --soc_version; for auto what the bank of --bank says of itself, else this machine. Asked only by what needs it:
  /// merging banks needs no processor that aoe runs on.
  const std::string& soc_version() const;
  /// Of the bank that the flags and variables name. Error(kBank): --bank names nothing that is there.
  std::filesystem::path directory(bank::BankUse use, bank::BankKind kind) const;
  bank::KnowledgeBank open() const;
  bank::KnowledgeBank open_to_write() const { return open_to_write(kind()); }
  bank::KnowledgeBank open_to_write(bank::BankKind kind) const;

 private:
  const po::variables_map& flags_;
  std::vector<std::string> subjects_;
  mutable std::string soc_version_;  ///< empty: not asked for yet
  bool is_json_ = false;
};

// Each prints to stdout, and throws Error(kUsage) when the request names nothing that is there.
// list.cpp, show.cpp, stats.cpp
void list_entries(const BankRequest& request);
void show_entry(const BankRequest& request);
void print_stats(const BankRequest& request);
// explain.cpp
void explain_model(const BankRequest& request);
// exchange.cpp
void export_bank(const BankRequest& request);
void import_bank(const BankRequest& request);
void back_up_bank(const BankRequest& request);
void restore_bank(const BankRequest& request);
void promote_bank(const BankRequest& request);
// merge.cpp
void merge_banks(const BankRequest& request);
void compare_banks(const BankRequest& request);
// remeasure.cpp
/// --remeasure: adds to what is said of the bank. False: a strategy does not hold, and was not removed.
bool remeasure(const BankRequest& request, nlohmann::json& facts, std::string& text);
// upkeep.cpp
ExitCode verify_bank(const BankRequest& request);
void repair_bank(const BankRequest& request);
void prune_bank(const BankRequest& request);
void remove_tasks(const BankRequest& request);
void compact_bank(const BankRequest& request);

/// A task's description for people: "Conv2D+Relu", "1x64x56x56, 64x64x3x3".
std::string op_text(const bank::TaskKey& key);
std::string shape_text(const bank::TaskKey& key);
/// With its measurements where the request wants them.
nlohmann::json entry_json(const bank::KnowledgeBank& bank, const bank::BankEntry& entry,
                          const BankRequest& request);
/// As JSON, else as a text.
nlohmann::json description_json(const bank::TaskKey& key);
/// "oc_vectors=2 ow_block=14"; "-" when empty.
std::string schedule_text(const bank::Schedule& schedule);
/// "NC1HWC0 direct", or the rewrites of a subgraph's plan.
std::string candidate_text(const bank::Strategy& strategy);
/// Why no program of this version uses it: its Impl or rewrite is gone or has another version. Empty: it is used.
std::string stale_reason(const bank::Strategy& strategy);
/// Whatever is printed as JSON: indented, and never half.
void print_json(const nlohmann::json& value);
/// What a command has done: `facts` when the request wants JSON, else the sentence.
void say(const BankRequest& request, const nlohmann::json& facts, const std::string& sentence);

}  // namespace aoe::tools
