// CommonRNN, DynamicGRUV2, DynamicRNN: ONNX's RNN, GRU and LSTM. Each is one cell in the frame of reference/recurrent.h.
#include "reference/recurrent.h"

namespace aoe::reference {
namespace {

void rnn_cell(const RecurrentDirection& d, std::span<const double> x, RecurrentState& state) {
  std::vector<double> next(d.hidden_size);
  for (std::size_t i = 0; i < next.size(); ++i) {
    next[i] = d.activate(0, d.input_sum(0, i, x) + d.recurrent_sum(0, i, state.hidden));
  }
  state.hidden = std::move(next);
}

/// The reset gate acts on the hidden state, or, with linear_before_reset, on what the recurrence makes of it.
void gru_cell(const RecurrentDirection& d, std::span<const double> x, RecurrentState& state,
              bool is_linear_before_reset) {
  enum Gate : std::size_t { kUpdate, kReset, kCandidate };
  const std::vector<double>& h = state.hidden;
  std::vector<double> reset(d.hidden_size), reset_hidden(d.hidden_size), next(d.hidden_size);
  for (std::size_t i = 0; i < next.size(); ++i) {
    reset[i] = d.activate(0, d.input_sum(kReset, i, x) + d.recurrent_sum(kReset, i, h));
    reset_hidden[i] = reset[i] * h[i];
  }
  for (std::size_t i = 0; i < next.size(); ++i) {
    const double update =
        d.activate(0, d.input_sum(kUpdate, i, x) + d.recurrent_sum(kUpdate, i, h));
    const double recurrent = is_linear_before_reset ? reset[i] * d.recurrent_sum(kCandidate, i, h)
                                                    : d.recurrent_sum(kCandidate, i, reset_hidden);
    const double candidate = d.activate(1, d.input_sum(kCandidate, i, x) + recurrent);
    next[i] = (1 - update) * candidate + update * h[i];
  }
  state.hidden = std::move(next);
}

/// With input_forget the forget gate is what the input gate leaves.
void lstm_cell(const RecurrentDirection& d, std::span<const double> x, RecurrentState& state,
               bool couples_input_and_forget) {
  enum Gate : std::size_t { kInput, kOutput, kForget, kCandidate };  // peepholes: the first three
  std::vector<double> next_hidden(d.hidden_size), next_cell(d.hidden_size);
  for (std::size_t i = 0; i < d.hidden_size; ++i) {
    const auto sum = [&](Gate gate) {
      return d.input_sum(gate, i, x) + d.recurrent_sum(gate, i, state.hidden);
    };
    const auto peephole = [&](Gate gate, double cell) {
      return d.peepholes.empty() ? 0 : d.peepholes[gate * d.hidden_size + i] * cell;
    };
    const double input = d.activate(0, sum(kInput) + peephole(kInput, state.cell[i]));
    const double forget = couples_input_and_forget
                              ? 1 - input
                              : d.activate(0, sum(kForget) + peephole(kForget, state.cell[i]));
    const double candidate = d.activate(1, sum(kCandidate));
    next_cell[i] = forget * state.cell[i] + input * candidate;
    const double output = d.activate(0, sum(kOutput) + peephole(kOutput, next_cell[i]));
    next_hidden[i] = output * d.activations[2](next_cell[i]);
  }
  state = {std::move(next_hidden), std::move(next_cell)};
}

/// One step does gates * hidden * (input + hidden) products; the weights hold just that many.
double step_products(const CostContext& cost) {
  const Shape& x = cost.inputs[0].shape;
  return 2.0 * static_cast<double>(x[0] * x[1]) * (cost.input_elements(1) + cost.input_elements(2));
}

std::string recurrent_attributes(const std::string& others) {
  return "hidden_size=1.. direction=forward|reverse|bidirectional layout=0..1 clip=float:0.. "
         "activations=strings activation_alpha=floats activation_beta=floats " +
         others;
}

OpDef recurrent_op(std::string type, std::string onnx_type, OpSignature signature,
                   std::function<RecurrentCell(const Attrs&)> make_cell) {
  OpDef def{.type = std::move(type),
            .onnx_type = std::move(onnx_type),
            .versions = {7},
            .signature = std::move(signature),
            .kind = OpKind::kRecurrence};
  const RecurrentKind kind = recurrent_kind(def.type);
  def.infer = [kind](const InferContext& context) { return infer_recurrent(context, kind); };
  def.compute = [kind, make_cell = std::move(make_cell)](const OpContext& context) {
    run_recurrent(context, kind, make_cell(context.attrs));
  };
  def.flops = step_products;
  def.min_inputs = 3;
  def.slices = sequences_apart;
  def.factors = 3;
  return def;
}

}  // namespace

void register_recurrent_cells(OpRegistry& registry) {
  registry.add(recurrent_op("CommonRNN", "RNN",
                            {"f1:3 f1:3 f1:3 f1?:2 x?:1 f1?:3", recurrent_attributes("")},
                            [](const Attrs&) { return rnn_cell; }));
  registry.add(recurrent_op(
      "DynamicGRUV2", "GRU",
      {"f1:3 f1:3 f1:3 f1?:2 x?:1 f1?:3", recurrent_attributes("linear_before_reset=0..1")},
      [](const Attrs& attrs) -> RecurrentCell {
        const bool is_linear = attrs.get_int("linear_before_reset", 0) != 0;
        return [is_linear](const RecurrentDirection& d, std::span<const double> x,
                           RecurrentState& state) { gru_cell(d, x, state, is_linear); };
      }));
  registry.add(recurrent_op(
      "DynamicRNN", "LSTM",
      {"f1:3 f1:3 f1:3 f1?:2 x?:1 f1?:3 f1?:3 f1?:2", recurrent_attributes("input_forget=0..1")},
      [](const Attrs& attrs) -> RecurrentCell {
        const bool couples = attrs.get_int("input_forget", 0) != 0;
        return [couples](const RecurrentDirection& d, std::span<const double> x,
                         RecurrentState& state) { lstm_cell(d, x, state, couples); };
      }));
}

}  // namespace aoe::reference
