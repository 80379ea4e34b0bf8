// aoe_bank verify, repair, prune, rm and compact: what keeps a bank whole and small.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "bank/health.h"
#include "base/error.h"
#include "base/utc.h"
#include "tools/aoe_bank/commands.h"

namespace aoe::tools {
using nlohmann::json;
namespace {

std::size_t count_stale(const bank::KnowledgeBank& bank) {
  std::size_t stale = 0;
  for (const bank::BankEntry& entry : bank.entries())
    for (const auto* set : {&entry.set, &entry.unconfirmed})
      for (const bank::Strategy& strategy : set->strategies)
        stale += !stale_reason(strategy).empty();
  return stale;
}

bank::Removal stale_ones() {
  return {
      .strategies = [](const bank::TaskKey&,
                       const bank::Strategy& strategy) { return !stale_reason(strategy).empty(); },
      .records = {}};
}

json health_json(const bank::BankHealth& health, std::size_t stale) {
  json damage = json::array();
  for (const bank::BankDamage& each : health.damage)
    damage.push_back({{"where", each.where.string()}, {"what", each.what}});
  return {{"snapshots", health.snapshots},
          {"tasks", health.entries},
          {"measurements", health.records},
          {"stale_strategies", stale},
          {"damage", damage}};
}

std::string health_text(const std::filesystem::path& directory, const bank::BankHealth& health,
                        std::size_t stale) {
  std::string text;
  for (const bank::BankDamage& each : health.damage)
    text += fmt::format("damaged       {}: {}\n", each.where.string(), each.what);
  return text + fmt::format("{}: {} snapshots, {} tasks, {} measurements, {} stale strategies, {}",
                            directory.string(), health.snapshots, health.entries, health.records,
                            stale, health.damage.empty() ? "no damage" : "damaged");
}

json repair_json(const bank::BankRepair& repaired) {
  json aside = json::array();
  for (const std::filesystem::path& each : repaired.moved_aside) aside.push_back(each.string());
  return {{"moved_aside", aside},
          {"tasks", repaired.entries},
          {"measurements", repaired.records},
          {"lost", repaired.lost}};
}

std::string repair_text(const bank::BankRepair& repaired) {
  std::string text;
  for (const std::filesystem::path& each : repaired.moved_aside)
    text += fmt::format("moved aside   {} (remove it when nothing is missing)\n", each.string());
  for (const std::string& each : repaired.lost) text += fmt::format("lost          {}\n", each);
  return text +
         fmt::format("had back {} tasks and {} measurements", repaired.entries, repaired.records);
}

/// "180", or "0.5": the moment that so many days ago was, as measurements are dated.
std::string moment_before(const std::string& days) {
  char* end = nullptr;
  const double count = std::strtod(days.c_str(), &end);
  if (days.empty() || *end != '\0' || !(count >= 0) || count > 100000)
    reject("--older_than=" + days, "is no number of days", "for instance 180");
  return utc_text(std::chrono::system_clock::now() -
                  std::chrono::duration_cast<std::chrono::seconds>(
                      std::chrono::duration<double, std::ratio<86400>>(count)));
}

json removed_json(const bank::RemovedCount& removed) {
  return {{"strategies", removed.strategies}, {"measurements", removed.records}};
}

std::string removed_text(const bank::RemovedCount& removed, const bank::KnowledgeBank& bank) {
  return fmt::format("removed {} strategies and {} measurements of {}", removed.strategies,
                     removed.records, bank.directory().string());
}

void say_removed(const BankRequest& request, const bank::RemovedCount& removed,
                 const bank::KnowledgeBank& bank) {
  json facts = removed_json(removed);
  facts["bank"] = bank.directory().string();
  say(request, facts, removed_text(removed, bank));
}

}  // namespace

ExitCode verify_bank(const BankRequest& request) {
  const auto directory = request.directory(bank::BankUse::kRead, request.kind());
  bank::BankHealth health = bank::examine(directory);
  json facts = {{"bank", directory.string()}};
  std::string text;
  if (request.has("fix") && !health.damage.empty()) {
    const bank::BankRepair repaired =
        bank::repair(directory, {.soc_version = request.soc_version()});
    facts["repaired"] = repair_json(repaired);
    text += repair_text(repaired) + "\n";
    health = bank::examine(directory);
  }
  std::size_t stale = 0;
  if (health.has_whole_snapshot) {
    const bank::KnowledgeBank bank = request.open();
    stale = count_stale(bank);
  }
  if (request.has("fix") && stale > 0) {
    bank::KnowledgeBank bank = request.open_to_write();
    const bank::RemovedCount removed = bank.remove(stale_ones());
    facts["removed"] = removed_json(removed);
    text += removed_text(removed, bank) + "\n";
    stale = 0;
  }
  const bool holds = !request.has("remeasure") || !health.damage.empty() ||
                     !health.has_whole_snapshot || remeasure(request, facts, text);
  facts.update(health_json(health, stale));
  say(request, facts, text + health_text(directory, health, stale));
  if (!health.damage.empty())
    throw Error(ExitCode::kBank, "bank is damaged", directory.string(),
                "aoe_bank repair keeps what can still be read");
  return holds ? ExitCode::kSuccess : ExitCode::kOutputsDiffer;
}

void repair_bank(const BankRequest& request) {
  const auto directory = request.directory(bank::BankUse::kTune, request.kind());
  if (!std::filesystem::is_directory(directory))
    throw Error(ExitCode::kBank, "there is no bank", directory.string(),
                "name another with --bank, --job_type or --soc_version");
  const bank::BankRepair repaired = bank::repair(directory, {.soc_version = request.soc_version()});
  say(request, repair_json(repaired), repair_text(repaired));
}

void prune_bank(const BankRequest& request) {
  const bool has_age = request.has("older_than");
  const bool is_stale = request.has("stale");
  if (!has_age && !is_stale)
    throw Error(ExitCode::kUsage, "prune needs --stale or --older_than", {}, "see --help");
  const std::string since = has_age ? moment_before(text_of(request.flags(), "older_than")) : "";
  const auto is_dropped = [=](const bank::Strategy& strategy) {
    return (has_age && strategy.measured.when_utc < since) ||
           (is_stale && !stale_reason(strategy).empty());
  };
  bank::Removal removal{
      .strategies = [&](const bank::TaskKey&, const bank::Strategy& s) { return is_dropped(s); },
      .records = {}};
  if (request.has("records"))
    removal.records = [&](const bank::NewRecord& record) {
      return is_dropped(record.record.strategy);
    };
  bank::KnowledgeBank bank = request.open_to_write();
  say_removed(request, bank.remove(removal), bank);
}

void remove_tasks(const BankRequest& request) {
  bank::KnowledgeBank bank = request.open_to_write();
  std::set<Digest128> tasks;
  std::set<std::string> wanted(request.subjects().begin(), request.subjects().end());
  for (const bank::BankEntry& entry : bank.entries())
    if (wanted.erase(entry.key.repo_key()) > 0) tasks.insert(entry.key.digest());
  if (!wanted.empty())
    throw Error(ExitCode::kUsage, "no task has the repo_key '" + *wanted.begin() + "'",
                bank.directory().string(), "aoe_bank list shows those there are");
  const auto removed = bank.remove(
      {.strategies = [&](const bank::TaskKey& key,
                         const bank::Strategy&) { return tasks.contains(key.digest()); },
       .records =
           [&](const bank::NewRecord& record) { return tasks.contains(record.task.digest); }});
  say_removed(request, removed, bank);
}

void compact_bank(const BankRequest& request) {
  bank::KnowledgeBank bank = request.open_to_write();
  bank.compact();
  say(request, {{"bank", bank.directory().string()}},
      fmt::format("compacted {}; older snapshots keep their own tables until the next commits",
                  bank.directory().string()));
}

}  // namespace aoe::tools
