// From graph and options to steps: assign Formats, then walk the nodes and convert where a reader wants another Format.
#include "compiler/lowering/lowering.h"

#include <algorithm>

#include "base/error.h"
#include "compiler/lowering/format_assignment.h"
#include "compiler/lowering/node_options.h"

namespace aoe::compiler {
namespace {

using graph::kNone;

/// A conversion that moves no bytes still splits the kernels around it; prefer none.
constexpr double kFreeConversionNs = 1;

/// "NC1HWC0", in another memory than the host's "NC1HWC0@device".
std::string text_of(const Layout& layout) {
  std::string text(name(layout.format));
  if (layout.memory != Memory::kHost) text += "@" + std::string(name(layout.memory));
  return text;
}

struct ConversionTime {
  Layout from, to;
  double ns;
};

class Lowering {
 public:
  Lowering(const graph::Graph& graph, const CompileOptions& options)
      : graph_(graph), options_(options), nodes_(node_options(graph, options)) {}

  Lowered run() {
    const std::vector<int> choice = choose();
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      const int id = tensor_of(graph_.inputs[i], {});
      lowered_.tensors[id].model_input = static_cast<int>(i);
      lowered_.inputs.push_back(id);
    }
    std::map<graph::NodeId, std::size_t> index;
    for (std::size_t n = 0; n < nodes_.size(); ++n) index[nodes_[n].node] = n;
    for (const graph::NodeId id : graph_.topological_order())
      add_node(nodes_[index[id]], nodes_[index[id]].options[choice[index[id]]]);
    for (const graph::ValueId value : graph_.outputs)
      lowered_.outputs.push_back(in_layout(value, {}));
    return std::move(lowered_);
  }

 private:
  bool is_constant(graph::ValueId value) const { return graph_.values[value].constant != nullptr; }

  std::vector<int> choose() {
    conversion_times_.resize(graph_.values.size());
    FormatProblem problem;
    problem.value_count = static_cast<int>(graph_.values.size());
    for (const NodeOptions& each : nodes_) {
      const graph::Node& node = graph_.nodes[each.node];
      FormatNode formats{{}, {}, {node.outputs.begin(), node.outputs.end()}};
      for (const graph::ValueId value : node.inputs)
        formats.inputs.push_back(value == kNone || is_constant(value) ? -1 : value);
      for (const NodeOption& option : each.options)
        formats.options.push_back({option.time_ns, option.candidate.format.inputs,
                                   option.candidate.format.outputs,
                                   option.candidate.impl->memory()});
      problem.nodes.push_back(std::move(formats));
    }
    for (const graph::ValueId value : graph_.outputs)
      if (!is_constant(value)) problem.model_outputs.push_back(value);
    problem.conversion_ns = [&](int value, const Layout& from, const Layout& to) {
      return conversion_ns(value, from, to);
    };
    return assign_formats(problem);
  }

  /// Asked for millions of times: each value keeps what few it has.
  double conversion_ns(int value, const Layout& from, const Layout& to) {
    std::vector<ConversionTime>& known = conversion_times_[static_cast<std::size_t>(value)];
    for (const ConversionTime& each : known)
      if (each.from == from && each.to == to) return each.ns;
    known.push_back({from, to, fresh_conversion_ns(graph_.values[value], from, to)});
    return known.back().ns;
  }

  double fresh_conversion_ns(const graph::Value& value, const Layout& from, const Layout& to) {
    if (!is_static(value.desc.shape)) return 0;
    const bool is_to_or_from_nd = from.format == Format::kND || to.format == Format::kND;
    if (is_to_or_from_nd && options_.free_borders.contains(value.name)) return 0;
    if (shares_bytes(value.desc, from, to)) return kFreeConversionNs;
    return conversion_ns(value.desc, from, to);
  }

  double conversion_ns(const TensorDesc& desc, const Layout& from, const Layout& to) {
    const auto [at, is_new] = times_by_desc_.try_emplace({to_string(desc), from, to}, 0.0);
    if (is_new) at->second = conversion_option(desc, from, to, options_).time_ns;
    return at->second;
  }

  bool shares_bytes(const TensorDesc& desc, const Layout& from, const Layout& to) const {
    return from.memory == to.memory && same_bytes(desc, from.format, to.format, options_.soc);
  }

  /// Sizes may be known only when the model runs, how many there are and of what type may not.
  static void check_type(const graph::Value& value) {
    if (graph::has_known_rank(value.desc) && size_bytes(value.desc.dtype) > 0) return;
    throw Error(ExitCode::kModel,
                "nobody knows how many dimensions it has, and of what type, before the model runs",
                "value '" + value.name + "'", "declare it in the model (value_info)");
  }

