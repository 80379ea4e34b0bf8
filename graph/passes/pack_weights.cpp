// pack_weights: a product by weights that Dequantize makes of constant integers in blocks reads them packed, as
// WeightQuantBatchMatmulV2. They are 4 bits each where all of them are small enough, which is how exporters of language
// models write int4, and 8 bits otherwise. A number that is added to each column becomes its bias.
#include <algorithm>
#include <functional>
#include <optional>

#include "graph/passes.h"
#include "graph/rewrite.h"
#include "reference/products/packed_weights.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/widen.h"

namespace aoe::graph {
namespace {

using reference::PackedWeights;

/// Constant integers of a right factor and how they mean numbers.
struct Blocked {
  ConstantPtr values, scales, zeros;  ///< zeros: nullptr where there are none
  std::int64_t block = 0;
  bool is_transposed = false;  ///< rows are columns of the factor
  bool is_signed() const { return values->desc().dtype == DataType::kInt8; }
};

bool are_bytes(const ConstantPtr& constant) {
  return constant && is_byte(constant->desc().dtype);
}

std::optional<Blocked> blocked_factor(const Graph& graph, ValueId factor) {
  Blocked found;
  if (const NodeId turn = producer_of_type(graph, factor, "Transpose"); turn != kNone) {
    if (graph.nodes[turn].op.attrs.get_ints("perm", {1, 0}) != std::vector<std::int64_t>{1, 0})
      return std::nullopt;
    factor = graph.nodes[turn].inputs[0];
    found.is_transposed = true;
  }
  const NodeId id = producer_of_type(graph, factor, "Dequantize");
  if (id == kNone) return std::nullopt;
  const Node& node = graph.nodes[id];
  found.values = constant_input(graph, node, 0);
  found.scales = constant_input(graph, node, 1);
  found.zeros = constant_input(graph, node, 2);
  found.block = node.op.attrs.get_int("block_size", 0);
  if (!are_bytes(found.values) || !found.scales || (has_input(node, 2) && !are_bytes(found.zeros)))
    return std::nullopt;
  const Shape& shape = found.values->desc().shape;
  if (shape.size() != 2 || !PackedWeights::is_block(found.block) ||
      found.scales->desc().shape.size() != 2)
    return std::nullopt;
  const std::size_t axis = reference::normalize_axis(node.op.attrs.get_int("axis", 1), 2);
  if (axis != (found.is_transposed ? 1U : 0U)) return std::nullopt;
  return found;
}

/// Elements of a matrix by column of the factor and place in it.
struct Columns {
  std::vector<double> values;
  std::int64_t columns = 0;
  bool is_transposed = false;

