// Prints the documented lines, and one on the bank.
#include "tools/atc/om_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/json_text.h"
#include "base/utf8.h"
#include "runtime/om/om_tuning.h"
#include "runtime/om/step_paths.h"

namespace aoe::tools {
namespace {

constexpr const char* kVersion = AOE_VERSION;
constexpr int kOnnx = 5;  ///< of --framework

/// ", repo_key[17], strategy[bank]": of a node that was a task of its own. Takes it off: parts of one node are called alike.
std::string take_strategy_text(std::vector<runtime::OpTuning>& ops, const std::string& name) {
  const auto op = std::ranges::find(ops, name, &runtime::OpTuning::node);
  if (op == ops.end()) return {};
  std::string text = fmt::format(", repo_key[{}], strategy[{}]", op->repo_key,
                                 op->near.empty() ? op->source : "near, of " + op->near);
  ops.erase(op);
  return text;
}

/// A line for each op: how it runs, its share of the work, and where its strategy comes from.
void print_paths(std::ostream& out, const runtime::Om& om) {
  const std::vector<runtime::StepPath> paths = runtime::step_paths(om);
  double all_work = 0;
  std::map<std::string_view, double> by_path;
  for (const runtime::StepPath& path : paths) all_work += path.work;
  std::vector<runtime::OpTuning> ops = runtime::all_op_tunings(om);
  for (const runtime::StepPath& path : paths) {
    const double share = all_work > 0 ? path.work / all_work : 0;
    by_path[path.path] += share;
    out << fmt::format("op       info: name[{}], type[{}], path[{}], work[{}]{}.\n",
                       printable(path.name), printable(path.types), path.path,
                       path.is_open ? "known when it runs" : fmt::format("{:.2f}%", 100 * share),
                       take_strategy_text(ops, path.name));
  }
  std::string sums;
  for (const auto& [path, share] : by_path)
    sums += fmt::format("{}{}[{:.2f}%]", sums.empty() ? "" : ", ", path, 100 * share);
  out << fmt::format("path     info: {}.\n", sums);
}

}  // namespace

void note_origin(runtime::Om& om, const std::string& command_line) {
  om.tuning["command_line"] = command_line;
  om.tuning["atc_version"] = kVersion;
  om.tuning["framework_type"] = kOnnx;
}

void print_om_report(std::ostream& out, const runtime::GearedOm& model) {
  std::size_t graph_bytes = 0, tuning_bytes = 0, ops = 0, hits = 0, subgraphs = 0;
  for (const runtime::Om& om : model.oms) {
    graph_bytes += om.graph_bytes;
    tuning_bytes += cbor_bytes(om.tuning).size();
    const runtime::TunedOps tuned = runtime::tuned_ops(om);
    ops += tuned.ops;
    hits += tuned.bank_keys.size();
    subgraphs += om.tuning.value("subgraphs", nlohmann::json::array()).size();
  }
  const runtime::Om& om = model.oms.front();
  const nlohmann::json& tuning = om.tuning;  // of an om that comes from aoe it says less
  out << "============ Display Model Info start ============\n";
  out << fmt::format("Original Atc command line: {}\n",
                     printable(tuning.value("command_line", "N/A")));
  out << fmt::format(
      "system   info: atc_version[{}], soc_version[{}], framework_type[{}], isa[{}], "
      "threads[{}].\n",
      tuning.value("atc_version", "N/A"), om.soc_version, tuning.value("framework_type", kOnnx),
      om.isa, om.threads);
  out << fmt::format(
      "resource info: memory_size[{} B], weight_size[{} B], stream_num[1], event_num[0].\n",
      model.arena_bytes(), om.weights_view.size());
  out << fmt::format(
      "om       info: modeldef_size[{} B], weight_data_size[{} B], tbe_kernels_size[{} B], "
      "cust_aicpu_kernel_store_size[0 B], task_info_size[{} B], so_store_size[0 B].\n",
      graph_bytes, om.weights_view.size(), om.code_view.size(), tuning_bytes);
  if (om.peak_gflops && om.memory_gb_s)
    out << fmt::format("machine  info: peak_gflops[{:.1f}], memory_gb_s[{:.1f}], roofs[{}].\n",
                       *om.peak_gflops, *om.memory_gb_s,
                       om.has_measured_roofs ? "measured" : "assumed");
  out << fmt::format("bank     info: ops[{}], bank_hits[{}], subgraph_hits[{}], strategies[{}].\n",
                     ops, hits, subgraphs, tuning.value("strategies", "none"));
  if (!model.gears.empty()) out << fmt::format("gears    info: {}.\n", to_string(model.gears));
  for (const runtime::Om& gear : model.oms) print_paths(out, gear);
  out << "============ Display Model Info end   ============\n";
}

}  // namespace aoe::tools
