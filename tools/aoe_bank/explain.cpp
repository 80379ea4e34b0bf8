// aoe_bank explain: which strategy each op of a model got, where it came from, and what else was measured.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "base/words.h"
#include "compiler/lowering/gear_split.h"
#include "compiler/pipeline.h"
#include "options/banks.h"
#include "options/data_dirs.h"
#include "runtime/om/geared_om.h"
#include "runtime/om/om_bodies.h"
#include "tools/aoe_bank/commands.h"
#include "tools/common/terminal_table.h"

namespace aoe::tools {
using nlohmann::json;
namespace {

constexpr double kNearMiss = 0.03;  ///< of the winner's time

/// "64x16, 16x32": of the op of that name. What is packed into a constant is not among them.
std::string inputs_of(const runtime::Om& om, const std::string& node) {
  const auto step = std::ranges::find(om.steps, node, &runtime::OmStep::name);
  if (step == om.steps.end()) return {};
  std::vector<std::string> shapes;
  for (const int id : step->inputs)
    if (id >= 0) shapes.push_back(to_string(om.tensors[static_cast<std::size_t>(id)].desc.shape));
  return joined(shapes, ", ");
}

/// The om's tuning section (compiler/compiler.h), with the ops of bodies of control flow and the shapes that ops read.
json whole_tuning(const runtime::Om& om) {
  json tuning = om.tuning;
  json nodes = json::array();
  runtime::for_each_om(om, [&](const runtime::Om& own, const std::string& path) {
    for (json node : own.tuning.value("nodes", json::array())) {
      const std::string name = node.value("node", "");
      node["inputs"] = inputs_of(own, name);
      node["node"] = name.starts_with(path) ? name : path + name;
      nodes.push_back(std::move(node));
    }
  });
  tuning["nodes"] = std::move(nodes);
  return tuning;
}

/// Of a model that is compiled first where it is no om yet.
json tuning_of(const BankRequest& request, const std::filesystem::path& path) {
  if (path.extension() != ".onnx") {
    const runtime::GearedOm model = runtime::GearedOm::load(path);
    if (model.oms.size() > 1)
      std::fprintf(stderr, "aoe_bank: %s has gears; this is the first\n", path.c_str());
    return whole_tuning(model.oms.front());
  }
  const compiler::Soc soc = compiler::soc_from_version(request.soc_version(), config_directory(),
                                                       threads_of(request.flags()));
  const Banks op_bank = open_banks(bank::BankKind::kOp, bank::BankUse::kRead, soc.version);
  const Banks graph_bank = open_banks(bank::BankKind::kGraph, bank::BankUse::kRead, soc.version);
  const bank::LayeredSource ops = op_bank.layered(), subgraphs = graph_bank.layered();
  const compiler::PreparedModel model =
      compiler::prepare({.path = path}, {.soc = soc, .graph_bank = &subgraphs});
  return whole_tuning(compiler::compile(model, {.soc = soc, .strategies = &ops}).om);
}

/// A decimal number as in aoe_result, however the section stores it.
std::string key_in(const json& node) {
  const json key = node.value("repo_key", json());
  return key.is_string() ? key.get<std::string>() : key.is_null() ? "" : json_text(key);
}

/// What the bank knows of the task of one op.
struct Knowledge {
  std::optional<bank::BankEntry> entry;
  std::vector<bank::Record> records;  ///< those that have a time
};

/// Tasks by the key that an om names.
class KnownTasks {
 public:
  explicit KnownTasks(const bank::KnowledgeBank& bank) : bank_(bank) {
    for (bank::BankEntry& entry : bank.entries())
      entries_.emplace(entry.key.repo_key(), std::move(entry));
  }

  Knowledge of(const std::string& repo_key, bool with_records) const {
    const auto found = entries_.find(repo_key);
    if (found == entries_.end()) return {};
    Knowledge knowledge{found->second, {}};
    if (with_records) knowledge.records = bank_.records(found->second.key);
    std::erase_if(knowledge.records, [](const bank::Record& record) {
      return record.status != "ok" || record.strategy.measured.time_ns <= 0;
    });
    return knowledge;
  }

