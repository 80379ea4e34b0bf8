// A graph interpreter on top of the reference.
#include "tests/graph/interpret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "base/error.h"
#include "base/text_pool.h"
#include "reference/elements/typed.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/broadcast.h"
#include "reference/tensors/widen.h"

namespace aoe::tests {

using graph::Graph;
using graph::kNone;
using graph::Node;
using graph::ValueId;

namespace {

bool is_true(const ConstantPtr& value) {
  return *static_cast<const unsigned char*>(value->data()) != 0;
}

/// What one body gives, for its own inputs.
class BodyRun {
 public:
  BodyRun(const Node& node, const std::vector<ConstantPtr>& operands, std::size_t body)
      : graph_(*node.bodies[body]) {
    const auto counts = node.op.attrs.get_ints("captures");
    auto end = operands.end();
    for (std::size_t b = counts.size() - 1; b > body; --b) end -= counts[b];
    captures_.assign(end - counts[body], end);
  }
  std::vector<ConstantPtr> operator()(std::vector<ConstantPtr> own) const {
    own.insert(own.end(), captures_.begin(), captures_.end());
    return interpret(graph_, own);
  }
  std::size_t own_inputs() const { return graph_.inputs.size() - captures_.size(); }
  const Graph& graph() const { return graph_; }

