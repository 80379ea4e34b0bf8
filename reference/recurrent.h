// The frame of RNN, GRU and LSTM: layouts, directions, sequence lengths and activations. A cell is one function, called
// once per direction, batch element and step.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "reference/op.h"
#include "reference/slicing.h"

namespace aoe::reference {

using Activation = std::function<double(double)>;

/// The parameters of one direction; bias is zeros when the model has none.
struct RecurrentDirection {
  std::size_t input_size = 0;
  std::size_t hidden_size = 0;
  std::span<const double> weights;     ///< gates x hidden x input
  std::span<const double> recurrence;  ///< gates x hidden x hidden
  std::span<const double> bias;  ///< gates x hidden for the input, then as many for the recurrence
  std::span<const double> peepholes;  ///< LSTM: input, output, forget x hidden; empty: none
  std::vector<Activation> activations;
  double clip = 0;  ///< 0: none

  /// Row `unit` of a gate's W x + Wb, and of its R h + Rb.
  double input_sum(std::size_t gate, std::size_t unit, std::span<const double> x) const;
  double recurrent_sum(std::size_t gate, std::size_t unit, std::span<const double> h) const;
  /// Activation `index` of what `clip` leaves of the value.
  double activate(std::size_t index, double value) const;
};

struct RecurrentState {
  std::vector<double> hidden;
  std::vector<double> cell;  ///< LSTM only
};

/// One step: reads x and the state, replaces the state.
using RecurrentCell =
    std::function<void(const RecurrentDirection&, std::span<const double> x, RecurrentState&)>;

/// What tells RNN, GRU and LSTM apart for the frame.
struct RecurrentKind {
  std::size_t gates = 1;
  std::vector<std::string> default_activations;
  bool has_cell_state = false;
};

/// Of an Ascend IR type.
const RecurrentKind& recurrent_kind(std::string_view type);

enum RecurrentInput : std::size_t {
  kSequenceX,
  kSequenceW,
  kSequenceR,
  kSequenceBias,
  kSequenceLengths,
  kSequenceHidden,
  kSequenceCell,
  kSequencePeepholes
};

/// layout 0: X is steps x batch x input; layout 1: batch x steps x input.
struct RecurrentLayout {
  std::int64_t steps = 0, batch = 0, input = 0, hidden = 0, directions = 1;
  bool is_batch_first = false;

  std::size_t x_at(std::int64_t step, std::int64_t b) const;
  std::size_t y_at(std::int64_t step, std::int64_t direction, std::int64_t b) const;
  std::size_t state_at(std::int64_t direction, std::int64_t b) const;
  Shape y_shape() const;
  Shape state_shape() const;
};

RecurrentLayout recurrent_layout(const Attrs& attrs, const Shape& x, const Shape& r);

/// Of each sequence; `steps` where the model says nothing.
std::vector<std::int64_t> sequence_lengths(const Tensor& lengths, const RecurrentLayout& layout);

/// In lower case: the functions of all directions, one direction's after the other's.
std::vector<std::string> activation_names(const Attrs& attrs, const RecurrentKind& kind,
                                          std::int64_t directions);
std::vector<Activation> recurrent_activations(const Attrs& attrs, const RecurrentKind& kind,
                                              std::int64_t directions);

std::vector<TensorDesc> infer_recurrent(const InferContext& context, const RecurrentKind& kind);
/// Sequences of a batch, with their lengths and first states.
bool sequences_apart(const Slicing& slicing);
void run_recurrent(const OpContext& context, const RecurrentKind& kind, const RecurrentCell& cell);

}  // namespace aoe::reference
