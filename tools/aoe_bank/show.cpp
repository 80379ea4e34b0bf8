// aoe_bank show: all that the bank knows of one task.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tools/aoe_bank/commands.h"

namespace aoe::tools {
using nlohmann::json;
namespace {

json record_json(const bank::Record& record) {
  return {{"strategy", to_json(record.strategy)},
          {"status", record.status},
          {"detail", record.detail},
          {"seed", record.seed}};
}

void print_provenance(const bank::Provenance& from) {
  if (from.is_empty()) return;
  std::printf("    won       in %s at %s, seed %llu, by aoe %s (LLVM %s, oneDNN %s)\n",
              from.model.c_str(), from.node.c_str(), static_cast<unsigned long long>(from.seed),
              from.engine.c_str(), from.llvm.c_str(), from.onednn.c_str());
  std::printf("    on        %s, microcode %s, %s\n", from.cpu.c_str(), from.microcode.c_str(),
              from.kernel.c_str());
  if (from.won.count > 0)
    std::printf(
        "    samples   %lld with %.2f us between the quartiles, of the default %lld with %.2f\n",
        static_cast<long long>(from.won.count), from.won.spread_ns / 1e3,
        static_cast<long long>(from.by_default.count), from.by_default.spread_ns / 1e3);
}

void print_strategy(const bank::Strategy& strategy) {
  const bank::Measurement& m = strategy.measured;
  std::printf("  %s / %s (version %d)\n    schedule  %s\n", strategy.format.c_str(),
              strategy.impl.c_str(), strategy.impl_version,
              schedule_text(strategy.schedule).c_str());
  if (const std::string stale = stale_reason(strategy); !stale.empty())
    std::printf("    stale     not used: %s\n", stale.c_str());
  if (!strategy.rewrite.empty()) std::printf("    rewrite   %s\n", strategy.rewrite.c_str());
  std::printf(
      "    measured  %.2f us, default %.2f us, %s; %lld trials, %d threads, policy %s, %s\n",
      m.time_ns / 1e3, m.default_time_ns / 1e3, m.verdict.c_str(), static_cast<long long>(m.trials),
      m.threads, m.policy.c_str(), m.when_utc.c_str());
  print_provenance(strategy.provenance);
}

void print_record(const bank::Record& record) {
  const bank::Strategy& s = record.strategy;
  std::printf("  %-8s  %-16s  %10.2f us  %-12s  %s%s%s\n", s.format.c_str(), s.impl.c_str(),
              s.measured.time_ns / 1e3, record.status.c_str(),
              (s.rewrite.empty() ? schedule_text(s.schedule) : s.rewrite).c_str(),
              record.detail.empty() ? "" : "  ", record.detail.c_str());
}

json strategies_json(const bank::StrategySet& set) {
  json list = to_json(set);
  for (std::size_t i = 0; i < set.strategies.size(); ++i)
    if (const std::string stale = stale_reason(set.strategies[i]); !stale.empty())
      list[i]["stale"] = stale;
  return list;
}

}  // namespace

json entry_json(const bank::KnowledgeBank& bank, const bank::BankEntry& entry,
                const BankRequest& request) {
  json all = {{"repo_key", entry.key.repo_key()},
              {"soc_version", entry.key.soc_version},
              {"op", op_text(entry.key)},
              {"inputs", shape_text(entry.key)},
              {"description", description_json(entry.key)},
              {"strategies", strategies_json(entry.set)},
              {"unconfirmed", strategies_json(entry.unconfirmed)}};
  if (!request.has("records")) return all;
  all["records"] = json::array();
  for (const bank::Record& record : bank.records(entry.key))
    all["records"].push_back(record_json(record));
  return all;
}

void show_entry(const BankRequest& request) {
  const bank::KnowledgeBank bank = request.open();
  const std::string& repo_key = request.subjects()[0];
  const std::vector<bank::BankEntry> entries = bank.entries();
  const auto found = std::ranges::find_if(
      entries, [&](const bank::BankEntry& e) { return e.key.repo_key() == repo_key; });
  if (found == entries.end())
    throw Error(ExitCode::kUsage, "no task has the repo_key '" + repo_key + "'",
                bank.directory().string(), "aoe_bank list shows those there are");
  if (request.is_json()) return print_json(entry_json(bank, *found, request));
  const std::vector<bank::Record> records =
      request.has("records") ? bank.records(found->key) : std::vector<bank::Record>{};
  std::printf(
      "repo_key     %s\nop           %s\ninputs       %s\nsoc_version  %s\ndescription  "
      "%s\nstrategies, fastest first:\n",
      repo_key.c_str(), op_text(found->key).c_str(), shape_text(found->key).c_str(),
      found->key.soc_version.c_str(), found->key.description.c_str());
  for (const bank::Strategy& strategy : found->set.strategies) print_strategy(strategy);
  if (!found->unconfirmed.strategies.empty())
    std::printf("unconfirmed, not used before a run of aoe has measured the model with them:\n");
  for (const bank::Strategy& strategy : found->unconfirmed.strategies) print_strategy(strategy);
  if (request.has("records")) std::printf("measurements, oldest first:\n");
  for (const bank::Record& record : records) print_record(record);
}

}  // namespace aoe::tools