  Columns(const Constant& matrix, bool transposed)
      : values(reference::to_doubles(matrix.view())),
        columns(matrix.desc().shape[transposed ? 0 : 1]),
        is_transposed(transposed) {}
  std::int64_t length() const { return std::ssize(values) / std::max<std::int64_t>(1, columns); }
  double at(std::int64_t column, std::int64_t i) const {
    return values[static_cast<std::size_t>(is_transposed ? column * length() + i
                                                         : i * columns + column)];
  }
  bool lie_in(double low, double high) const {
    return std::ranges::all_of(values, [=](double v) { return v >= low && v <= high; });
  }
};

/// Rows of `length` small integers, each row in `row_bytes`, as PackedWeights::at() reads them.
ConstantPtr packed(const PackedWeights& w, Shape shape, std::int64_t length, std::int64_t row_bytes,
                   const std::function<std::int64_t(std::int64_t row, std::int64_t i)>& code) {
  auto constant =
      std::make_shared<Constant>(TensorDesc{.dtype = DataType::kUint8, .shape = std::move(shape)});
  auto* bytes = static_cast<std::uint8_t*>(constant->mutable_data());
  std::fill_n(bytes, constant->size_bytes(), std::uint8_t{0});
  for (std::int64_t row = 0; row < w.n; ++row)
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t bit = i * w.bits;
      bytes[row * row_bytes + bit / 8] |= static_cast<std::uint8_t>(code(row, i) << (bit % 8));
    }
  return constant;
}

/// What an Add behind a product of `columns` columns adds to each row, and the Add; nullptr: there is none.
struct AddedRow {
  ConstantPtr row;
  NodeId add = kNone;
};

AddedRow row_behind(const Graph& graph, const Node& product, std::int64_t columns) {
  const ValueId sum = product.outputs[0];
  const NodeId id = sole_consumer(graph, sum);
  if (id == kNone || !is_type(graph.nodes[id], "Add")) return {};
  const Node& add = graph.nodes[id];
  const ConstantPtr row = constant_input(graph, add, add.inputs[0] == sum ? 1 : 0);
  if (!row || row->desc().dtype != DataType::kFloat) return {};
  const Shape &shape = row->desc().shape, &out = shape_of(graph, add.outputs[0]);
  const bool is_row = !shape.empty() && shape.back() == columns &&
                      element_count(shape) == columns && out.size() == shape_of(graph, sum).size();
  return is_row ? AddedRow{row, id} : AddedRow{};
}

std::vector<double> row_by_row(const Columns& scales, const PackedWeights& w) {
  std::vector<double> all;
  for (std::int64_t row = 0; row < w.n; ++row)
    for (std::int64_t block = 0; block < w.blocks(); ++block) all.push_back(scales.at(row, block));
  return all;
}

bool pack_weights_at(Graph& graph, NodeId id) {
  const Node product = graph.nodes[id];
  if (!is_type(product, "MatMulV2") || dtype_of(graph, product.inputs[0]) != DataType::kFloat)
    return false;
  const std::optional<Blocked> factor = blocked_factor(graph, product.inputs[1]);
  const Shape& x = shape_of(graph, product.inputs[0]);
  if (!factor || !has_known_rank(graph.values[product.inputs[0]].desc) || x.empty()) return false;
  const Columns values(*factor->values, factor->is_transposed),
      scales(*factor->scales, factor->is_transposed);
  const std::optional<Columns> zeros =
      factor->zeros ? std::optional<Columns>(std::in_place, *factor->zeros, factor->is_transposed)
                    : std::nullopt;
  const double low = factor->is_signed() ? -8 : 0;
  const bool is_small = values.lie_in(low, low + 15) && (!zeros || zeros->lie_in(low, low + 15));
  const PackedWeights w{
      .n = values.columns, .k = values.length(), .bits = is_small ? 4 : 8, .block = factor->block};
  if (x.back() != w.k || w.n == 0 || w.k == 0) return false;
  const std::int64_t shift = factor->is_signed() ? w.middle() : 0;
  const auto codes_of = [&](const Columns& of) {
    return [&of, shift](std::int64_t row, std::int64_t i) {
      return static_cast<std::int64_t>(of.at(row, i)) + shift;
    };
  };
  const std::string& stem = product.name;
  std::vector<ValueId> inputs = {
      product.inputs[0],
      add_constant(
          graph, stem + "_packed",
          packed(w, {w.n, w.blocks(), w.block_bytes()}, w.k, w.row_bytes(), codes_of(values))),
      add_floats(graph, stem + "_scales", {w.n, w.blocks()}, row_by_row(scales, w))};
  // Without zero points unsigned integers count from 0; signed ones are shifted to the middle.
  if (zeros || !factor->is_signed())
    inputs.push_back(add_constant(
        graph, stem + "_zeros",
        packed(
            w, {w.n, w.zero_row_bytes()}, w.blocks(), w.zero_row_bytes(),
            zeros ? std::function<std::int64_t(std::int64_t, std::int64_t)>(codes_of(*zeros))
                  : [](std::int64_t, std::int64_t) { return std::int64_t{0}; })));
  reference::Attrs attrs;
  attrs.set("bits", w.bits);
  attrs.set("block_size", w.block);
  std::vector<NodeId> replaced = {id};
  std::vector<ValueId> outputs = product.outputs;
  if (const AddedRow added = row_behind(graph, product, w.n); added.row) {
    inputs.resize(reference::kPackedBias, kNone);
    inputs.push_back(add_constant(
        graph, stem + "_bias",
        std::make_shared<Constant>(TensorDesc{.dtype = DataType::kFloat, .shape = {w.n}},
                                   added.row->data())));
    replaced.push_back(added.add);
    outputs = graph.nodes[added.add].outputs;
  }
  replace_nodes(graph, std::move(replaced),
                {.name = product.name,
                 .op = call_of("WeightQuantBatchMatmulV2", std::move(attrs)),
                 .inputs = std::move(inputs),
                 .outputs = std::move(outputs)});
  return true;
}

}  // namespace

bool pack_weights(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) changed |= pack_weights_at(graph, id);
  return changed;
}

}  // namespace aoe::graph
