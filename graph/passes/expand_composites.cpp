// expand_composites: operators of float32, some of float64, that are a few reductions with elementwise operators in between
// become these, for which there are fast kernels: LpNorm, MVN, BatchNorm by the batch's own statistics or computed ones,
// HardMax, LpPool, GlobalLpPool, ReduceLogSumExp, and the softmax in front of a loss. Pooling of volumes becomes pooling of
// images, twice; a product with a vector one with a matrix.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "graph/import/function_call.h"
#include "graph/passes.h"
#include "graph/rewrite.h"
#include "reference/windows/window.h"

namespace aoe::graph {
namespace {

using reference::Attrs;
using Axes = std::vector<std::int64_t>;

Term reduce(const char* type, Term x, const Axes& axes) {
  Attrs attrs;
  attrs.set("keepdims", std::int64_t{1});
  return x.call->op(type, {x, x.call->ints(axes)}, attrs);
}

/// Of the type that the call is of.
Term constant(FunctionCall& call, double value) {
  return call.number(value, call.dtype(call.input(0)));
}

Term is_zero(Term x) {
  return x.call->op("Equal", {x, constant(*x.call, 0)});
}

Axes all_axes(Term x, std::int64_t first = 0) {
  Axes axes(static_cast<std::size_t>(std::max<std::int64_t>(x.call->rank(x) - first, 0)));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

/// What is divided by a norm of 0 is 0.
void expand_lp_norm(FunctionCall& call) {
  const Term x = call.input(0);
  const char* norm_type = call.attrs().get_int("p", 2) == 1 ? "ReduceL1" : "ReduceL2";
  const Term norm = reduce(norm_type, x, {call.attrs().get_int("axis", -1)});
  call.give(0, x / call.op("Where", {is_zero(norm), constant(call, 1), norm}));
}

const Axes kMeanVarianceAxes = {0, 2, 3};

void expand_mean_variance(FunctionCall& call) {
  constexpr double kEpsilon = 1e-9;  // the one that ONNX's definition has
  const Term x = call.input(0);
  const Axes axes = call.attrs().get_ints("axes", kMeanVarianceAxes);
  const Term centered = x - reduce("ReduceMean", x, axes);
  const Term variance = reduce("ReduceMean", centered * centered, axes);
  call.give(0, centered / (call.op("Sqrt", {variance}) + kEpsilon));
}

/// Input `i` of a BatchNorm, one number for each channel, so that it stretches along x.
Term channel_parameter(FunctionCall& call, std::size_t i) {
  const Term x = call.input(0);
  Axes along_channels(static_cast<std::size_t>(call.rank(x)), 1);
  along_channels[1] = call.dim(x, 1);
  return call.reshape(call.cast(call.input(i), call.dtype(x)), along_channels);
}

/// By the mean and variance that are stored. Where all is constant, fold_batch_norm has more to do with it.
void expand_stored_statistics(FunctionCall& call) {
  bool is_constant = call.dtype(call.input(0)) == DataType::kFloat;
  for (std::size_t i = 1; i < 5; ++i)
    is_constant = is_constant && call.known(call.input(i)) != nullptr &&
                  call.dtype(call.input(i)) == DataType::kFloat;
  if (is_constant) throw NotExpressible{"fold_batch_norm folds it"};
  if (call.wants(1) || call.wants(2)) throw NotExpressible{"it gives what it has stored"};
  const double epsilon = call.attrs().get_float("epsilon", 1e-5F);
  const auto parameter = [&](std::size_t i) { return channel_parameter(call, i); };
  const Term gamma = parameter(1), beta = parameter(2), mean = parameter(3);
  const Term scale = gamma / call.op("Sqrt", {parameter(4) + epsilon});
  call.give(0, (call.input(0) - mean) * scale + beta);
}

/// By the mean and variance of the batch, which momentum mixes into those that are stored.
void expand_batch_statistics(FunctionCall& call) {
  const Term x = call.input(0);
  Axes axes = all_axes(x);
  axes.erase(axes.begin() + 1);
  const auto parameter = [&](std::size_t i) { return channel_parameter(call, i); };
  const Term mean = reduce("ReduceMean", x, axes), centered = x - mean;
  const Term variance = reduce("ReduceMean", centered * centered, axes);
  const double epsilon = call.attrs().get_float("epsilon", 1e-5F),
               momentum = call.attrs().get_float("momentum", 0.9F);
  const Term norm = centered / call.op("Sqrt", {variance + epsilon});
  // One after the other: names follow the order in which they are made.
  const Term offset = parameter(2);
  call.give(0, norm * parameter(1) + offset);
  const auto mixed = [&](std::size_t stored, Term own) {
    const Term added = call.reshape(own, {-1}) * (1 - momentum);
    return call.input(stored) * momentum + added;
  };
  if (call.wants(1)) call.give(1, mixed(3, mean));
  if (call.wants(2)) call.give(2, mixed(4, variance));
}

void expand_batch_norm(FunctionCall& call, int version) {
  constexpr int kTrainingModeVersion = 14;
  if (call.rank(call.input(0)) < 2) throw NotExpressible{"it has no axis of channels"};
  if (version >= kTrainingModeVersion && call.attrs().get_int("training_mode", 0) != 0)
    return expand_batch_statistics(call);
  expand_stored_statistics(call);
}

/// 1 at the first of the largest along the axis.
void expand_hardmax(FunctionCall& call, int version) {
  constexpr int kSingleAxisVersion = 13;
  const Term input = call.input(0);
  const Shape shape = call.shape(input);
  const auto rank = static_cast<std::int64_t>(shape.size());
  std::int64_t axis = call.attrs().get_int("axis", version < kSingleAxisVersion ? 1 : -1);
  Term x = input;
  if (version < kSingleAxisVersion) {  // all axes from this one on are one
    const auto split = shape.begin() + (axis < 0 ? axis + rank : axis);
    x = call.reshape(input,
                     {element_count({shape.begin(), split}), element_count({split, shape.end()})});
    axis = 1;
  }
  if (axis < 0) axis += rank;
  constexpr std::int64_t kMostPlaces = 1 << 24;  // up to there each is a float32 of its own
  if (call.dim(x, axis) > kMostPlaces) throw NotExpressible{"its axis is too long"};
  Axes places_shape(static_cast<std::size_t>(call.rank(x)), 1);
  places_shape[static_cast<std::size_t>(axis)] = call.dim(x, axis);
  std::vector<float> places(static_cast<std::size_t>(call.dim(x, axis)));
  std::iota(places.begin(), places.end(), 0.0F);
  const Term first = call.cast(call.op("ArgMax", {x}, with_axis(axis)), DataType::kFloat);
  const Term y =
      call.cast(call.op("Equal", {first, call.floats(places_shape, places)}), DataType::kFloat);
  call.give(0, version < kSingleAxisVersion ? call.reshape(y, shape) : y);
}

Term root(Term sum, std::int64_t p) {
  return p == 1 ? sum : sum.call->op("Sqrt", {sum});
}

/// The mean over a window, padding included, of the powers, as many times as the window has places.
void expand_lp_pool(FunctionCall& call) {
  const std::int64_t p = call.attrs().get_int("p", 2);
  if (p != 1 && p != 2) throw NotExpressible{"a norm other than 1 and 2"};
  if (call.attrs().get_int("ceil_mode", 0) != 0)
    throw NotExpressible{"windows that leave the padding count fewer places"};
  if (call.rank(call.input(0)) > 4) throw NotExpressible{"means of volumes are composites, too"};
  const Axes kernel = call.attrs().get_ints("kernel_shape");
  const Term x = call.input(0);
  Attrs attrs = call.attrs();
  attrs.erase("p");
  attrs.set("count_include_pad", std::int64_t{1});
  const Term powers = p == 1 ? call.op("Abs", {x}) : x * x;
  const Term mean = call.op("AveragePool", {powers}, attrs);
  call.give(0, root(mean * static_cast<double>(element_count(kernel)), p));
}

void expand_global_lp_pool(FunctionCall& call) {
  const std::int64_t p = call.attrs().get_int("p", 2);
  if (p != 1 && p != 2) throw NotExpressible{"a norm other than 1 and 2"};
  const Term x = call.input(0);
  if (call.rank(x) < 3) throw NotExpressible{"there is nothing to pool over"};
  call.give(0, reduce(p == 1 ? "ReduceL1" : "ReduceL2", x, all_axes(x, 2)));
}

/// The largest is taken out first, so that exp() cannot overflow; where it is infinite itself, nothing is.
void expand_log_sum_exp(FunctionCall& call, Shape result) {
  const Term x = call.input(0);
  Axes axes = call.attrs().get_ints("axes");
  if (call.has(1)) axes = call.known_ints(call.input(1));
  if (axes.empty() && call.attrs().get_int("noop_with_empty_axes", 0) != 0)
    throw NotExpressible{"it reduces nothing"};
  if (axes.empty()) axes = all_axes(x);
  const Term largest = reduce("ReduceMax", x, axes);
  const Term shift = call.op("Where", {call.op("IsInf", {largest}), constant(call, 0), largest});
  const Term sum = reduce("ReduceSum", call.op("Exp", {x - shift}), axes);
  const Term y = call.op("Log", {sum}) + shift;
  call.give(0, call.shape(y) == result ? y : call.reshape(y, result));
}

/// As float32 has it; the range is widened to hold zero, so that zero is exact.
void expand_cross_entropy(FunctionCall& call) {
  const Term probabilities = call.op("LogSoftmax", {call.input(0)}, with_axis(1));
  std::vector<Term> inputs = {probabilities, call.input(1)};
  if (call.has(2)) inputs.push_back(call.input(2));
  call.give(0, call.op("NegativeLogLikelihoodLoss", inputs, call.attrs()));
  if (call.wants(1)) call.give(1, probabilities);
}

Term pool(Term x, const Node& node, const reference::WindowAxis& rows,
          const reference::WindowAxis& columns) {
  Attrs attrs;
  attrs.set("kernel_shape", Axes{rows.kernel, columns.kernel});
  attrs.set("strides", Axes{rows.stride, columns.stride});
  attrs.set("dilations", Axes{rows.dilation, columns.dilation});
  attrs.set("pads", Axes{rows.pad_begin, columns.pad_begin, rows.pad_end, columns.pad_end});
  for (const char* name : {"ceil_mode", "count_include_pad"})
    if (node.op.attrs.has(name)) attrs.set(name, node.op.attrs.get_int(name, 0));
  return x.call->op(node.op.type == "MaxPoolV3" ? "MaxPool" : "AveragePool", {x}, attrs);
}

/// Over height and width, then over depth: the largest of the largest, and the mean of means, of which each is made of as
/// many taps as the others of its window.
void expand_volume_pool(FunctionCall& call, const Node& node, Shape result) {
  constexpr std::size_t kVolumeRank = 5;
  const Term x = call.input(0);
  const Shape shape = call.shape(x);
  if (shape.size() != kVolumeRank) throw NotExpressible{"it does not pool a volume"};
  if (call.wants(1)) throw NotExpressible{"places are asked for"};
  if (node.op.attrs.get_int("ceil_mode", 0) != 0 &&
      node.op.attrs.get_int("count_include_pad", 0) != 0)
    throw NotExpressible{"windows that leave the padding count fewer taps"};
  const auto window = reference::window_of(node.op.type, node.op.attrs, shape);
  if (!window || element_count(result) == 0) throw NotExpressible{"it has no window"};
  const reference::WindowAxis all{};
  Term y = call.reshape(x, {shape[0], shape[1] * shape[2], shape[3], shape[4]});
  y = pool(y, node, window->height(), window->width());
  y = call.reshape(y, {shape[0], shape[1], shape[2], result[3] * result[4]});
  call.give(0, call.reshape(pool(y, node, window->depth(), all), result));
}

void expand_vector_product(FunctionCall& call, Shape result) {
  Term a = call.input(0), b = call.input(1);
  if (call.rank(a) > 1 && call.rank(b) > 1) throw NotExpressible{"its factors are matrices"};
  if (!is_static(result) || element_count(result) == 0)
    throw NotExpressible{"its result has no size"};
  if (call.rank(a) == 1) a = call.reshape(a, {1, call.shape(a)[0]});
  if (call.rank(b) == 1) b = call.reshape(b, {call.shape(b)[0], 1});
  call.give(0, call.reshape(call.matmul(a, b), result));
}

struct Composite {
  std::string_view type;
  std::function<void(FunctionCall&, const Graph&, const Node&)> expand;
  bool is_of_float64 = false;  ///< as well: its parts have kernels for that
  bool is_of_open_axes =
      false;  ///< as well, if it reduces one: nothing cuts it into parts of known sizes then
  bool is_of_any_sizes = false;  ///< its parts have kernels for that, it has none
};

const std::array kComposites = {
    Composite{"LpNorm", [](auto& call, auto&, auto&) { expand_lp_norm(call); }, true, true},
    Composite{"MVN", [](auto& call, auto&, auto&) { expand_mean_variance(call); }, true, true},
    Composite{"BatchNorm",
              [](auto& call, auto&, auto& node) { expand_batch_norm(call, node.op.version); },
              true},
    Composite{"HardMax",
              [](auto& call, auto&, auto& node) { expand_hardmax(call, node.op.version); }},
    Composite{"LpPool", [](auto& call, auto&, auto&) { expand_lp_pool(call); }},
    Composite{"GlobalLpPool", [](auto& call, auto&, auto&) { expand_global_lp_pool(call); }, true},
    Composite{"MaxPoolV3",
              [](auto& call, auto& graph, auto& node) {
                expand_volume_pool(call, node, shape_of(graph, node.outputs[0]));
              }},
    Composite{"AvgPoolV2",
              [](auto& call, auto& graph, auto& node) {
                expand_volume_pool(call, node, shape_of(graph, node.outputs[0]));
              }},
    Composite{"MatMulV2",
              [](auto& call, auto& graph, auto& node) {
                expand_vector_product(call, shape_of(graph, node.outputs[0]));
              },
              true},
    Composite{"ReduceLogSumExp",
              [](auto& call, auto& graph, auto& node) {
                expand_log_sum_exp(call, shape_of(graph, node.outputs[0]));
              },
              true},
    Composite{"SoftmaxCrossEntropyLoss",
              [](auto& call, auto&, auto&) { expand_cross_entropy(call); }, true, false, true},
};

bool is_open(const Shape& shape, std::int64_t axis) {
  const auto rank = std::ssize(shape);
  return shape[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] == kUnknownDim;
}

/// Of LpNorm or MVN.
bool reduces_open_axis(const Attrs& attrs, const Shape& shape, bool has_axes) {
  if (!has_axes) return is_open(shape, attrs.get_int("axis", -1));
  return std::ranges::any_of(attrs.get_ints("axes", kMeanVarianceAxes),
                             [&](std::int64_t axis) { return is_open(shape, axis); });
}

const Composite* composite_of(const Graph& graph, const Node& node) {
  const auto found = std::ranges::find(kComposites, node.op.type, &Composite::type);
  if (found == kComposites.end() || node.outputs[0] == kNone) return nullptr;
  const TensorDesc& x = graph.values[node.inputs[0]].desc;
  const bool is_of_type =
      x.dtype == DataType::kFloat || (x.dtype == DataType::kDouble && found->is_of_float64);
  if (!is_of_type || !has_known_rank(x) || x.shape.empty()) return nullptr;
  if (is_static(x.shape)) return element_count(x.shape) > 0 ? &*found : nullptr;
  const bool is_taken =
      found->is_of_any_sizes ||
      (found->is_of_open_axes && reduces_open_axis(node.op.attrs, x.shape, node.op.type == "MVN"));
  return is_taken ? &*found : nullptr;
}

bool expand_composite_at(Graph& graph, NodeId id) {
  const Composite* composite = composite_of(graph, graph.nodes[id]);
  if (composite == nullptr) return false;
  const Node node = graph.nodes[id];
  return replace_by_parts(graph, id,
                          [&](FunctionCall& call) { composite->expand(call, graph, node); });
}

}  // namespace

bool expand_composites(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) changed |= expand_composite_at(graph, id);
  return changed;
}

}  // namespace aoe::graph
