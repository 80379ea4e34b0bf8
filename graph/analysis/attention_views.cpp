// See attention_views.h.
#include "graph/analysis/attention_views.h"

#include <algorithm>

#include "graph/analysis/strided_view.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

using reference::MatrixView;

/// One operand on its way to a MatrixView: its batches still as steps.
struct Operand {
  ValueId root = kNone;
  MatrixView view;
  ViewAxis batch;
  double scale = 1;
};

/// The last two axes as rows and columns, the others as batches, repeated where `batch_shape` is larger. Nothing when
/// rows or columns are not evenly spaced.
std::optional<Operand> operand_of(const StridedView& view, const Shape& batch_shape) {
  const std::size_t rank = view.axes.size();
  const ViewAxis row = merged(view.axes[rank - 2]), column = merged(view.axes[rank - 1]);
  if (row.size() > 1 || column.size() > 1) return std::nullopt;
  Operand operand{.root = view.root, .scale = view.scale};
  operand.view.offset = view.offset;
  operand.view.row = row.empty() ? 0 : row[0].stride;
  operand.view.column = column.empty() ? 1 : column[0].stride;
  for (std::size_t d = 0; d < batch_shape.size(); ++d) {
    const std::size_t behind = batch_shape.size() - d + 2;  // counted from the end
    const ViewAxis axis = behind <= rank ? view.axes[rank - behind] : ViewAxis{};
    if (axis.empty() && batch_shape[d] != 1) operand.batch.push_back({batch_shape[d], 0});
    operand.batch.insert(operand.batch.end(), axis.begin(), axis.end());
  }
  return operand;
}

Shape batch_axes_of(const Graph& graph, ValueId value) {
  const Shape& shape = shape_of(graph, value);
  return {shape.begin(), shape.end() - 2};
}

/// The batches of all operands as the same dimensions; nothing when they do not divide each other.
std::optional<std::vector<std::int64_t>> align(const std::vector<Operand*>& operands) {
  std::vector<std::int64_t> dims;
  for (Operand* operand : operands) operand->view.batch.clear();
  while (!operands[0]->batch.empty()) {
    std::int64_t common = operands[0]->batch.back().extent;
    for (const Operand* operand : operands) {
      if (operand->batch.empty()) return std::nullopt;
      common = std::min(common, operand->batch.back().extent);
    }
    for (Operand* operand : operands) {
      Factor& inner = operand->batch.back();
      if (inner.extent % common != 0) return std::nullopt;
      operand->view.batch.insert(operand->view.batch.begin(), inner.stride);
      inner = {inner.extent / common, inner.stride * common};
      if (inner.extent == 1) operand->batch.pop_back();
    }
    dims.insert(dims.begin(), common);
  }
  const auto is_done = [](const Operand* operand) { return operand->batch.empty(); };
  if (!std::ranges::all_of(operands, is_done)) return std::nullopt;
  return dims;
}

/// The value behind the Transposes that follow `product`, and the nodes on the way.
ValueId last_transposed(const Graph& graph, ValueId product, std::vector<NodeId>& absorbed) {
  std::vector<NodeId> passed;
  ValueId last = product;
  for (ValueId value = product;;) {
    const NodeId next = sole_consumer(graph, value);
    if (next == kNone) return last;
    const Node& node = graph.nodes[next];
    const bool is_transpose = is_type(node, "Transpose");
    if ((!is_transpose && !is_type(node, "Reshape")) || node.inputs[0] != value) return last;
    passed.push_back(next);
    value = node.outputs[0];
    if (!is_static(shape_of(graph, value))) return last;
    if (is_transpose) {
      last = value;
      absorbed = passed;
    }
  }
}

/// `product`'s elements as they lie in the memory of `output`, which only rearranges them.
std::optional<StridedView> view_inside(const Graph& graph, ValueId product, ValueId output) {
  const StridedView forth = view_through(graph, output, false, product);
  if (forth.root != product) return std::nullopt;
  struct Step {
    Factor in_product;
    std::int64_t output_stride;
  };
  std::vector<Step> steps;
  std::int64_t stride = 1;
  const ViewAxis flat = flatten(forth.axes);
  for (auto step = flat.rbegin(); step != flat.rend(); ++step) {
    steps.push_back({*step, stride});
    stride *= step->extent;
  }
  std::ranges::sort(steps, std::ranges::greater{},
                    [](const Step& step) { return step.in_product.stride; });
  ViewAxis back;
  for (const Step& step : steps) back.push_back({step.in_product.extent, step.output_stride});
  auto axes = regroup(back, shape_of(graph, product));
  if (!axes) return std::nullopt;
  return StridedView{.root = output, .axes = std::move(*axes)};
}

