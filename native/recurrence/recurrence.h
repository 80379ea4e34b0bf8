// Recurrence: a call of DynamicRNN (LSTM), DynamicGRUV2 or CommonRNN, and its parameters in the order in which they are read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "native/kernel.h"
#include "native/products/panels.h"
#include "native/recurrence/gate_function.h"
#include "reference/recurrent.h"

namespace aoe::native {

enum GruGate : std::int64_t { kUpdate, kReset, kCandidate };

/// What one direction multiplies and adds. A row of sums is gates x hidden.
template <typename T>
struct Direction {
  const T *weights, *recurrence;  ///< gates x hidden x factors
  std::vector<T> bias;            ///< of a row of sums
  std::vector<T> candidate_bias;  ///< inside of what the reset gate multiplies
  const T* peepholes;             ///< input, output, forget x hidden; null: none
  std::vector<GateFunction> functions;
  std::span<const Panels<T>> packed_weights,
      packed_recurrence;  ///< of each gate; none where packing does not pay
};

/// Of float or double. Refers to the run.
template <typename T>
class Recurrence {
 public:
  explicit Recurrence(const Run& run);

  std::int64_t gates() const { return static_cast<std::int64_t>(kind_.gates); }
  const T* input(std::size_t i) const {
    return run_.has_input(i) ? run_.inputs[i].as<T>() : nullptr;
  }
  bool resets_behind_product() const {
    return run_.call.type == "DynamicGRUV2" && run_.attrs.get_int("linear_before_reset", 0) != 0;
  }
  std::int64_t time_of(std::int64_t d, std::int64_t b, std::int64_t step) const {
    const bool is_reverse = d == 1 || run_.attrs.get_string("direction", "forward") == "reverse";
    return is_reverse ? lengths_[static_cast<std::size_t>(b)] - 1 - step : step;
  }

  const Run& run() const { return run_; }
  const reference::RecurrentKind& kind() const { return kind_; }
  const reference::RecurrentLayout& layout() const { return layout_; }
  const std::vector<std::int64_t>& lengths() const { return lengths_; }  ///< of each sequence
  const Direction<T>& of(std::int64_t d) const { return directions_[static_cast<std::size_t>(d)]; }

 private:
  Direction<T> direction(std::int64_t d) const;
  void add_biases(std::int64_t d, Direction<T>& to) const;
  using Packed = std::vector<Panels<T>>;  ///< of each gate of each direction
  void pack();
  std::shared_ptr<const Packed> packed(std::size_t i, std::int64_t size) const;
  std::span<const Panels<T>> of_direction(const std::shared_ptr<const Packed>& packed,
                                          std::int64_t d) const;

  const Run& run_;
  const reference::RecurrentKind& kind_;
  const reference::RecurrentLayout layout_;
  const std::vector<std::int64_t> lengths_;
  std::shared_ptr<const Packed> weights_, recurrence_;
  std::vector<Direction<T>> directions_;
};

}  // namespace aoe::native
