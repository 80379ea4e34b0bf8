// aoe_bank list: one line per strategy.
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/aoe_bank/commands.h"

namespace aoe::tools {
using nlohmann::json;
namespace {

void print_json(const std::vector<bank::BankEntry>& entries) {
  json list = json::array();
  for (const bank::BankEntry& entry : entries)
    list.push_back({{"repo_key", entry.key.repo_key()},
                    {"soc_version", entry.key.soc_version},
                    {"description", description_json(entry.key)},
                    {"strategies", to_json(entry.set)},
                    {"unconfirmed", to_json(entry.unconfirmed)}});
  std::cout << list.dump(2) << '\n';
}

void print_rows(const bank::BankEntry& entry, const bank::StrategySet& set, const char* mark) {
  for (const bank::Strategy& strategy : set.strategies)
    std::printf("%-20s  %-28s  %-34s  %-8s  %-16s  %10.2f  %10.2f  %s%s\n",
                entry.key.repo_key().c_str(), op_text(entry.key).c_str(),
                shape_text(entry.key).c_str(), strategy.format.c_str(), strategy.impl.c_str(),
                strategy.measured.time_ns / 1e3, strategy.measured.default_time_ns / 1e3,
                strategy.measured.when_utc.c_str(), mark);
}

void print_table(const std::vector<bank::BankEntry>& entries) {
  std::printf("%-20s  %-28s  %-34s  %-8s  %-16s  %10s  %10s  %s\n", "repo_key", "op", "inputs",
              "format", "impl", "time us", "default us", "won");
  for (const bank::BankEntry& entry : entries) {
    print_rows(entry, entry.set, "");
    print_rows(entry, entry.unconfirmed, "  unconfirmed");
  }
}

}  // namespace

void list_entries(const bank::KnowledgeBank& bank, const BankQuery& query) {
  std::vector<bank::BankEntry> entries = bank.entries();
  // The others only say how fast each Format of a task is whose default nothing beats.
  std::erase_if(entries, [](const bank::BankEntry& entry) {
    return !entry.set.has_winner() && !entry.unconfirmed.has_winner();
  });
  if (query.json) return print_json(entries);
  print_table(entries);
  std::printf("%zu tasks, %zu measurements in %s\n", entries.size(), bank.record_count(),
              bank.directory().c_str());
}

}  // namespace aoe::tools