 private:
  const Graph& graph_;
  std::vector<ConstantPtr> captures_;
};

/// Copies of one slice along `axis`, between a whole tensor and the slice alone.
void copy_slice(const Tensor& whole, const Tensor& slice, std::size_t axis, std::int64_t place,
                bool is_into_whole) {
  const reference::AxisView view = reference::view_axis(whole.desc.shape, axis);
  const std::size_t row = static_cast<std::size_t>(view.inner) * size_bytes(whole.desc.dtype);
  for (std::int64_t outer = 0; outer < view.outer && row > 0; ++outer) {
    char* in_whole = whole.as<char>() + static_cast<std::size_t>(outer * view.dim + place) * row;
    char* in_slice = slice.as<char>() + static_cast<std::size_t>(outer) * row;
    std::memcpy(is_into_whole ? in_whole : in_slice, is_into_whole ? in_slice : in_whole, row);
  }
}

/// The slices in their order as one tensor; `desc` is that of a slice where there is none, and what is open in it has size 0 then.
ConstantPtr stacked(const std::vector<ConstantPtr>& slices, TensorDesc desc, std::int64_t axis,
                    bool is_reversed) {
  if (!slices.empty()) desc = slices[0]->desc();
  for (std::int64_t& dim : desc.shape) dim = std::max<std::int64_t>(dim, 0);
  const auto at = reference::normalize_axis(axis, desc.shape.size() + 1);
  desc.shape.insert(desc.shape.begin() + static_cast<std::ptrdiff_t>(at), std::ssize(slices));
  auto whole = std::make_shared<Constant>(desc);
  for (std::int64_t i = 0; i < std::ssize(slices); ++i) {
    const std::int64_t place = is_reversed ? std::ssize(slices) - 1 - i : i;
    copy_slice(whole->view(), slices[static_cast<std::size_t>(i)]->view(), at, place, true);
  }
  return whole;
}

std::vector<ConstantPtr> run_loop(const Node& node, const std::vector<ConstantPtr>& operands) {
  const BodyRun body(node, operands, 0);
  const std::size_t carried = body.own_inputs() - 2;
  std::vector<ConstantPtr> values(operands.begin() + 2,
                                  operands.begin() + 2 + static_cast<std::ptrdiff_t>(carried));
  std::vector<std::vector<ConstantPtr>> collected(body.graph().outputs.size() - 1 - carried);
  ConstantPtr goes_on = operands[1];
  for (std::int64_t trip = 0; (!operands[0] || trip < *operands[0]->view().as<std::int64_t>()) &&
                              (!goes_on || is_true(goes_on));
       ++trip) {
    const bool is_on = true;
    std::vector<ConstantPtr> own = {
        std::make_shared<Constant>(TensorDesc{.dtype = DataType::kInt64}, &trip),
        std::make_shared<Constant>(TensorDesc{.dtype = DataType::kBool}, &is_on)};
    own.insert(own.end(), values.begin(), values.end());
    const std::vector<ConstantPtr> given = body(own);
    goes_on = given[0];
    values.assign(given.begin() + 1, given.begin() + 1 + static_cast<std::ptrdiff_t>(carried));
    for (std::size_t i = 0; i < collected.size(); ++i)
      collected[i].push_back(given[1 + carried + i]);
  }
  for (std::size_t i = 0; i < collected.size(); ++i)
    values.push_back(stacked(
        collected[i], body.graph().values[body.graph().outputs[1 + carried + i]].desc, 0, false));
  return values;
}

std::vector<ConstantPtr> run_scan(const Node& node, const std::vector<ConstantPtr>& operands) {
  const BodyRun body(node, operands, 0);
  const auto number = [&](const char* list, std::size_t i) {
    const auto numbers = node.op.attrs.get_ints(list);
    return i < numbers.size() ? numbers[i] : 0;
  };
  const auto scans = static_cast<std::size_t>(node.op.attrs.get_int("num_scan_inputs", 0));
  const std::size_t states = body.own_inputs() - scans;
  const auto axis_of = [&](std::size_t scan) {
    return reference::normalize_axis(number("scan_input_axes", scan),
                                     operands[states + scan]->desc().shape.size());
  };
  const std::int64_t trips = operands[states]->desc().shape[axis_of(0)];
  for (std::size_t i = 1; i < scans; ++i)
    if (operands[states + i]->desc().shape[axis_of(i)] != trips)
      throw Error(ExitCode::kModel, "what it scans differs in length");
  std::vector<ConstantPtr> values(operands.begin(),
                                  operands.begin() + static_cast<std::ptrdiff_t>(states));
  std::vector<std::vector<ConstantPtr>> collected(body.graph().outputs.size() - states);
  for (std::int64_t trip = 0; trip < trips; ++trip) {
    std::vector<ConstantPtr> own = values;
    for (std::size_t i = 0; i < scans; ++i) {
      TensorDesc desc = operands[states + i]->desc();
      desc.shape.erase(desc.shape.begin() + static_cast<std::ptrdiff_t>(axis_of(i)));
      auto slice = std::make_shared<Constant>(desc);
      const bool is_reversed = number("scan_input_directions", i) != 0;
      copy_slice(operands[states + i]->view(), slice->view(), axis_of(i),
                 is_reversed ? trips - 1 - trip : trip, false);
      own.push_back(slice);
    }
    const std::vector<ConstantPtr> given = body(own);
    values.assign(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(states));
    for (std::size_t i = 0; i < collected.size(); ++i) collected[i].push_back(given[states + i]);
  }
  for (std::size_t i = 0; i < collected.size(); ++i)
    values.push_back(
        stacked(collected[i], body.graph().values[body.graph().outputs[states + i]].desc,
                number("scan_output_axes", i), number("scan_output_directions", i) != 0));
  return values;
}

/// Slices `first` to `first + count` along an axis, the last one again where there are fewer.
ConstantPtr slices_of(const Tensor& whole, std::size_t axis, std::int64_t first,
                      std::int64_t count) {
  TensorDesc desc = whole.desc;
  desc.shape[axis] = 1;
  std::vector<ConstantPtr> slices;
  for (std::int64_t i = 0; i < count; ++i) {
    auto slice = std::make_shared<Constant>(desc);
    copy_slice(whole, slice->view(), axis, std::min(first + i, whole.desc.shape[axis] - 1), false);
    slices.push_back(std::move(slice));
  }
  ConstantPtr all = stacked(slices, desc, static_cast<std::int64_t>(axis), false);
  desc.shape[axis] = count;
  return std::make_shared<Constant>(desc, all->data());
}

/// The sliced axes of a tensor: up to `dims` that end with `last`.
struct SlicedAxes {
  std::int64_t last, dims;
  std::ptrdiff_t begin() const { return std::max<std::int64_t>(0, last - dims + 1); }
  Shape of(const Shape& shape) const { return {shape.begin() + begin(), shape.begin() + last + 1}; }
  /// The same with others in their place.
  Shape with(Shape shape, const Shape& places) const {
    shape.erase(shape.begin() + begin(), shape.begin() + last + 1);
    shape.insert(shape.begin() + begin(), places.begin(), places.end());
    return shape;
  }
};

/// Stretched to all places, and all slices along the last of its own sliced axes.
ConstantPtr in_one_row(const ConstantPtr& value, const SlicedAxes& axes, const Shape& places) {
  const Shape own = axes.of(value->desc().shape);
  TensorDesc desc{.dtype = value->desc().dtype, .shape = axes.with(value->desc().shape, places)};
  const Constant stretched(desc);
  const TensorDesc shape{.dtype = DataType::kInt64, .shape = {std::ssize(desc.shape)}};
  reference::run({.type = "Expand"}, std::vector{value->view(), Tensor{shape, desc.shape.data()}},
                 std::vector{stretched.view()});
  Shape row(own.size(), 1);
  row.back() = element_count(places);
  desc.shape = axes.with(value->desc().shape, row);
  return std::make_shared<Constant>(desc, stretched.data());
}

Shape all_places(const std::vector<ConstantPtr>& operands, const std::vector<std::int64_t>& axes,
                 std::int64_t dims) {
  Shape places(static_cast<std::size_t>(dims), 1);
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] >= 0)
      places = reference::broadcast_shapes(places,
                                           SlicedAxes{axes[i], dims}.of(operands[i]->desc().shape));
  return places;
}