/// Reads and writes through views, or (`is_dense`) the operands of the products as they are.
class ViewReader {
 public:
  ViewReader(const Graph& graph, bool is_dense) : graph_(graph), is_dense_(is_dense) {}

  std::optional<Operand> read(ValueId value, const Shape& batch, bool may_scale) const {
    if (!is_dense_) {
      const auto operand = operand_of(view_through(graph_, value, may_scale), batch);
      if (operand) return operand;
    }
    return operand_of(dense_view(graph_, value), batch);
  }

  std::optional<Operand> read_mask(const AttentionOperands& from) const {
    StridedView view =
        is_dense_ ? dense_view(graph_, from.mask) : view_through(graph_, from.mask, false);
    if (view.axes.size() < 2) view.axes.insert(view.axes.begin(), 2 - view.axes.size(), ViewAxis{});
    const Shape batch(from.mask_shape.begin(), from.mask_shape.end() - 2);
    auto operand = operand_of(view, batch);
    if (operand && view.axes.back().empty()) operand->view.column = 0;  // one number for all keys
    return operand;
  }

  /// Where the result goes; `output` and `absorbed` tell what is written.
  std::optional<Operand> write(ValueId product, ValueId& output,
                               std::vector<NodeId>& absorbed) const {
    if (!is_dense_) {
      output = last_transposed(graph_, product, absorbed);
      const auto view = view_inside(graph_, product, output);
      const auto operand = view ? operand_of(*view, batch_axes_of(graph_, product)) : std::nullopt;
      if (operand) return operand;
    }
    output = product;
    absorbed.clear();
    return operand_of(dense_view(graph_, product), batch_axes_of(graph_, product));
  }

 private:
  const Graph& graph_;
  bool is_dense_;
};

std::optional<AttentionCall> call_with(const Graph& graph, const AttentionOperands& from,
                                       const ViewReader& reader) {
  AttentionCall call;
  auto query = reader.read(from.query, batch_axes_of(graph, from.scores), true);
  auto key = reader.read(from.key, batch_axes_of(graph, from.scores), true);
  auto value = reader.read(from.value, batch_axes_of(graph, from.product), false);
  auto output = reader.write(from.product, call.output, call.absorbed);
  std::optional<Operand> mask;
  if (from.mask != kNone) mask = reader.read_mask(from);
  if (!query || !key || !value || !output || (from.mask != kNone && !mask)) return std::nullopt;
  std::vector<Operand*> all = {&*query, &*key, &*value, &*output};
  if (mask) all.push_back(&*mask);
  const auto batch = align(all);
  if (!batch) return std::nullopt;
  std::swap(key->view.row, key->view.column);  // the factor has a column per key
  reference::AttentionShape& s = call.shape;
  s.batch = *batch;
  s.queries = shape_of(graph, from.query).end()[-2];
  s.depth = shape_of(graph, from.query).back();
  s.keys = shape_of(graph, from.key).back();
  s.value_depth = shape_of(graph, from.value).back();
  s.query = query->view;
  s.key = key->view;
  s.value = value->view;
  s.output = output->view;
  s.output_shape = shape_of(graph, call.output);
  s.scale = static_cast<float>(from.scale * query->scale * key->scale);
  call.inputs = {query->root, key->root, value->root};
  if (mask) {
    s.mask = mask->view;
    call.inputs.push_back(mask->root);
  }
  return call;
}

}  // namespace

std::optional<AttentionCall> attention_call(const Graph& graph, const AttentionOperands& operands) {
  if (auto call = call_with(graph, operands, ViewReader(graph, false))) return call;
  return call_with(graph, operands, ViewReader(graph, true));
}

}  // namespace aoe::graph
