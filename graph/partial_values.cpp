#include "graph/partial_values.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/size.h"
#include "graph/open_integer.h"
#include "reference/op.h"
#include "reference/tensors/axes.h"

namespace aoe::graph {
namespace {

constexpr std::size_t kMostBytes = 1024;

std::span<const std::int64_t> entries(const Constant& list) {
  return {static_cast<const std::int64_t*>(list.data()), list.size_bytes() / sizeof(std::int64_t)};
}

bool is_whole(const Constant& list) {
  return std::ranges::none_of(entries(list), is_open);
}

/// A number that stands for an open one elsewhere; no model that means something has one.
bool looks_open(const Tensor& value) {
  return value.data != nullptr && value.desc.dtype == DataType::kInt64 &&
         std::ranges::any_of(std::span(value.as<std::int64_t>(), value.elements()),
                             [](std::int64_t entry) { return decode(entry).has_value(); });
}

/// One dimension that Reshape or Expand give for an entry of their list.
std::int64_t dim_for(std::int64_t entry, std::string_view type) {
  const std::int64_t least = type == "Expand" ? 2 : type == "Reshape" ? 1 : 0;
  return entry >= least ? entry : kUnknownDim;
}

std::vector<std::int64_t> copied(const Tensor& list) {
  const std::span<const std::int64_t> entries(list.as<std::int64_t>(), list.elements());
  return {entries.begin(), entries.end()};
}

/// Of a sum or difference of lists of equal lengths, or of a list and a number; nullptr where one is not known at all.
ConstantPtr sum(const Node& node, const std::vector<Tensor>& inputs, const TensorDesc& output) {
  if (inputs[0].data == nullptr || inputs[1].data == nullptr || storage_bytes(output) > kMostBytes)
    return nullptr;
  const auto a = copied(inputs[0]), b = copied(inputs[1]);
  const auto count = static_cast<std::size_t>(element_count(output.shape));
  const auto fits = [&](const auto& list) { return list.size() == 1 || list.size() == count; };
  if (!fits(a) || !fits(b)) return nullptr;
  const auto result = std::make_shared<Constant>(output);
  auto* to = static_cast<std::int64_t*>(result->mutable_data());
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t x = a[a.size() == 1 ? 0 : i], y = b[b.size() == 1 ? 0 : i];
    to[i] = node.op.type == "Add" ? open_sum(x, y) : open_difference(x, y);
  }
  return result;
}

/// A list of as many numbers of which nothing is known; nullptr where only a run knows how many, or they are no integers.
ConstantPtr missing_list(const TensorDesc& desc) {
  if (desc.dtype != DataType::kInt64 || !is_static(desc.shape) || storage_bytes(desc) > kMostBytes)
    return nullptr;
  auto list = std::make_shared<Constant>(desc);
  std::fill_n(static_cast<std::int64_t*>(list->mutable_data()), element_count(desc.shape),
              kMissing);
  return list;
}

/// How many steps lead from start to end.
std::int64_t steps_between(std::int64_t start, std::int64_t end, std::int64_t step) {
  const std::int64_t span = open_difference(end, start);
  if (is_open(span) || step <= 0) return kUnknownDim;
  return std::max<std::int64_t>(0, span / step + (span % step > 0));
}

}  // namespace

std::vector<ConstantPtr> PartialValues::learn(const Graph& graph, const Node& node,
                                              std::vector<Tensor> inputs,
                                              EvaluationBudget& budget) {
  std::vector<ConstantPtr> lists = moved(graph, node, std::move(inputs), budget);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (!lists[i] || is_whole(*lists[i])) continue;
    known_[node.outputs[i]] = std::move(lists[i]);
    lists[i] = nullptr;
  }
  return lists;
}

std::vector<ConstantPtr> PartialValues::moved(const Graph& graph, const Node& node,
                                              std::vector<Tensor> inputs,
                                              EvaluationBudget& budget) {
  const auto is_list = [&](ValueId id) {
    return id == kNone || (graph.values[id].desc.dtype == DataType::kInt64 &&
                           is_static(graph.values[id].desc.shape));
  };
  if (!std::ranges::all_of(node.outputs, is_list)) return {};
  if (node.op.type == "Shape")
    return {open_shape(node, inputs[0], graph.values[node.outputs[0]].desc)};
  const bool is_sum = node.op.type == "Add" || node.op.type == "Sub";
  const std::size_t lists =
      is_sum ? inputs.size() : reference::moved_inputs(node.op.type, inputs.size());
  std::vector<Tensor> known = inputs;
  std::vector<ConstantPtr> missing;  // what is joined to lists of which something is known
  bool has_open = false, has_known = false;
  for (std::size_t i = 0; i < lists; ++i) {
    const auto list = known_.find(node.inputs[i]);
    has_known |= inputs[i].data != nullptr || list != known_.end();
    if (inputs[i].data != nullptr) continue;
    if (list != known_.end())
      known[i] = list->second->view();
    else if (!is_sum && missing.emplace_back(missing_list(inputs[i].desc)))
      known[i] = missing.back()->view();
    else
      continue;
    has_open = true;
  }
  if (!has_known) return {};
  if (!has_open || std::ranges::any_of(inputs, looks_open)) return {};
  return is_sum ? std::vector{sum(node, known, graph.values[node.outputs[0]].desc)}
                : evaluate(graph, node, known, kMostBytes, budget);
}

