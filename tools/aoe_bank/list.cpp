// aoe_bank list: one line per strategy.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/aoe_bank/commands.h"

namespace aoe::tools {
using nlohmann::json;
namespace {

json strategies_json(const bank::StrategySet& set) {
  json list = to_json(set);
  for (std::size_t i = 0; i < set.strategies.size(); ++i)
    if (const std::string stale = stale_reason(set.strategies[i]); !stale.empty())
      list[i]["stale"] = stale;
  return list;
}

void print_as_json(const std::vector<bank::BankEntry>& entries) {
  json list = json::array();
  for (const bank::BankEntry& entry : entries)
    list.push_back({{"repo_key", entry.key.repo_key()},
                    {"soc_version", entry.key.soc_version},
                    {"description", description_json(entry.key)},
                    {"strategies", strategies_json(entry.set)},
                    {"unconfirmed", strategies_json(entry.unconfirmed)}});
  print_json(list);
}

void print_rows(const bank::BankEntry& entry, const bank::StrategySet& set, const char* mark) {
  for (const bank::Strategy& strategy : set.strategies)
    std::printf("%-20s  %-28s  %-34s  %-8s  %-16s  %10.2f  %10.2f  %s%s%s\n",
                entry.key.repo_key().c_str(), op_text(entry.key).c_str(),
                shape_text(entry.key).c_str(), strategy.format.c_str(), strategy.impl.c_str(),
                strategy.measured.time_ns / 1e3, strategy.measured.default_time_ns / 1e3,
                strategy.measured.when_utc.c_str(), mark,
                stale_reason(strategy).empty() ? "" : "  stale");
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

void list_entries(const BankRequest& request) {
  const bank::KnowledgeBank bank = request.open();
  std::vector<bank::BankEntry> entries = bank.entries();
  // The others only say how fast each Format of a task is whose default nothing beats.
  std::erase_if(entries, [](const bank::BankEntry& entry) {
    return !entry.set.has_winner() && !entry.unconfirmed.has_winner();
  });
  if (request.is_json()) return print_as_json(entries);
  print_table(entries);
  std::printf("%zu tasks, %zu measurements in %s\n", entries.size(), bank.record_count(),
              bank.directory().c_str());
}

}  // namespace aoe::tools
