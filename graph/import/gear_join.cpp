// Importing a model in all its gears, and joining the graphs. Gears keep one copy of each constant:
// the weights of a model would else be in memory as often as it has gears.
#include <algorithm>
#include <cstring>
#include <map>

#include "base/check.h"
#include "base/error.h"
#include "base/hash.h"
#include "graph/import/gears.h"

namespace aoe::graph {
namespace {

/// One constant for each content.
class ConstantPool {
 public:
  ConstantPtr shared(const ConstantPtr& constant) {
    if (constant == nullptr) return constant;
    const Digest128 digest =
        hash128({static_cast<const char*>(constant->data()), constant->size_bytes()});
    const auto [first, last] = known_.equal_range(digest);
    for (auto entry = first; entry != last; ++entry)
      if (is_same(*entry->second, *constant)) return entry->second;
    known_.emplace(digest, constant);
    return constant;
  }

 private:
  static bool is_same(const Constant& a, const Constant& b) {
    return a.desc() == b.desc() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
  }
  std::multimap<Digest128, ConstantPtr> known_;
};

class GearJoin {
 public:
  void add(const Graph& gear, const std::string& prefix) {
    const auto base = static_cast<ValueId>(joined_.values.size());
    const auto moved = [&](std::vector<ValueId> ids) {
      for (ValueId& id : ids)
        if (id != kNone) id += base;
      return ids;
    };
    for (const Value& value : gear.values)
      joined_.add_value(prefix + value.name, value.desc, constants_.shared(value.constant));
    for (const NodeId id : gear.topological_order()) {
      Node node = gear.nodes[id];
      node.name = prefix + node.name;
      node.inputs = moved(node.inputs);
      node.outputs = moved(node.outputs);
      joined_.add_node(std::move(node));
    }
    for (const ValueId id : moved(gear.inputs)) joined_.inputs.push_back(id);
    for (const ValueId id : moved(gear.outputs)) joined_.outputs.push_back(id);
    joined_.name = gear.name;
    joined_.texts = gear.texts;
  }

  Graph take() { return std::move(joined_); }

 private:
  Graph joined_;
  ConstantPool constants_;
};

using Descs = std::vector<TensorDesc>;

Descs descs_of(const Graph& graph, const std::vector<ValueId>& ids) {
  Descs descs;
  for (const ValueId id : ids) descs.push_back(graph.values[id].desc);
  return descs;
}

/// A program that uses the model can see sizes change, nothing else.
void check_outputs(const Graph& graph, const Descs& first) {
  const Descs now = descs_of(graph, graph.outputs);
  AOE_CHECK(now.size() == first.size(), "gears with other outputs");
  for (std::size_t i = 0; i < now.size(); ++i)
    if (now[i].dtype != first[i].dtype || now[i].shape.size() != first[i].shape.size())
      throw Error(ExitCode::kModel,
                  "is " + to_string(now[i]) + " here and " + to_string(first[i]) +
                      " in the first gear; only sizes may change",
                  "output '" + graph.values[graph.outputs[i]].name + "'");
}

/// The axes that --input_shape leaves open, and those that a name of the model binds to them.
std::vector<std::vector<int>> dynamic_axes(const std::vector<std::string>& names,
                                           const std::vector<Descs>& inputs_by_gear,
                                           const GearRequest& request) {
  std::vector<std::vector<int>> axes(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Shape& first = inputs_by_gear.front()[i].shape;
    const auto asked =
        std::ranges::find(request.input_shapes, names[i], &std::pair<std::string, Shape>::first);
    for (std::size_t axis = 0; axis < first.size(); ++axis) {
      const bool is_open =
          asked != request.input_shapes.end() && asked->second[axis] == kUnknownDim;
      const bool differs = std::ranges::any_of(
          inputs_by_gear, [&](const Descs& gear) { return gear[i].shape[axis] != first[axis]; });
      if (is_open || differs) axes[i].push_back(static_cast<int>(axis));
    }
  }
  return axes;
}

/// Programs fill in batch and image sizes by axis; a name of the model may bind them elsewhere.
void check_axes(const Gears& gears, const std::vector<std::string>& names) {
  const std::vector<int> allowed = gears.kind == GearKind::kBatch   ? std::vector{0}
                                   : gears.kind == GearKind::kImage ? std::vector{2, 3}
                                                                    : std::vector<int>{};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!allowed.empty() && !gears.dynamic_axes[i].empty() && gears.dynamic_axes[i] != allowed)
      throw Error(ExitCode::kUsage,
                  "input '" + names[i] + "' would change in other dimensions, too",
                  gear_flag(gears.kind), "use " + gear_flag(GearKind::kDims));
}

/// What it throws names the gear.
template <typename Body>
void in_gear(const GearRequest& request, std::size_t gear, Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    throw Error(error.code(), error.what(),
                gear_flag(request.kind) + ", gear " + gear_text(request.values[gear]));
  }
}

}  // namespace

std::vector<Graph> import_each_gear(const ImportModel& import, const ImportOptions& options,
                                    const GearRequest& request) {
  std::vector<Graph> graphs;
  ConstantPool constants;
  for (std::size_t gear = 0; gear < request.values.size(); ++gear) {
    in_gear(request, gear, [&] {
      ImportOptions sized = options;
      sized.input_shapes = input_shapes_of(request, gear);
      graphs.push_back(import(sized));
    });
    for (Value& value : graphs.back().values) value.constant = constants.shared(value.constant);
  }
  return graphs;
}

GearedGraph join_gears(std::vector<Graph> graphs, const GearRequest& request,
                       const PassOptions& passes) {
  AOE_CHECK(graphs.size() == request.values.size(), "a graph for each gear");
  GearJoin join;
  std::vector<std::string> input_names;
  std::vector<Descs> inputs_by_gear;
  Descs first_outputs;
  Texts first_texts;
  for (std::size_t gear = 0; gear < graphs.size(); ++gear) {
    in_gear(request, gear, [&] {
      Graph graph = std::move(graphs[gear]);
      run_passes(graph, passes);
      inputs_by_gear.push_back(descs_of(graph, graph.inputs));
      if (gear == 0) {
        for (const ValueId id : graph.inputs) input_names.push_back(graph.values[id].name);
        first_outputs = descs_of(graph, graph.outputs);
      }
      check_outputs(graph, first_outputs);
      if (gear == 0) first_texts = graph.texts;
      if (graph.texts != first_texts)
        throw Error(ExitCode::kModel, "the model knows other texts than in the first gear");
      join.add(graph, gear_prefix(request.values[gear]));
    });
  }
  Gears gears{request.kind, request.values, dynamic_axes(input_names, inputs_by_gear, request)};
  check_axes(gears, input_names);
  return {join.take(), std::move(gears)};
}

}  // namespace aoe::graph
