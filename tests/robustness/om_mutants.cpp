// Sections are JSON trees: a node is drawn, and something done to it that its kind allows.
#include "tests/robustness/om_mutants.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "runtime/om/om_container.h"
#include "tests/runtime/om_sections.h"

namespace aoe::tests {
namespace {

using nlohmann::json;
using runtime::OmSection;
using runtime::SectionKind;

constexpr int kMostFieldChanges = 3;
constexpr std::size_t kAlignment = 64;

class FieldMutator {
 public:
  explicit FieldMutator(std::mt19937& random) : random_(random) {}

  void change(json& tree) {
    by_key_.clear();
    collect(tree, "");
    const auto& [key, nodes] = *std::next(by_key_.begin(), pick(by_key_.size()));
    json& node = *nodes[pick(nodes.size())];
    const std::string before = json_text(node).substr(0, kShown);
    replace(node, nodes);
    what_ += (what_.empty() ? "" : "; ") + key + " " + before + " -> " +
             json_text(node).substr(0, kShown);
  }

  std::size_t pick(std::size_t count) { return random_() % count; }
  const std::string& what() const { return what_; }

 private:
  static constexpr std::size_t kShown = 40;

  /// Nodes by key: drawn by key first, so that the many names do not hide the few sizes.
  void collect(json& node, const std::string& key) {
    if (!key.empty()) by_key_[key].push_back(&node);
    if (node.is_object())
      for (auto& [inner, value] : node.items()) collect(value, inner);
    else if (node.is_array())
      for (json& each : node) collect(each, key + "[]");
  }

  void replace(json& node, const std::vector<json*>& alike) {
    if (pick(4) == 0) {
      const json other = *alike[pick(alike.size())];
      node = other;
    } else if (node.is_array()) {
      reorder(node);
    } else if (node.is_object()) {
      if (!node.empty())
        node.erase(std::next(node.begin(), static_cast<std::ptrdiff_t>(pick(node.size()))));
    } else if (node.is_boolean()) {
      node = !node.get<bool>();
    } else if (node.is_number_float()) {
      node = pick(2) == 0 ? -node.get<double>() : 1e300;
    } else if (node.is_number()) {
      node = number(node.get<std::int64_t>());
    } else {
      node = pick(2) == 0 ? json("") : json(std::int64_t{1} << pick(40));
    }
  }

  void reorder(json& list) {
    if (list.empty()) {
      list.push_back(static_cast<std::int64_t>(pick(8)));
      return;
    }
    const std::size_t i = pick(list.size()), k = pick(list.size());
    const json copy = list[i];
    switch (pick(4)) {
      case 0:
        list.erase(i);
        break;
      case 1:
        list.push_back(copy);
        break;
      case 2:
        std::swap(list[i], list[k]);
        break;
      default:
        list[k] = copy;
    }
  }

  std::int64_t number(std::int64_t old) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    const std::int64_t others[] = {0,
                                   -1,
                                   1,
                                   -2,
                                   7,
                                   64,
                                   4096,
                                   1 << 20,
                                   std::int64_t{1} << 31,
                                   std::int64_t{1} << 32,
                                   std::int64_t{1} << 47,
                                   std::int64_t{1} << 62,
                                   kMost,
                                   -kMost};
    switch (pick(4)) {
      case 0:
        return old < kMost ? old + 1 : old;
      case 1:
        return old > -kMost ? old - 1 : old;
      case 2:
        return old < kMost / 2 && old > -kMost / 2 ? old * 2 : old / 2;
      default:
        return others[pick(std::size(others))];
    }
  }

