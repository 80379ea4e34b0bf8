// aoe_bank stats: what a bank is made of.
#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/aoe_bank/commands.h"

namespace aoe::tools {
using nlohmann::json;
namespace {

struct Stats {
  std::size_t tasks = 0, with_winner = 0, unconfirmed = 0, strategies = 0, stale = 0;
  std::size_t measurements = 0;
  std::map<std::string, std::size_t> impls;     ///< of the strategies that tasks serve first
  std::map<std::string, std::size_t> statuses;  ///< of measurements
  std::string oldest, newest;                   ///< when strategies were won
  std::uintmax_t bytes = 0;                     ///< tables that snapshots share count once
};

std::uintmax_t bytes_below(const std::filesystem::path& directory) {
  std::map<std::string, std::uintmax_t> files;
  std::error_code status;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, status)) {
    if (!entry.is_regular_file(status)) continue;
    const std::filesystem::path& path = entry.path();
    const bool is_table = path.extension() == ".sst";
    files[is_table ? path.filename().string() : path.string()] = entry.file_size(status);
  }
  std::uintmax_t sum = 0;
  for (const auto& [name, bytes] : files) sum += bytes;
  return sum;
}

void count_entry(const bank::BankEntry& entry, Stats& stats) {
  ++stats.tasks;
  stats.with_winner += entry.set.has_winner();
  stats.unconfirmed += !entry.unconfirmed.strategies.empty();
  stats.strategies += entry.set.strategies.size();
  if (!entry.set.strategies.empty()) ++stats.impls[candidate_text(entry.set.strategies[0])];
  for (const bank::Strategy& strategy : entry.set.strategies) {
    const std::string& when = strategy.measured.when_utc;
    stats.stale += !stale_reason(strategy).empty();
    if (stats.oldest.empty() || when < stats.oldest) stats.oldest = when;
    stats.newest = std::max(stats.newest, when);
  }
}

Stats stats_of(const bank::KnowledgeBank& bank) {
  Stats stats;
  for (const bank::BankEntry& entry : bank.entries()) count_entry(entry, stats);
  for (const bank::NewRecord& record : bank.all_records()) {
    ++stats.statuses[record.record.status];
    ++stats.measurements;
  }
  stats.bytes = bytes_below(bank.directory());
  return stats;
}

void print_counts(const char* title, const std::map<std::string, std::size_t>& counts) {
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, std::size_t>::second);
  for (const auto& [name, count] : sorted) {
    std::printf("%-14s%8zu  %s\n", title, count, name.c_str());
    title = "";
  }
}

}  // namespace

void print_stats(const BankRequest& request) {
  const bank::KnowledgeBank bank = request.open();
  const Stats stats = stats_of(bank);
  if (request.is_json())
    return print_json({{"bank", bank.directory().string()},
                       {"soc_version", bank.soc_version()},
                       {"tasks", stats.tasks},
                       {"tasks_with_winner", stats.with_winner},
                       {"tasks_unconfirmed", stats.unconfirmed},
                       {"strategies", stats.strategies},
                       {"stale_strategies", stats.stale},
                       {"measurements", stats.measurements},
                       {"first_choices", stats.impls},
                       {"measurement_status", stats.statuses},
                       {"oldest_utc", stats.oldest},
                       {"newest_utc", stats.newest},
                       {"bytes", stats.bytes}});
  std::printf("bank          %s\nsoc_version   %s\n", bank.directory().c_str(),
              bank.soc_version().c_str());
  std::printf("tasks         %8zu, %zu with a winner, %zu with something unconfirmed\n",
              stats.tasks, stats.with_winner, stats.unconfirmed);
  std::printf("strategies    %8zu, %zu stale\n", stats.strategies, stats.stale);
  if (!stats.oldest.empty())
    std::printf("won           %s to %s\n", stats.oldest.c_str(), stats.newest.c_str());
  std::printf("measurements  %8zu\n", stats.measurements);
  print_counts("status", stats.statuses);
  print_counts("first choice", stats.impls);
  std::printf("size          %8.1f KiB\n", static_cast<double>(stats.bytes) / 1024);
}

}  // namespace aoe::tools
