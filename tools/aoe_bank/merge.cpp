// aoe_bank merge and diff: several banks at once.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bank/merge_banks.h"
#include "base/error.h"
#include "tools/aoe_bank/commands.h"

namespace aoe::tools {
using nlohmann::json;
namespace {

json side_json(const bank::Strategy& strategy) {
  return {{"candidate", candidate_text(strategy)},
          {"schedule", strategy.schedule},
          {"time_ns", strategy.measured.time_ns},
          {"default_time_ns", strategy.measured.default_time_ns},
          {"when_utc", strategy.measured.when_utc}};
}

json merged_json(const std::map<bank::BankId, bank::MergedBank>& banks) {
  json list = json::array();
  for (const auto& [id, merged] : banks) {
    json conflicts = json::array();
    for (const bank::MergeConflict& each : merged.conflicts)
      conflicts.push_back({{"repo_key", each.key.repo_key()},
                           {"taken", side_json(each.taken)},
                           {"left", side_json(each.left)}});
    list.push_back({{"bank", to_text(id)},
                    {"tasks", merged.tasks},
                    {"measurements", merged.measurements},
                    {"conflicts", conflicts}});
  }
  return list;
}

/// "2.10x of its default": what the rule goes by.
std::string gain_text(const bank::Strategy& strategy) {
  const bank::Measurement& m = strategy.measured;
  if (m.default_time_ns <= 0 || m.time_ns <= 0) return "not measured beside its default";
  char text[40];
  std::snprintf(text, sizeof text, "%.3fx its default", m.default_time_ns / m.time_ns);
  return text;
}

void print_merged(const std::map<bank::BankId, bank::MergedBank>& banks) {
  for (const auto& [id, merged] : banks) {
    std::printf("%s: %zu tasks, %zu measurements, %zu conflicts\n", to_text(id).c_str(),
                merged.tasks, merged.measurements, merged.conflicts.size());
    for (const bank::MergeConflict& each : merged.conflicts)
      std::printf("  %-20s  took %s (%s), not %s (%s)\n", each.key.repo_key().c_str(),
                  candidate_text(each.taken).c_str(), gain_text(each.taken).c_str(),
                  candidate_text(each.left).c_str(), gain_text(each.left).c_str());
  }
}

json sets_json(const bank::StrategySet& set) {
  json list = json::array();
  for (const bank::Strategy& strategy : set.strategies) list.push_back(side_json(strategy));
  return list;
}

/// What a side serves: its fastest.
std::string side_text(const bank::StrategySet& set) {
  if (set.strategies.empty()) return "nothing";
  char time[32];
  std::snprintf(time, sizeof time, " %.2f us", set.strategies[0].measured.time_ns / 1e3);
  return candidate_text(set.strategies[0]) + time;
}

void print_differences(const std::map<bank::BankId, std::vector<bank::TaskDifference>>& banks) {
  std::size_t count = 0;
  for (const auto& [id, tasks] : banks) {
    if (!tasks.empty()) std::printf("%s\n", to_text(id).c_str());
    count += tasks.size();
    for (const bank::TaskDifference& task : tasks)
      std::printf("  %-20s  %-24s  %s | %s\n", task.key.repo_key().c_str(),
                  op_text(task.key).c_str(), side_text(task.left).c_str(),
                  side_text(task.right).c_str());
  }
  std::printf("%zu tasks differ\n", count);
}

/// A bank that only one side has is empty on the other.
bank::BankContent content_for(const std::map<bank::BankId, bank::BankContent>& contents,
                              const bank::BankId& id) {
  const auto found = contents.find(id);
  return found == contents.end() ? bank::BankContent{id.kind, id.soc_version, {}, {}}
                                 : found->second;
}

}  // namespace

void merge_banks(const BankRequest& request) {
  const std::filesystem::path root = text_of(request.flags(), "output");
  if (root.empty())
    throw Error(ExitCode::kUsage, "merge needs --output", {}, "name a directory for the new banks");
  if (std::filesystem::exists(root) && !std::filesystem::is_empty(root))
    throw Error(ExitCode::kUsage, "is there already, and not empty", root.string(),
                "name a new directory; what is there may be one of the banks that are merged");
  const auto banks =
      bank::merge_banks({request.subjects().begin(), request.subjects().end()}, root);
  if (request.is_json()) return print_json(merged_json(banks));
  print_merged(banks);
}

void compare_banks(const BankRequest& request) {
  const auto left = bank::contents_at(request.subjects()[0]);
  const auto right = bank::contents_at(request.subjects()[1]);
  std::map<bank::BankId, std::vector<bank::TaskDifference>> banks;
  for (const auto* side : {&left, &right})
    for (const auto& [id, content] : *side)
      banks[id] = bank::differences(content_for(left, id), content_for(right, id));
  if (!request.is_json()) return print_differences(banks);
  json list = json::array();
  for (const auto& [id, tasks] : banks)
    for (const bank::TaskDifference& task : tasks)
      list.push_back({{"bank", to_text(id)},
                      {"repo_key", task.key.repo_key()},
                      {"description", description_json(task.key)},
                      {"left", sets_json(task.left)},
                      {"right", sets_json(task.right)}});
  print_json(list);
}

}  // namespace aoe::tools