/// In parts of the shortest length, the last one short of slices.
std::vector<ConstantPtr> run_slices(const Node& node, const std::vector<ConstantPtr>& operands) {
  const Graph& body = *node.bodies.back();
  const auto axes = node.op.attrs.get_ints("axes"),
             output_axes = node.op.attrs.get_ints("output_axes");
  const std::int64_t dims = node.op.attrs.get_int("dims", 1);
  const Shape places = all_places(operands, axes, dims);
  const std::int64_t all = element_count(places);
  std::vector<ConstantPtr> rows = operands;
  std::int64_t length = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (axes[i] < 0) continue;
    rows[i] = in_one_row(operands[i], {axes[i], dims}, places);
    length = body.values[body.inputs[i]].desc.shape[static_cast<std::size_t>(axes[i])];
  }
  std::vector<std::shared_ptr<Constant>> results;
  for (std::size_t i = 0; i < body.outputs.size(); ++i) {
    TensorDesc desc = body.values[body.outputs[i]].desc;
    desc.shape[static_cast<std::size_t>(output_axes[i])] = all;
    results.push_back(std::make_shared<Constant>(desc));
  }
  for (std::int64_t first = 0; first < all; first += length) {
    std::vector<ConstantPtr> own;
    for (std::size_t i = 0; i < rows.size(); ++i)
      own.push_back(axes[i] < 0 ? rows[i]
                                : slices_of(rows[i]->view(), static_cast<std::size_t>(axes[i]),
                                            first, length));
    const std::vector<ConstantPtr> given = interpret(body, own);
    for (std::size_t i = 0; i < results.size(); ++i)
      for (std::int64_t k = 0; k < std::min(length, all - first); ++k) {
        const auto at = static_cast<std::size_t>(output_axes[i]);
        copy_slice(results[i]->view(), slices_of(given[i]->view(), at, k, 1)->view(), at, first + k,
                   true);
      }
  }
  std::vector<ConstantPtr> shaped;
  for (std::size_t i = 0; i < results.size(); ++i) {
    TensorDesc desc = results[i]->desc();
    desc.shape = SlicedAxes{output_axes[i], dims}.with(desc.shape, places);
    shaped.push_back(std::make_shared<Constant>(desc, results[i]->data()));
  }
  return shaped;
}

std::vector<ConstantPtr> run_control(const Node& node, const std::vector<ConstantPtr>& operands) {
  if (node.op.type == "MapSlices") return run_slices(node, operands);
  if (node.op.type == "If") return BodyRun(node, operands, is_true(operands[0]) ? 0 : 1)({});
  return node.op.type == "Loop" ? run_loop(node, operands) : run_scan(node, operands);
}

}  // namespace

