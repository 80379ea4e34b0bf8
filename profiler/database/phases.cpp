// Two sweeps over the op table, which stands in the order of execution.
#include "profiler/database/phases.h"

#include <string_view>
#include <unordered_set>

namespace aoe::profiler {
namespace {
using nlohmann::json;

std::string stated_phase(const json& op) {
  if (!op.is_object() || !op.contains("phase") || !op["phase"].is_string()) return {};
  return op["phase"];
}

std::vector<std::string> tensor_names(const json& op, const char* key) {
  std::vector<std::string> names;
  if (!op.is_object()) return names;
  const auto tensors = op.find(key);
  if (tensors == op.end() || !tensors->is_array()) return names;
  for (const json& tensor : *tensors)
    if (tensor.is_object() && tensor.contains("name") && tensor["name"].is_string())
      names.push_back(tensor["name"]);
  return names;
}

struct OpFlow {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  bool makes_gradient = false;
  bool needs_gradient = false;  ///< some input depends on a gradient
  bool leads_to_gradient = false;
};

bool any_in(const std::vector<std::string>& names, const std::unordered_set<std::string>& set) {
  for (const std::string& name : names)
    if (set.contains(name)) return true;
  return false;
}

/// Forwards: what depends on a gradient. Backwards: what a gradient depends on.
void follow(std::vector<OpFlow>& ops) {
  std::unordered_set<std::string> dependent;
  for (OpFlow& op : ops) {
    op.needs_gradient = any_in(op.inputs, dependent);
    if (op.makes_gradient || op.needs_gradient)
      dependent.insert(op.outputs.begin(), op.outputs.end());
  }
  std::unordered_set<std::string> wanted;
  for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
    op->leads_to_gradient = op->makes_gradient || any_in(op->outputs, wanted);
    if (op->leads_to_gradient) wanted.insert(op->inputs.begin(), op->inputs.end());
  }
}

std::string phase(const OpFlow& op) {
  if (op.makes_gradient) return "backward";
  if (!op.needs_gradient) return "forward";
  return op.leads_to_gradient ? "backward" : "update";
}

}  // namespace

bool is_gradient_name(std::string_view tensor) {
  // Exporters name a tensor after its node: "<node>_output_0".
  if (const std::size_t suffix = tensor.rfind("_output_"); suffix != std::string_view::npos)
    tensor = tensor.substr(0, suffix);
  return tensor.ends_with("_grad") || tensor.ends_with(".grad") || tensor.starts_with("grad_") ||
         tensor.starts_with("gradients/");
}

std::vector<std::string> phases_of(const json& ops) {
  std::vector<OpFlow> flows;
  bool has_gradient = false;
  for (const json& op : ops) {
    OpFlow flow{.inputs = tensor_names(op, "inputs"), .outputs = tensor_names(op, "outputs")};
    for (const std::string& output : flow.outputs)
      flow.makes_gradient = flow.makes_gradient || is_gradient_name(output);
    has_gradient = has_gradient || flow.makes_gradient;
    flows.push_back(std::move(flow));
  }
  follow(flows);
  std::vector<std::string> phases;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const std::string stated = stated_phase(ops[i]);
    phases.push_back(!stated.empty() ? stated : has_gradient ? phase(flows[i]) : "");
  }
  return phases;
}

}  // namespace aoe::profiler
