// Walks sequences through a recurrent cell, in the layouts of ONNX's RNN, GRU and LSTM.
#include "reference/recurrent.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/size.h"
#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

void check_shape(const InferContext& context, std::size_t input, const std::string& what,
                 const Shape& needed) {
  if (context.has_input(input)) check_same_shape(context.shape(input), needed, what);
}

void check_shapes(const InferContext& context, const RecurrentLayout& layout, std::int64_t gates) {
  const std::int64_t hidden = layout.hidden, directions = layout.directions;
  if (context.attrs.get_int("hidden_size", hidden) != hidden)
    fail_model("attribute 'hidden_size' contradicts R, which has " + std::to_string(hidden));
  checked_product(gates, checked_product(hidden, std::max(hidden, layout.input)));
  const std::int64_t rows = hidden == kUnknownDim ? kUnknownDim : gates * hidden;
  check_shape(context, kSequenceW, "W", {directions, rows, layout.input});
  check_shape(context, kSequenceR, "R", {directions, rows, hidden});
  check_shape(context, kSequenceBias, "B",
              {directions, rows == kUnknownDim ? kUnknownDim : 2 * rows});
  check_shape(context, kSequenceLengths, "sequence_lens", {layout.batch});
  check_shape(context, kSequenceHidden, "initial_h", layout.state_shape());
  check_shape(context, kSequenceCell, "initial_c", layout.state_shape());
  const std::int64_t peepholes = hidden == kUnknownDim ? kUnknownDim : 3 * hidden;
  check_shape(context, kSequencePeepholes, "P", {directions, peepholes});
}

/// The next of activation_alpha or activation_beta: they are consumed only by functions that have such a parameter.
class Parameters {
 public:
  explicit Parameters(std::vector<float> values) : values_(std::move(values)) {}
  double next(double fallback) { return next_ < values_.size() ? values_[next_++] : fallback; }

 private:
  std::vector<float> values_;
  std::size_t next_ = 0;
};

/// The name in lower case.
Activation make_activation(const std::string& name, Parameters& alphas, Parameters& betas) {
  if (name == "sigmoid") return [](double v) { return 1 / (1 + std::exp(-v)); };
  if (name == "tanh") return [](double v) { return std::tanh(v); };
  if (name == "relu") return [](double v) { return std::max(v, 0.0); };
  if (name == "softsign") return [](double v) { return v / (1 + std::abs(v)); };
  if (name == "softplus") {
    return [](double v) { return std::max(v, 0.0) + std::log1p(std::exp(-std::abs(v))); };
  }
  if (name == "leakyrelu") {
    return [a = alphas.next(0.01)](double v) { return v < 0 ? a * v : v; };
  }
  if (name == "thresholdedrelu") {
    return [a = alphas.next(1)](double v) { return v > a ? v : 0; };
  }
  if (name == "elu") {
    return [a = alphas.next(1)](double v) { return v < 0 ? a * std::expm1(v) : v; };
  }
  if (name == "affine") {
    return [a = alphas.next(1), b = betas.next(0)](double v) { return a * v + b; };
  }
  if (name == "scaledtanh") {
    return [a = alphas.next(1), b = betas.next(1)](double v) { return a * std::tanh(b * v); };
  }
  if (name == "hardsigmoid") {
    return [a = alphas.next(0.2), b = betas.next(0.5)](double v) {
      return std::clamp(a * v + b, 0.0, 1.0);
    };
  }
  fail_model("activation \"" + name + "\" is unknown");
}

/// Values of an optional input, or zeros.
std::vector<double> values_or_zeros(const OpContext& context, std::size_t input,
                                    std::int64_t size) {
  if (context.has_input(input)) return to_doubles(context.inputs[input]);
  return std::vector<double>(static_cast<std::size_t>(size));
}

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

std::size_t RecurrentLayout::x_at(std::int64_t step, std::int64_t b) const {
  return static_cast<std::size_t>((is_batch_first ? b * steps + step : step * batch + b) * input);
}

std::size_t RecurrentLayout::y_at(std::int64_t step, std::int64_t direction, std::int64_t b) const {
  return static_cast<std::size_t>(is_batch_first
                                      ? ((b * steps + step) * directions + direction) * hidden
                                      : ((step * directions + direction) * batch + b) * hidden);
}

std::size_t RecurrentLayout::state_at(std::int64_t direction, std::int64_t b) const {
  return static_cast<std::size_t>(
      (is_batch_first ? b * directions + direction : direction * batch + b) * hidden);
}