std::vector<ConstantPtr> interpret(const Graph& graph, const std::vector<ConstantPtr>& inputs) {
  TextPool own(std::make_shared<const TextIndex>(graph.texts.list));
  const bool is_body = TextPool::current() != nullptr;
  const TextPool::Scope texts(is_body ? *TextPool::current() : own);
  std::vector<ConstantPtr> values(graph.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = graph.values[i].constant;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) values[graph.inputs[i]] = inputs[i];
  for (const graph::NodeId id : graph.topological_order()) {
    const Node& node = graph.nodes[id];
    if (!node.bodies.empty()) {
      std::vector<ConstantPtr> given;
      for (const ValueId input : node.inputs)
        given.push_back(input == kNone ? nullptr : values[input]);
      const std::vector<ConstantPtr> results = run_control(node, given);
      for (std::size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != kNone) values[node.outputs[i]] = results.at(i);
      continue;
    }
    std::vector<Tensor> operands;
    for (const ValueId input : node.inputs)
      operands.push_back(input == kNone ? Tensor{} : values[input]->view());
    const auto descs = reference::infer(node.op, operands, node.outputs.size());
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < descs.size(); ++i) {
      if (node.outputs[i] == kNone) {
        results.push_back({descs[i], nullptr});
        continue;
      }
      auto result = std::make_shared<Constant>(descs[i]);
      results.push_back({descs[i], result->mutable_data()});
      values[node.outputs[i]] = std::move(result);
    }
    reference::run(node.op, operands, results);
  }
  std::vector<ConstantPtr> outputs;
  for (const ValueId output : graph.outputs) outputs.push_back(values[output]);
  return outputs;
}

std::vector<ConstantPtr> random_inputs(const Graph& graph, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<ConstantPtr> inputs;
  for (const ValueId id : graph.inputs) {
    const TensorDesc& desc = graph.values[id].desc;
    auto input = std::make_shared<Constant>(desc);
    reference::visit_type<reference::AllTypes>(desc.dtype, [&]<typename T>() {
      T* to = static_cast<T*>(input->mutable_data());
      for (std::int64_t i = 0; i < element_count(desc.shape); ++i) {
        if (is_floating(desc.dtype))
          to[i] = reference::convert<T>(static_cast<float>(random() % 4000) / 1000.0f - 2.0f);
        else
          to[i] = reference::convert<T>(static_cast<std::int64_t>(random() % 2));
      }
    });
    inputs.push_back(std::move(input));
  }
  return inputs;
}

namespace {

/// Of the range. Types of 16 bits are rounded behind every operator, or once where the graph computes in float32.
double tolerance_of(DataType dtype) {
  constexpr double kRoundings = 4;
  if (dtype == DataType::kFloat16) return kRoundings * 0x1p-10;
  return dtype == DataType::kBFloat16 ? kRoundings * 0x1p-7 : 1e-5;
}

void expect_close(const Constant& expected, const Constant& actual, const std::string& what) {
  ASSERT_EQ(to_string(expected.desc()), to_string(actual.desc())) << what;
  if (!is_floating(expected.desc().dtype)) {
    EXPECT_EQ(std::memcmp(expected.data(), actual.data(), expected.size_bytes()), 0) << what;
    return;
  }
  const std::vector<double> e = reference::to_doubles(expected.view());
  const std::vector<double> a = reference::to_doubles(actual.view());
  double range = 0;
  for (const double each : e)
    if (std::isfinite(each)) range = std::max(range, std::abs(each));
  const double tolerance = tolerance_of(expected.desc().dtype);
  for (std::size_t i = 0; i < e.size(); ++i) {
    const bool is_same = e[i] == a[i] || (std::isnan(e[i]) && std::isnan(a[i]));
    ASSERT_TRUE(is_same || std::abs(e[i] - a[i]) <= tolerance * range)
        << what << ", element " << i << ": expected " << e[i] << ", is " << a[i];
  }
}

}  // namespace

void expect_same_outputs(const Graph& before, const Graph& after, std::uint32_t seed) {
  const std::vector<ConstantPtr> inputs = random_inputs(before, seed);
  const auto expected = interpret(before, inputs);
  const auto actual = interpret(after, inputs);
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    expect_close(
        *expected[i], *actual[i],
        "output " + before.values[before.outputs[i]].name + ", seed " + std::to_string(seed));
}

}  // namespace aoe::tests
