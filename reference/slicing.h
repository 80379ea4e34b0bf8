// Slicing: whether a call can be carried out slice by slice: each slice of its results, along an axis of theirs, is what the call
// makes of the same slices of what it reads. It is asked where how many slices there are is known only when the model runs
// (graph/passes/map_slices.cpp), so that code for sizes that are known can do the work part by part.
#pragma once

#include <span>
#include <vector>

#include "reference/op.h"

namespace aoe::reference {

/// Of an input that every slice reads whole.
inline constexpr int kWhole = -1;

/// What an operator is asked about.
struct Slicing {
  const Attrs& attrs;
  int version;
  std::span<const Tensor>
      inputs;  ///< data where values are known; the dimension along which one is sliced is not
  std::span<const int> axes;  ///< by input: along which it is sliced, or kWhole; at least one is
  std::span<const TensorDesc> outputs;
  std::span<const int> output_axes;  ///< by output; kWhole of what nobody wants

  const Shape& shape(std::size_t i) const { return inputs[i].desc.shape; }
  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i].is_present(); }
  bool is_whole(std::size_t i) const { return !has_input(i) || axes[i] == kWhole; }
  /// Inputs from `first` on are.
  bool are_whole(std::size_t first) const;
  /// A dimension of input `i` counted from its last, as in broadcasting: whether it is 1, or not there.
  bool stretches(std::size_t i, std::size_t from_last) const;
};

/// Of a call without a body. What its operator says (OpDef::slices), or what follows from its kind; "no" where neither does.
bool can_be_sliced(const OpCall& call, const Slicing& slicing);

// ---- answers of OpDef::slices ----

/// Images of input 0 and of all results, what else is read being whole.
bool images_apart(const Slicing& slicing);

/// Input 0 along any axis but those that `mixed` names, by axis of input 0; what else is read is whole. No flags: they are not
/// known.
SlicesFn apart_but_for(std::function<std::vector<bool>(const Slicing&)> mixed);

/// The same where none is mixed.
bool all_apart(const Slicing& slicing);

/// The same, of an operator along one axis that is an attribute.
SlicesFn apart_but_for_axis(std::int64_t axis_by_default);

/// Input 0 whose elements keep their order.
bool same_elements(const Slicing& slicing);

/// All inputs as broadcasting lays them beside each other.
bool elements_apart(const Slicing& slicing);

}  // namespace aoe::reference