Shape RecurrentLayout::y_shape() const {
  return is_batch_first ? Shape{batch, steps, directions, hidden}
                        : Shape{steps, directions, batch, hidden};
}

Shape RecurrentLayout::state_shape() const {
  return is_batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
}

RecurrentLayout recurrent_layout(const Attrs& attrs, const Shape& x, const Shape& r) {
  if (x.size() != 3 || r.size() != 3) {
    fail_model("input " + to_string(x) + " with recurrence " + to_string(r) +
               ": both need three axes");
  }
  const bool is_batch_first = attrs.get_int("layout", 0) != 0;
  const std::string direction = attrs.get_string("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    fail_model("direction is \"" + direction + "\", needs forward, reverse or bidirectional");
  }
  return {.steps = x[is_batch_first ? 1 : 0],
          .batch = x[is_batch_first ? 0 : 1],
          .input = x[2],
          .hidden = r[2] != kUnknownDim ? r[2] : attrs.get_int("hidden_size", kUnknownDim),
          .directions = direction == "bidirectional" ? 2 : 1,
          .is_batch_first = is_batch_first};
}

std::vector<std::int64_t> sequence_lengths(const Tensor& lengths, const RecurrentLayout& layout) {
  if (!lengths.is_present())
    return std::vector<std::int64_t>(static_cast<std::size_t>(layout.batch), layout.steps);
  std::vector<std::int64_t> values = to_int64s(lengths);
  for (const std::int64_t length : values)
    if (length < 0 || length > layout.steps)
      fail_model("sequence length " + std::to_string(length) + " of " +
                 std::to_string(layout.steps) + " steps");
  return values;
}

const RecurrentKind& recurrent_kind(std::string_view type) {
  static const RecurrentKind rnn = {.gates = 1, .default_activations = {"Tanh"}},
                             gru = {.gates = 3, .default_activations = {"Sigmoid", "Tanh"}},
                             lstm = {.gates = 4,
                                     .default_activations = {"Sigmoid", "Tanh", "Tanh"},
                                     .has_cell_state = true};
  if (type == "CommonRNN") return rnn;
  return type == "DynamicGRUV2" ? gru : lstm;
}

std::vector<std::string> activation_names(const Attrs& attrs, const RecurrentKind& kind,
                                          std::int64_t directions) {
  std::vector<std::string> names;
  if (attrs.has("activations")) {
    const auto* given = std::get_if<std::vector<std::string>>(&attrs.all().at("activations"));
    if (given == nullptr) fail_model("activations is not a list of names");
    names = *given;
  }
  const std::size_t needed = kind.default_activations.size() * static_cast<std::size_t>(directions);
  while (names.size() < needed)
    names.push_back(kind.default_activations[names.size() % kind.default_activations.size()]);
  names.resize(needed);
  for (std::string& name : names)
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return names;
}

std::vector<Activation> recurrent_activations(const Attrs& attrs, const RecurrentKind& kind,
                                              std::int64_t directions) {
  Parameters alphas(attrs.get_floats("activation_alpha")),
      betas(attrs.get_floats("activation_beta"));
  std::vector<Activation> activations;
  for (const std::string& name : activation_names(attrs, kind, directions))
    activations.push_back(make_activation(name, alphas, betas));
  return activations;
}

double RecurrentDirection::input_sum(std::size_t gate, std::size_t unit,
                                     std::span<const double> x) const {
  const std::size_t row = gate * hidden_size + unit;
  return dot(weights.subspan(row * input_size, input_size), x) + bias[row];
}

double RecurrentDirection::recurrent_sum(std::size_t gate, std::size_t unit,
                                         std::span<const double> h) const {
  const std::size_t row = gate * hidden_size + unit;
  return dot(recurrence.subspan(row * hidden_size, hidden_size), h) + bias[bias.size() / 2 + row];
}

double RecurrentDirection::activate(std::size_t index, double value) const {
  return activations[index](clip > 0 ? std::clamp(value, -clip, clip) : value);
}

bool sequences_apart(const Slicing& slicing) {
  const bool is_batch_first = slicing.attrs.get_int("layout", 0) != 0;
  const int batch = is_batch_first ? 0 : 1;
  for (std::size_t i = 0; i < slicing.inputs.size(); ++i) {
    const bool is_of_sequences =
        i == kSequenceX || i == kSequenceLengths || i == kSequenceHidden || i == kSequenceCell;
    const int axis = is_of_sequences ? (i == kSequenceLengths ? 0 : batch) : kWhole;
    if (slicing.has_input(i) && slicing.axes[i] != axis) return false;
  }
  return true;
}

