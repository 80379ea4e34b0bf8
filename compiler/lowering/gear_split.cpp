// Follows the data from the inputs and outputs of each gear: the gears of a joined graph share
// nothing but constants.
#include "compiler/lowering/gear_split.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace aoe::compiler {
namespace {

using runtime::Om;
using runtime::OmStep;
using runtime::OmTensor;
using runtime::Place;

std::vector<int> tensors_of(const OmStep& step) {
  std::vector<int> ids = step.inputs;
  ids.insert(ids.end(), step.outputs.begin(), step.outputs.end());
  ids.insert(ids.end(), step.constants.begin(), step.constants.end());
  ids.push_back(step.workspace);
  std::erase(ids, -1);
  return ids;
}

/// Tensors that steps connect are of one gear (union-find).
class Parts {
 public:
  explicit Parts(const Om& om) : parent_(om.tensors.size()) {
    std::iota(parent_.begin(), parent_.end(), 0);
    for (const OmStep& step : om.steps) {
      int joined = -1;
      for (const int id : tensors_of(step)) {
        if (om.tensors[id].place == Place::kWeight) continue;
        if (joined >= 0) parent_[find(id)] = find(joined);
        joined = id;
      }
    }
  }
  int find(int id) {
    while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
    return id;
  }

 private:
  std::vector<int> parent_;
};

class GearSplit {
 public:
  GearSplit(const Om& joined, const Gears& gears)
      : joined_(joined), gears_(gears), gear_of_part_(joined.tensors.size(), -1) {
    AOE_CHECK(joined.inputs.size() % gears.count() == 0, "as many inputs in every gear");
    AOE_CHECK(joined.outputs.size() % gears.count() == 0, "as many outputs in every gear");
    Parts parts(joined);
    for (std::size_t i = 0; i < joined.inputs.size(); ++i)
      claim(parts.find(joined.inputs[i]), i / input_count());
    for (std::size_t i = 0; i < joined.outputs.size(); ++i)
      if (joined.tensors[joined.outputs[i]].place != Place::kWeight)
        claim(parts.find(joined.outputs[i]), i / output_count());
    for (std::size_t id = 0; id < joined.tensors.size(); ++id)
      gear_of_tensor_.push_back(gear_of_part_[parts.find(static_cast<int>(id))]);
  }

  Om gear(std::size_t g) const {
    Om om;
    static_cast<runtime::OmHead&>(om) = joined_;
    om.texts = joined_.texts;
    om.weights_view = joined_.weights_view;
    om.code_view = joined_.code_view;
    om.owner = joined_.owner;
    std::vector<int> new_ids(joined_.tensors.size(), -1);
    const auto moved = [&](int id) { return id < 0 ? -1 : moved_tensor(id, g, new_ids, om); };
    for (std::size_t i = 0; i < input_count(); ++i)
      om.inputs.push_back(moved(joined_.inputs[g * input_count() + i]));
    for (const OmStep& step : joined_.steps)
      if (gear_of(step) == static_cast<int>(g)) add_step(step, g, moved, om);
    for (std::size_t i = 0; i < output_count(); ++i)
      om.outputs.push_back(moved(joined_.outputs[g * output_count() + i]));
    om.tuning = tuning_of(g);
    return om;
  }

 private:
  std::size_t input_count() const { return joined_.inputs.size() / gears_.count(); }
  std::size_t output_count() const { return joined_.outputs.size() / gears_.count(); }

  void claim(int part, std::size_t gear) {
    int& owner = gear_of_part_[part];
    AOE_CHECK(owner < 0 || owner == static_cast<int>(gear), "two gears share data");
    owner = static_cast<int>(gear);
  }

  int gear_of(const OmStep& step) const {
    for (const int id : tensors_of(step))
      if (joined_.tensors[id].place != Place::kWeight) return gear_of_tensor_[id];
    return -1;
  }

