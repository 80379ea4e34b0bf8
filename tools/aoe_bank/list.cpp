// aoe_bank list: one line per strategy.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/aoe_bank/commands.h"
#include "tools/common/terminal_table.h"

namespace aoe::tools {
namespace {

std::string us_text(double time_ns) {
  return fmt::format("{:.2f}", time_ns / 1e3);
}

void add_rows(TerminalTable& table, const bank::BankEntry& entry, const bank::StrategySet& set,
              const char* mark) {
  constexpr std::size_t kDate = 10;
  for (const bank::Strategy& strategy : set.strategies)
    table.row({entry.key.repo_key(), us_text(strategy.measured.time_ns),
               us_text(strategy.measured.default_time_ns), op_text(entry.key),
               shape_text(entry.key), candidate_text(strategy),
               strategy.measured.when_utc.substr(0, kDate) + mark +
                   (stale_reason(strategy).empty() ? "" : "  stale")});
}

/// The key and figures are never cut, so that a key can be copied from any terminal.
void print_table(const std::vector<bank::BankEntry>& entries) {
  TerminalTable table("", {{"repo_key", Align::kRight},
                           {"time us", Align::kRight},
                           {"default us", Align::kRight},
                           {"op"},
                           {"inputs"},
                           {"strategy"},
                           {"won"}});
  for (const bank::BankEntry& entry : entries) {
    add_rows(table, entry, entry.set, "");
    add_rows(table, entry, entry.unconfirmed, " unconfirmed");
  }
  table.print(std::cout);
}

}  // namespace

void list_entries(const BankRequest& request) {
  const bank::KnowledgeBank bank = request.open();
  std::vector<bank::BankEntry> entries = bank.entries();
  // The others only say how fast each Format of a task is whose default nothing beats.
  const std::size_t others = std::erase_if(entries, [&](const bank::BankEntry& entry) {
    return !request.has("all") && !entry.set.has_winner() && !entry.unconfirmed.has_winner();
  });
  if (request.is_json()) {
    nlohmann::json list = nlohmann::json::array();
    for (const bank::BankEntry& entry : entries) list.push_back(entry_json(bank, entry, request));
    return print_json(list);
  }
  print_table(entries);
  const std::string of_others =
      others == 0 ? "" : fmt::format(" and {} whose default nothing beats (--all)", others);
  std::cout << fmt::format("{} tasks{}, {} measurements in {}\n", entries.size(), of_others,
                           bank.record_count(), bank.directory().string());
}

}  // namespace aoe::tools