 private:
  const bank::KnowledgeBank& bank_;
  std::map<std::string, bank::BankEntry> entries_;
};

const bank::Strategy* stored_strategy(const Knowledge& knowledge, const json& node) {
  if (!knowledge.entry) return nullptr;
  const auto& list = knowledge.entry->set.strategies;
  const auto found = std::ranges::find_if(list, [&](const bank::Strategy& s) {
    return s.impl == node.value("impl", "") && s.format == node.value("format", "");
  });
  return found == list.end() ? nullptr : &*found;
}

double gain_of(const bank::Strategy& strategy) {
  const bank::Measurement& m = strategy.measured;
  return m.default_time_ns > 0 && m.time_ns > 0 ? m.default_time_ns / m.time_ns : 0;
}

std::string types_of(const json& node) {
  return joined(node.value("op_types", std::vector<std::string>()), "+");
}

json rivals_json(const Knowledge& knowledge, const bank::Strategy& winner);

json op_json(const json& node, const Knowledge& knowledge) {
  json op = {
      {"node", node.value("node", "")},     {"op", types_of(node)},
      {"inputs", node.value("inputs", "")}, {"repo_key", key_in(node)},
      {"source", node.value("source", "")}, {"impl", node.value("impl", "")},
      {"format", node.value("format", "")}, {"schedule", node.value("schedule", json::object())}};
  if (node.contains("near")) op["near"] = node["near"];
  const bank::Strategy* stored = stored_strategy(knowledge, node);
  if (stored == nullptr) return op;
  op["time_ns"] = stored->measured.time_ns;
  op["default_time_ns"] = stored->measured.default_time_ns;
  op["when_utc"] = stored->measured.when_utc;
  op["policy"] = stored->measured.policy;
  if (!knowledge.records.empty()) op["rivals"] = rivals_json(knowledge, *stored);
  return op;
}

/// The best measurement of each Format and Impl, the fastest first.
std::vector<bank::Strategy> best_of_each(const std::vector<bank::Record>& records) {
  std::map<std::string, bank::Strategy> best;
  for (const bank::Record& record : records) {
    const auto [there, is_new] = best.emplace(candidate_text(record.strategy), record.strategy);
    if (!is_new && record.strategy.measured.time_ns < there->second.measured.time_ns)
      there->second = record.strategy;
  }
  std::vector<bank::Strategy> list;
  for (auto& [name, strategy] : best) list.push_back(std::move(strategy));
  std::ranges::stable_sort(list, {}, [](const bank::Strategy& s) { return s.measured.time_ns; });
  return list;
}

/// Times of the search of all Schedules of one Format and Impl, ascending.
std::vector<double> times_of(const Knowledge& knowledge, const bank::Strategy& candidate) {
  std::vector<double> times;
  for (const bank::Record& record : knowledge.records)
    if (record.strategy.impl == candidate.impl && record.strategy.format == candidate.format)
      times.push_back(record.strategy.measured.time_ns);
  std::ranges::sort(times);
  return times;
}

/// Margins are between times of the search, which were measured under like conditions; the winner's stored time is of a race.
json rivals_json(const Knowledge& knowledge, const bank::Strategy& winner) {
  const std::vector<double> own = times_of(knowledge, winner);
  json list = json::array();
  for (const bank::Strategy& rival : best_of_each(knowledge.records)) {
    const bool is_winner = rival.impl == winner.impl && rival.format == winner.format;
    json each = {{"candidate", candidate_text(rival)},
                 {"schedule", rival.schedule},
                 {"time_ns", rival.measured.time_ns},
                 {"measured_schedules", times_of(knowledge, rival).size()},
                 {"is_winner", is_winner}};
    if (!own.empty()) each["margin"] = rival.measured.time_ns / own.front() - 1;
    list.push_back(std::move(each));
  }
  return list;
}

std::string gain_text(const bank::Strategy* stored) {
  if (stored == nullptr || gain_of(*stored) <= 0) return "-";
  return fmt::format("{:.3f}x", gain_of(*stored));
}

void print_table(const std::vector<json>& nodes, const KnownTasks& tasks) {
  TerminalTable table(
      "",
      {{"node"}, {"op"}, {"inputs"}, {"format"}, {"impl"}, {"source"}, {"gain", Align::kRight}});
  for (const json& node : nodes)
    table.row({node.value("node", ""), types_of(node), node.value("inputs", ""),
               node.value("format", ""), node.value("impl", ""), node.value("source", ""),
               gain_text(stored_strategy(tasks.of(key_in(node), false), node))});
  table.print(std::cout);
}

void print_schedules(const Knowledge& knowledge, const bank::Strategy& winner) {
  const std::vector<double> times = times_of(knowledge, winner);
  if (times.size() < 2) return;
  const auto near = std::ranges::count_if(
      times, [&](double time) { return time <= times.front() * (1 + kNearMiss); });
  std::printf(
      "  Schedule  %zu measured: the median takes %.2f times the best's time, the slowest "
      "%.2f; %td within %.0f%%\n",
      times.size(), times[times.size() / 2] / times.front(), times.back() / times.front(), near - 1,
      100 * kNearMiss);
}

void print_rivals(const Knowledge& knowledge, const bank::Strategy& winner) {
  const std::vector<double> own = times_of(knowledge, winner);
  for (const bank::Strategy& rival : best_of_each(knowledge.records)) {
    if (own.empty() || (rival.impl == winner.impl && rival.format == winner.format)) continue;
    const double margin = rival.measured.time_ns / own.front() - 1;
    std::printf("  rival     %-24s %10.2f us, %+.1f%%%s: it has another %s\n",
                candidate_text(rival).c_str(), rival.measured.time_ns / 1e3, 100 * margin,
                margin < kNearMiss ? " (a near miss)" : "",
                rival.impl == winner.impl       ? "Format"
                : rival.format == winner.format ? "Impl"
                                                : "Impl and Format");
  }
}

void print_details(const json& node, const Knowledge& knowledge) {
  std::printf("node        %s\nop          %s\ninputs      %s\nrepo_key    %s\n",
              node.value("node", "").c_str(), types_of(node).c_str(),
              node.value("inputs", "").c_str(), key_in(node).c_str());
  std::printf("strategy    %s %s, from %s\nschedule    %s\n", node.value("format", "").c_str(),
              node.value("impl", "").c_str(), node.value("source", "").c_str(),
              schedule_text(node.value("schedule", bank::Schedule())).c_str());
  if (node.contains("near")) {
    std::printf(
        "why         it won for task %s, of the nearest shape, and the model of costs does not "
        "contradict (--op_bank_near=on)\n",
        node.value("near", "").c_str());
    return;
  }
  if (!knowledge.entry) {
    std::printf(
        "why         the bank knows nothing of this task: the Impl is expected to be the "
        "fastest, by flops and bytes\n");
    return;
  }
  const bank::Strategy* stored = stored_strategy(knowledge, node);
  if (stored == nullptr) {
    std::printf(
        "why         the bank has measured this task, but not in this Format: Formats are "
        "chosen for the model as a whole\n");
    return;
  }
  const bank::Measurement& m = stored->measured;
  std::printf("why         %.2f us, its default %.2f us: %s (%lld trials, policy %s, %s)\n",
              m.time_ns / 1e3, m.default_time_ns / 1e3, m.verdict.c_str(),
              static_cast<long long>(m.trials), m.policy.c_str(), m.when_utc.c_str());
  print_schedules(knowledge, *stored);
  print_rivals(knowledge, *stored);
  if (knowledge.records.empty())
    std::printf("  no measurements of this task are kept, so there are no rivals to name\n");
}

std::vector<json> nodes_of(const json& tuning, const std::string& wanted,
                           const std::string& model) {
  std::vector<json> nodes;
  for (const json& node : tuning.value("nodes", json::array()))
    if (wanted.empty() || node.value("node", "") == wanted) nodes.push_back(node);
  if (nodes.empty() && !wanted.empty())
    throw Error(ExitCode::kUsage, "no node is called '" + wanted + "'", model,
                "aoe_bank explain without a node lists them");
  return nodes;
}

}  // namespace

void explain_model(const BankRequest& request) {
  const std::string& model = request.subjects()[0];
  const bool has_node = request.subjects().size() > 1;
  const json tuning = tuning_of(request, model);
  const std::vector<json> nodes =
      nodes_of(tuning, has_node ? request.subjects()[1] : std::string(), model);
  const bank::KnowledgeBank bank = request.open();
  const KnownTasks tasks(bank);
  if (request.is_json()) {
    json list = json::array();
    for (const json& node : nodes) list.push_back(op_json(node, tasks.of(key_in(node), true)));
    return print_json({{"model", model},
                       {"strategies", tuning.value("strategies", "")},
                       {"subgraphs", tuning.value("subgraphs", json::array())},
                       {"ops", list}});
  }
  if (has_node) {
    for (const json& node : nodes) print_details(node, tasks.of(key_in(node), true));
    return;
  }
  print_table(nodes, tasks);
  for (const json& each : tuning.value("subgraphs", json::array()))
    std::printf("subgraph %s was rewritten: %s\n", key_in(each).c_str(),
                json_text(each.value("rewrites", json())).c_str());
}

}  // namespace aoe::tools