  std::string own_name(const std::string& name, std::size_t g) const {
    const std::string prefix = gear_prefix(gears_.values[g]);
    return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
  }

  int moved_tensor(int id, std::size_t g, std::vector<int>& new_ids, Om& om) const {
    if (new_ids[id] >= 0) return new_ids[id];
    OmTensor tensor = joined_.tensors[id];
    tensor.name = own_name(tensor.name, g);
    if (tensor.place == Place::kInput) tensor.offset -= g * input_count();
    if (tensor.place == Place::kOutput) tensor.offset -= g * output_count();
    if (tensor.place == Place::kArena)
      om.arena_bytes = std::max(om.arena_bytes, tensor.offset + storage_bytes(tensor.desc));
    om.tensors.push_back(std::move(tensor));
    return new_ids[id] = static_cast<int>(om.tensors.size()) - 1;
  }

  template <typename Moved>
  void add_step(const OmStep& joined_step, std::size_t g, Moved& moved, Om& om) const {
    OmStep step = joined_step;
    step.name = own_name(step.name, g);
    for (std::vector<int>* ids : {&step.inputs, &step.outputs, &step.constants})
      for (int& id : *ids) id = moved(id);
    step.workspace = moved(step.workspace);
    om.steps.push_back(std::move(step));
  }

  nlohmann::json tuning_of(std::size_t g) const {
    const std::string prefix = gear_prefix(gears_.values[g]);
    nlohmann::json tuning = nlohmann::json::object();
    for (const auto& [key, value] : joined_.tuning.items())
      if (key != "nodes" && key != "subgraphs") tuning[key] = value;
    tuning["subgraphs"] = subgraphs_of(g);
    nlohmann::json& nodes = tuning["nodes"] = nlohmann::json::array();
    for (const nlohmann::json& node : joined_.tuning.at("nodes")) {
      const auto& name = node.at("node").get_ref<const std::string&>();
      if (!name.starts_with(prefix)) continue;
      nodes.push_back(node);
      nodes.back()["node"] = own_name(name, g);
    }
    return tuning;
  }

  nlohmann::json subgraphs_of(std::size_t g) const {
    const std::string prefix = gear_prefix(gears_.values[g]);
    nlohmann::json subgraphs = nlohmann::json::array();
    for (nlohmann::json subgraph : joined_.tuning.value("subgraphs", nlohmann::json::array())) {
      nlohmann::json& nodes = subgraph.at("nodes");
      if (nodes.empty() || !nodes.front().get_ref<const std::string&>().starts_with(prefix))
        continue;
      for (nlohmann::json& node : nodes) node = own_name(node.get<std::string>(), g);
      subgraphs.push_back(std::move(subgraph));
    }
    return subgraphs;
  }

  const Om& joined_;
  const Gears& gears_;
  std::vector<int> gear_of_part_;  ///< by root tensor; -1: of no gear
  std::vector<int> gear_of_tensor_;
};

}  // namespace

runtime::GearedOm split_gears(Om joined, const Gears& gears) {
  const bool is_built = joined.weights_view.empty() && joined.code_view.empty();
  if (is_built) {  // the views need an owner
    const auto built = std::make_shared<const std::pair<AlignedBytes, std::string>>(
        std::move(joined.weights), std::move(joined.code));
    joined.weights_view = {built->first.data(), built->first.size()};
    joined.code_view = built->second;
    joined.owner = built;
  }
  const GearSplit split(joined, gears);
  runtime::GearedOm model{.gears = gears, .oms = {}};
  for (std::size_t g = 0; g < gears.count(); ++g) model.oms.push_back(split.gear(g));
  return model;
}

runtime::GearedOm om_model(Om om, const Gears& gears) {
  if (!gears.empty()) return split_gears(std::move(om), gears);
  runtime::GearedOm model;
  model.oms.push_back(std::move(om));
  return model;
}

}  // namespace aoe::compiler