  /// The tensor that holds `value` in `layout`; made when it is not there yet.
  int tensor_of(graph::ValueId value, const Layout& layout) {
    const Layout kept = dense(layout);
    const auto [at, is_new] =
        tensors_.try_emplace({value, kept}, static_cast<int>(lowered_.tensors.size()));
    if (is_new) {
      const graph::Value& v = graph_.values[value];
      check_type(v);
      // Callers know the dense one, by the value's name; the model's inputs and outputs are always that.
      const std::string suffix =
          kept == Layout{} ? "" : ":" + text_of({layout.format, layout.memory});
      lowered_.tensors.push_back({v.name + suffix, with_format(v.desc, kept.format, options_.soc),
                                  v.constant, -1, value, kept.memory});
      produced_.try_emplace(value, kept);
    }
    return at->second;
  }

  /// `value` in `layout`, converted from the one it was produced in if need be.
  int in_layout(graph::ValueId value, const Layout& layout) {
    if (is_constant(value)) return tensor_of(value, {Format::kND, layout.memory});
    const Layout have = produced_.at(value);
    const bool is_there = tensors_.contains({value, dense(layout)});
    const int from = tensor_of(value, have);
    if (is_there) return tensor_of(value, layout);
    const int to = tensor_of(value, layout);
    add_conversion(value, from, to);
    return to;
  }

  Layout layout_of(int tensor) const {
    return {lowered_.tensors[tensor].desc.format, lowered_.tensors[tensor].memory};
  }

  void add_conversion(graph::ValueId value, int from, int to) {
    const graph::Value& v = graph_.values[value];
    const Layout a = layout_of(from), b = layout_of(to);
    LoweredStep step{.name = v.name + ":" + text_of(a) + "_to_" + text_of(b),
                     .source = {.converted = value},
                     .task = conversion_task(v.desc, a, b, options_.soc),
                     .inputs = {from},
                     .outputs = {to}};
    if (shares_bytes(v.desc, a, b))
      step.candidate.format = {
          "view", {a.format}, {b.format}};  // no Impl: the two tensors share their bytes
    else
      step.candidate = conversion_option(v.desc, a, b, options_).candidate;
    lowered_.steps.push_back(std::move(step));
  }

  void add_node(NodeOptions& node_options, const NodeOption& option) {
    const graph::Node& node = graph_.nodes[node_options.node];
    const FormatChoice& format = option.candidate.format;
    const Memory memory = option.candidate.impl->memory();
    LoweredStep step{.name = node.name,
                     .source = {.node = node_options.node},
                     .origins = node.origins,
                     .task = std::move(node_options.task),
                     .candidate = option.candidate};
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      step.inputs.push_back(
          node.inputs[i] == kNone ? -1 : in_layout(node.inputs[i], {format.inputs[i], memory}));
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      step.outputs.push_back(
          node.outputs[i] == kNone ? -1 : tensor_of(node.outputs[i], {format.outputs[i], memory}));
    std::vector<NodeReport> first;
    for (const auto& body : node.bodies) step.bodies.push_back(compiled_body(*body, first));
    lowered_.reports.push_back(
        {.id = node_options.node,
         .node = node.name,
         .op_types = reference::op_types(node.op),
         .repo_key = node_options.repo_key,
         .impl = node.bodies.empty() ? std::string(option.candidate.impl->name()) : "control",
         .format = format.name,
         .schedule = option.candidate.schedule,
         .bank_hit = node_options.source == "bank",
         .near = option.near});
    lowered_.steps.push_back(std::move(step));
  }

  /// With the strategies of the model; an om of its own. `first`: how the first body of the node was compiled.
  Compilation compiled_body(const graph::Graph& body, std::vector<NodeReport>& first) const {
    CompileOptions options = options_;
    options.subgraphs.clear();
    options.fixed.clear();  // by names of this graph, like the borders
    options.free_borders.clear();
    options.packed_as = first.empty() ? nullptr : &first;
    options.leaves_weights = true;
    Compilation compiled = compile(body, options);
    if (first.empty()) first = compiled.nodes;
    return compiled;
  }

  const graph::Graph& graph_;
  const CompileOptions& options_;
  std::vector<NodeOptions> nodes_;
  Lowered lowered_;
  std::map<std::pair<graph::ValueId, Layout>, int> tensors_;
  std::map<graph::ValueId, Layout> produced_;                  ///< what a value was made in
  std::vector<std::vector<ConversionTime>> conversion_times_;  ///< by value
  std::map<std::tuple<std::string, Layout, Layout>, double>
      times_by_desc_;  ///< of all values like one
};

}  // namespace

Lowered lower_graph(const graph::Graph& graph, const CompileOptions& options) {
  return Lowering(graph, options).run();
}

}  // namespace aoe::compiler