ConstantPtr PartialValues::open_shape(const Node& node, const Tensor& input,
                                      const TensorDesc& output) {
  Tensor named = input;
  for (std::size_t axis = 0; axis < named.desc.shape.size(); ++axis) {
    if (named.desc.shape[axis] != kUnknownDim) continue;
    const std::int64_t next = static_cast<std::int64_t>(names_.size());
    const std::int64_t name = names_.try_emplace({node.inputs[0], axis}, next).first->second;
    named.desc.shape[axis] = encode({name, 0});
  }
  const auto list = std::make_shared<Constant>(output);
  const Tensor given[] = {named};
  const Tensor result[] = {{output, list->mutable_data()}};
  reference::run(node.op, given, result);
  return list;
}

/// Empty where nothing is known.
std::vector<std::int64_t> PartialValues::entries_of(ValueId id, const Tensor& value) const {
  if (value.desc.dtype != DataType::kInt64) return {};
  if (value.data != nullptr) return copied(value);
  const auto list = known_.find(id);
  return list == known_.end() ? std::vector<std::int64_t>{} : copied(list->second->view());
}

std::optional<Shape> PartialValues::asked_shape(const Node& node,
                                                const std::vector<Tensor>& inputs) const {
  const std::string& type = node.op.type;
  if (type == "Range") return range_shape(node, inputs);
  if (type == "Slice") return slice_shape(node, inputs);
  if (type == "PadV3") return pad_shape(node, inputs);
  const std::size_t at = type == "Fill" ? 0 : 1;
  if (type != "Fill" && type != "Reshape" && type != "Expand") return std::nullopt;
  const auto list = known_.find(node.inputs[at]);
  if (inputs[at].data != nullptr || list == known_.end()) return std::nullopt;
  Shape shape;
  for (const std::int64_t entry : entries(*list->second)) shape.push_back(dim_for(entry, type));
  return shape;
}

Shape PartialValues::range_shape(const Node& node, const std::vector<Tensor>& inputs) const {
  const auto start = entries_of(node.inputs[0], inputs[0]);
  const auto limit = entries_of(node.inputs[1], inputs[1]);
  const auto delta = entries_of(node.inputs[2], inputs[2]);
  if (start.size() != 1 || limit.size() != 1 || delta.size() != 1) return {kUnknownDim};
  return {steps_between(start[0], limit[0], delta[0])};
}

/// As many places as lie between start and end, where the dimension is known to have some: a run that asks for places that it
/// does not have contradicts the model.
std::optional<Shape> PartialValues::slice_shape(const Node& node,
                                                const std::vector<Tensor>& inputs) const {
  if (inputs.size() < 4 || !inputs[3].data) return std::nullopt;
  const auto starts = entries_of(node.inputs[1], inputs[1]);
  const auto ends = entries_of(node.inputs[2], inputs[2]);
  const auto axes = entries_of(node.inputs[3], inputs[3]);
  const bool has_steps = inputs.size() > 4 && inputs[4].is_present();
  const auto steps =
      has_steps ? entries_of(node.inputs[4], inputs[4]) : std::vector<std::int64_t>(axes.size(), 1);
  if (axes.empty() || starts.size() != axes.size() || ends.size() != axes.size() ||
      steps.size() != axes.size())
    return std::nullopt;
  Shape shape(inputs[0].desc.shape.size(), kUnknownDim);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = reference::normalize_axis(axes[i], shape.size());
    if (inputs[0].desc.shape[axis] != kUnknownDim && decode(starts[i]) && decode(ends[i]))
      shape[axis] = steps_between(starts[i], ends[i], steps[i]);
  }
  return shape;
}

/// What is known to get no border, or one that is known.
std::optional<Shape> PartialValues::pad_shape(const Node& node,
                                              const std::vector<Tensor>& inputs) const {
  const bool has_axes = inputs.size() > 3 && inputs[3].is_present();
  if (inputs.size() < 2 || !inputs[1].is_present() || has_axes) return std::nullopt;
  const auto pads = entries_of(node.inputs[1], inputs[1]);
  Shape shape = inputs[0].desc.shape;
  if (pads.size() != 2 * shape.size()) return std::nullopt;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t before = pads[d], after = pads[shape.size() + d];
    const bool is_known = shape[d] != kUnknownDim && !is_open(before) && !is_open(after);
    shape[d] = is_known ? checked_sum(shape[d], checked_sum(before, after)) : kUnknownDim;
    if (shape[d] < 0) shape[d] = kUnknownDim;
  }
  return shape;
}

}  // namespace aoe::graph