  std::mt19937& random_;
  std::map<std::string, std::vector<json*>> by_key_;
  std::string what_;
};

/// The steps of a graph that have bodies.
std::vector<json*> control_steps(json& graph) {
  std::vector<json*> found;
  for (json& step : graph.at("steps"))
    if (step.at("kind") == "control" && !step.at("constants").empty()) found.push_back(&step);
  return found;
}

/// Changes a body of the step; the weights, which bodies are part of, grow by it.
std::string change_body(json& graph, const json& step, std::string weights, std::mt19937& random) {
  std::vector<json*> bodies;  // behind them stand their weights
  for (const json& id : step.at("constants")) {
    json& constant = graph.at("tensors").at(id.get<std::size_t>());
    if (weights.substr(constant.at("offset").get<std::size_t>()).starts_with("AOEOM"))
      bodies.push_back(&constant);
  }
  if (bodies.empty()) return weights;  // those of a body lie in the om around it
  json& tensor = *bodies.at(random() % bodies.size());
  const std::string body = weights.substr(tensor.at("offset").get<std::size_t>(),
                                          tensor.at("shape").at(0).get<std::size_t>());
  const OmMutant mutant = mutate_om(body, random);
  weights.resize((weights.size() + kAlignment - 1) / kAlignment * kAlignment);
  tensor["offset"] = weights.size();
  tensor["shape"] = {mutant.bytes.size()};
  weights += mutant.bytes;
  return weights;
}

/// Tensors whose sizes only a run tells.
std::vector<json*> open_tensors(json& graph) {
  std::vector<json*> found;
  for (json& tensor : graph.at("tensors"))
    if (std::ranges::find(tensor.at("shape"), json(-1)) != tensor.at("shape").end())
      found.push_back(&tensor);
  return found;
}

/// Every open size of the tensor becomes a number: what reads it may believe that.
std::string close_sizes(json& tensor, std::mt19937& random) {
  constexpr int kSizes[] = {0, 1, 2, 3, 4, 8, 64, 4096};
  for (json& dim : tensor.at("shape"))
    if (dim == -1) dim = kSizes[random() % std::size(kSizes)];
  return "sizes of an open tensor -> " + json_text(tensor.at("shape"));
}

}  // namespace

OmMutant mutate_om(const std::string& bytes, std::mt19937& random) {
  std::vector<OmSection> sections = runtime::read_container(bytes, "mutant");
  std::vector<std::string> changed(sections.size());
  FieldMutator mutator(random);
  OmMutant mutant;
  std::vector<std::size_t> graphs, others;
  std::size_t weights = 0;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].kind == SectionKind::kGraph) graphs.push_back(i);
    if (sections[i].kind == SectionKind::kWeights) weights = i;
    if (sections[i].kind == SectionKind::kTuning || sections[i].kind == SectionKind::kGears)
      others.push_back(i);
  }
  const std::size_t place = mutator.pick(10) == 0 ? others[mutator.pick(others.size())]
                                                  : graphs[mutator.pick(graphs.size())];
  json tree = parse_cbor(sections[place].bytes);
  const bool is_graph = sections[place].kind == SectionKind::kGraph;
  const std::vector<json*> controls = is_graph ? control_steps(tree) : std::vector<json*>{};
  const std::vector<json*> open = is_graph ? open_tensors(tree) : std::vector<json*>{};
  if (!controls.empty() && mutator.pick(3) == 0) {
    changed[weights] = change_body(tree, *controls[mutator.pick(controls.size())],
                                   std::string(sections[weights].bytes), random);
    mutant.what = "a body";
  } else if (!open.empty() && mutator.pick(3) == 0) {
    mutant.what = close_sizes(*open[mutator.pick(open.size())], random);
  } else {
    for (std::size_t i = 0, count = 1 + mutator.pick(kMostFieldChanges); i < count && !tree.empty();
         ++i)
      mutator.change(tree);
    mutant.what = mutator.what();
  }
  changed[place] = cbor_bytes(tree);
  for (std::size_t i = 0; i < sections.size(); ++i)
    if (!changed[i].empty()) sections[i].bytes = changed[i];
  mutant.bytes = om_of(sections);
  return mutant;
}

}  // namespace aoe::tests