std::vector<TensorDesc> infer_recurrent(const InferContext& context, const RecurrentKind& kind) {
  const RecurrentLayout layout =
      recurrent_layout(context.attrs, context.shape(kSequenceX), context.shape(kSequenceR));
  check_shapes(context, layout, static_cast<std::int64_t>(kind.gates));
  recurrent_activations(context.attrs, kind, layout.directions);
  const DataType dtype = context.dtype(kSequenceX);
  std::vector<TensorDesc> outputs = {{.dtype = dtype, .shape = layout.y_shape()},
                                     {.dtype = dtype, .shape = layout.state_shape()}};
  if (kind.has_cell_state) outputs.push_back({.dtype = dtype, .shape = layout.state_shape()});
  return outputs;
}

void run_recurrent(const OpContext& context, const RecurrentKind& kind, const RecurrentCell& cell) {
  const Shape& x_shape = context.inputs[kSequenceX].desc.shape;
  const RecurrentLayout layout =
      recurrent_layout(context.attrs, x_shape, context.inputs[kSequenceR].desc.shape);
  const auto gates = static_cast<std::int64_t>(kind.gates);
  const std::int64_t w_size = gates * layout.hidden * layout.input;
  const std::int64_t r_size = gates * layout.hidden * layout.hidden;
  const std::int64_t b_size = 2 * gates * layout.hidden;
  const std::int64_t p_size = context.has_input(kSequencePeepholes) ? 3 * layout.hidden : 0;
  const std::int64_t state_size = layout.directions * layout.batch * layout.hidden;
  const auto x = to_doubles(context.inputs[kSequenceX]);
  const auto w = to_doubles(context.inputs[kSequenceW]), r = to_doubles(context.inputs[kSequenceR]);
  const auto bias = values_or_zeros(context, kSequenceBias, layout.directions * b_size);
  const auto peepholes = values_or_zeros(context, kSequencePeepholes, layout.directions * p_size);
  auto hidden = values_or_zeros(context, kSequenceHidden, state_size);
  auto cells = values_or_zeros(context, kSequenceCell, state_size);
  const auto lengths = sequence_lengths(
      context.has_input(kSequenceLengths) ? context.inputs[kSequenceLengths] : Tensor{}, layout);
  const auto activations = recurrent_activations(context.attrs, kind, layout.directions);
  const bool is_reverse = context.attrs.get_string("direction", "forward") == "reverse";
  std::vector<double> y = doubles(static_cast<std::size_t>(layout.steps * state_size));

  for (std::int64_t d = 0; d < layout.directions; ++d) {
    const auto part = [d](const std::vector<double>& all, std::int64_t size) {
      return std::span(all).subspan(static_cast<std::size_t>(d * size),
                                    static_cast<std::size_t>(size));
    };
    const auto first = activations.begin() + d * std::ssize(kind.default_activations);
    const RecurrentDirection direction{
        .input_size = static_cast<std::size_t>(layout.input),
        .hidden_size = static_cast<std::size_t>(layout.hidden),
        .weights = part(w, w_size),
        .recurrence = part(r, r_size),
        .bias = part(bias, b_size),
        .peepholes = part(peepholes, p_size),
        .activations = {first, first + std::ssize(kind.default_activations)},
        .clip = context.attrs.get_float("clip", 0)};
    for (std::int64_t b = 0; b < layout.batch; ++b) {
      const auto h = hidden.begin() + static_cast<std::ptrdiff_t>(layout.state_at(d, b));
      const auto c = cells.begin() + static_cast<std::ptrdiff_t>(layout.state_at(d, b));
      RecurrentState state{{h, h + layout.hidden}, {c, c + layout.hidden}};
      const std::int64_t length = lengths.at(static_cast<std::size_t>(b));
      for (std::int64_t t = 0; t < length; ++t) {
        const std::int64_t step = is_reverse || d == 1 ? length - 1 - t : t;
        cell(direction, std::span(x).subspan(layout.x_at(step, b), direction.input_size), state);
        std::copy(state.hidden.begin(), state.hidden.end(),
                  y.begin() + static_cast<std::ptrdiff_t>(layout.y_at(step, d, b)));
      }
      std::copy(state.hidden.begin(), state.hidden.end(), h);
      std::copy(state.cell.begin(), state.cell.end(), c);
    }
  }
  if (context.has_output(0)) from_doubles(y, context.outputs[0]);
  if (context.has_output(1)) from_doubles(hidden, context.outputs[1]);
  if (context.has_output(2)) from_doubles(cells, context.outputs[2]);
}

}  // namespace aoe::reference
