// expand_fourier: DFT and STFT of float32 and float64 become matrix products. A short line is multiplied with the matrix of its
// transform; a long one of N = N1 * N2 samples is transformed in two steps, along N1 and along N2, as in the algorithm of
// Cooley and Tukey, with the factors in between in the matrices of the first step, one for each place along N2.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "graph/import/function_call.h"
#include "graph/passes.h"
#include "graph/rewrite.h"
#include "reference/products/fourier.h"
#include "reference/tensors/axes.h"

namespace aoe::graph {
namespace {

constexpr std::int64_t kMostWeights = std::int64_t{1} << 22;  ///< of one matrix: 16 MB
constexpr std::int64_t kParts = 2;  ///< of a complex number, which lie behind each other

struct Transform {
  std::int64_t length = 1;  ///< of a line
  std::int64_t parts = 1;   ///< of its samples: 1 real, 2 complex
  std::int64_t bins = 1;    ///< coefficients that are wanted
  bool is_inverse = false;
};

/// Sums in lines of pairs: out[c] = sum over r of in[r] * exp(sign * 2 pi i * turns(r, c)), of `parts` numbers each.
class PhaseMatrix {
 public:
  PhaseMatrix(std::int64_t rows, std::int64_t parts, std::int64_t columns, bool is_inverse)
      : parts_(parts), columns_(columns), sign_(is_inverse ? 1 : -1) {
    if (rows * parts > kMostWeights / (columns * kParts))
      throw NotExpressible{"its matrix would be too large"};
    values_.resize(static_cast<std::size_t>(rows * parts * columns * kParts));
  }

  /// `numerator` over `denominator` turns; `part` p of column c lies at c * column_stride + p * part_stride.
  void set(std::int64_t row, std::int64_t column, std::int64_t numerator, std::int64_t denominator,
           double factor, std::int64_t column_stride, std::int64_t part_stride) {
    const double turns =
        static_cast<double>(numerator % denominator) / static_cast<double>(denominator);
    const double angle = sign_ * 2 * std::numbers::pi * turns;
    const double real = factor * std::cos(angle), imaginary = factor * std::sin(angle);
    const auto at = [&](std::int64_t part_in, std::int64_t part_out) -> double& {
      const std::int64_t line = (row * parts_ + part_in) * columns_ * kParts;
      return values_[static_cast<std::size_t>(line + column * column_stride +
                                              part_out * part_stride)];
    };
    at(0, 0) = real, at(0, 1) = imaginary;
    if (parts_ == kParts) at(1, 0) = -imaginary, at(1, 1) = real;
  }

  const std::vector<double>& values() const { return values_; }

 private:
  std::int64_t parts_, columns_;
  double sign_;
  std::vector<double> values_;
};

/// The divisor next to the square root, not above it.
std::int64_t middle_divisor(std::int64_t length) {
  auto divisor = static_cast<std::int64_t>(std::sqrt(static_cast<double>(length)));
  while (length % divisor != 0) --divisor;
  return divisor;
}

/// Lines x (length * parts) to lines x (bins * 2).
Term transform_at_once(Term x, const Transform& t) {
  PhaseMatrix matrix(t.length, t.parts, t.bins, t.is_inverse);
  const double factor = t.is_inverse ? 1 / static_cast<double>(t.length) : 1;
  for (std::int64_t n = 0; n < t.length; ++n)
    for (std::int64_t k = 0; k < t.bins; ++k) matrix.set(n, k, n * k, t.length, factor, kParts, 1);
  FunctionCall& call = *x.call;
  return call.matmul(
      x, call.reals(call.dtype(x), {t.length * t.parts, t.bins * kParts}, matrix.values()));
}

/// Sample n2 + N2 * n1 and coefficient k1 + N1 * k2.
Term transform_in_two_steps(Term x, const Transform& t, std::int64_t lines, std::int64_t n1) {
  FunctionCall& call = *x.call;
  const std::int64_t n2 = t.length / n1;
  if (t.length > kMostWeights / (n1 * t.parts * kParts))
    throw NotExpressible{"its matrices would be too large"};
  std::vector<double> steps;
  for (std::int64_t place = 0; place < n2; ++place) {
    PhaseMatrix matrix(n1, t.parts, n1, t.is_inverse);
    const double factor = t.is_inverse ? 1 / static_cast<double>(n1) : 1;
    for (std::int64_t n = 0; n < n1; ++n)
      for (std::int64_t k = 0; k < n1; ++k)
        matrix.set(n, k, (n * n2 + place) * k, t.length, factor, 1, n1);
    steps.insert(steps.end(), matrix.values().begin(), matrix.values().end());
  }
  Term places = call.transpose(call.reshape(x, {lines, n1, n2, t.parts}), {2, 0, 1, 3});
  // One after the other: the order of arguments is the compiler's, and names follow it.
  const Term matrices = call.reals(call.dtype(x), {n2, n1 * t.parts, n1 * kParts}, steps);
  places = call.matmul(call.reshape(places, {n2, lines, n1 * t.parts}), matrices);
  places = call.transpose(call.reshape(places, {n2, lines, kParts, n1}), {1, 3, 0, 2});
  const Term sums =
      transform_at_once(call.reshape(places, {lines * n1, n2 * kParts}),
                        {.length = n2, .parts = kParts, .bins = n2, .is_inverse = t.is_inverse});
  Term y = call.transpose(call.reshape(sums, {lines, n1, n2, kParts}), {0, 2, 1, 3});
  y = call.reshape(y, {lines, t.length * kParts});
  return t.bins == t.length ? y : call.slice(y, 1, 0, t.bins * kParts);
}

Term transformed(Term x, const Transform& t, std::int64_t lines) {
  constexpr std::int64_t kShort = 256, kGain = 4;
  const std::int64_t n1 = middle_divisor(t.length), n2 = t.length / n1;
  const bool has_gain = t.bins * t.parts > kGain * (n1 * t.parts + n2 * kParts);
  if (t.length >= kShort && has_gain) return transform_in_two_steps(x, t, lines, n1);
  return transform_at_once(x, t);
}

/// The inverse of a one-sided transform: lines x (bins * 2) to lines x length real samples. Each coefficient but the first, and
/// the one in the middle of an even length, stands for its mirror image as well.
Term transform_to_real(Term x, std::int64_t bins, std::int64_t length) {
  if (bins * kParts > kMostWeights / length) throw NotExpressible{"its matrix would be too large"};
  std::vector<double> matrix(static_cast<std::size_t>(bins * kParts * length));
  for (std::int64_t k = 0; k < bins; ++k)
    for (std::int64_t n = 0; n < length; ++n) {
      const double weight = (k == 0 || 2 * k == length ? 1.0 : 2.0) / static_cast<double>(length);
      const double angle =
          2 * std::numbers::pi * static_cast<double>(k * n % length) / static_cast<double>(length);
      const auto at = static_cast<std::size_t>(k * kParts * length + n);
      matrix[at] = weight * std::cos(angle);
      matrix[at + static_cast<std::size_t>(length)] = -weight * std::sin(angle);
    }
  FunctionCall& call = *x.call;
  return call.matmul(x, call.reals(call.dtype(x), {bins * kParts, length}, matrix));
}

void expand_dft(FunctionCall& call, int version, const Shape& result) {
  Term x = call.input(0);
  const auto rank = static_cast<std::size_t>(call.rank(x));
  std::int64_t given = call.attrs().get_int("axis", 1);
  if (version >= reference::kDftAxisInputVersion)
    given = call.has(2) ? call.known_int(call.input(2)) : -2;
  const auto axis = static_cast<std::int64_t>(reference::normalize_axis(given, rank));
  const bool is_inverse = call.attrs().get_int("inverse", 0) != 0;
  const bool to_real = is_inverse && call.attrs().get_int("onesided", 0) != 0;
  const std::int64_t samples = call.dim(x, axis);
  const std::int64_t usual = to_real ? 2 * (samples - 1) : samples;
  Transform t{.length = call.has(1) ? call.known_int(call.input(1)) : usual,
              .parts = call.dim(x, -1),
              .bins = result[static_cast<std::size_t>(axis)],
              .is_inverse = is_inverse};
  if (samples != (to_real ? t.length / 2 + 1 : t.length))
    throw NotExpressible{"lines of another length"};
  std::vector<std::int64_t> order(rank);  // that has the axis last but one
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + axis, order.begin() + axis + 1, order.end() - 1);
  const bool is_moved = axis + 2 != static_cast<std::int64_t>(rank);
  const std::int64_t lines = element_count(call.shape(x)) / (samples * t.parts);
  if (is_moved) x = call.transpose(x, order);
  Shape moved;
  for (const std::int64_t from : order) moved.push_back(result[static_cast<std::size_t>(from)]);
  const Term flat = call.reshape(x, {lines, samples * t.parts});
  Term y = to_real ? transform_to_real(flat, samples, t.length) : transformed(flat, t, lines);
  y = call.reshape(y, moved);
  if (is_moved) {
    std::vector<std::int64_t> back(rank);
    for (std::size_t d = 0; d < rank; ++d)
      back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
    y = call.transpose(y, back);
  }
  call.give(0, y);
}

void expand_stft(FunctionCall& call, const Shape& result) {
  const std::int64_t step = call.known_int(call.input(1));
  const Term signal = call.input(0);
  const std::int64_t frames = result[1], parts = call.rank(signal) == 3 ? call.dim(signal, 2) : 1;
  const std::int64_t length =
      call.has(3) ? call.known_int(call.input(3)) : call.dim(call.input(2), 0);
  std::vector<std::int64_t> places;
  for (std::int64_t frame = 0; frame < frames; ++frame)
    for (std::int64_t i = 0; i < length; ++i) places.push_back(frame * step + i);
  Term x = call.op("Gather", {signal, call.ints(places)}, with_axis(1));
  x = call.reshape(x, {result[0] * frames, length, parts});
  if (call.has(2)) x = x * call.reshape(call.input(2), {length, 1});
  const Transform t{.length = length, .parts = parts, .bins = result[2]};
  const std::int64_t lines = result[0] * frames;
  call.give(0,
            call.reshape(transformed(call.reshape(x, {lines, length * parts}), t, lines), result));
}

bool expand_fourier_at(Graph& graph, NodeId id) {
  const Node node = graph.nodes[id];
  const bool is_dft = is_type(node, "DFT");
  if ((!is_dft && !is_type(node, "STFT")) || node.outputs[0] == kNone) return false;
  const TensorDesc& x = graph.values[node.inputs[0]].desc;
  const Shape result = shape_of(graph, node.outputs[0]);
  const bool is_real = x.dtype == DataType::kFloat || x.dtype == DataType::kDouble;
  if (!is_real || !is_static(x.shape) || !is_static(result) || element_count(x.shape) == 0 ||
      element_count(result) == 0)
    return false;
  return replace_by_parts(graph, id, [&](FunctionCall& call) {
    is_dft ? expand_dft(call, node.op.version, result) : expand_stft(call, result);
  });
}

}  // namespace

bool expand_fourier(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) changed |= expand_fourier_at(graph, id);
  return changed;
}

}  // namespace aoe::graph
