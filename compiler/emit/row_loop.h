// RowLoop: passes over one contiguous row of elements, a vector at a time: what softmax and the
// normalisations are made of.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

struct RowLoop {
  std::int64_t extent = 0;
  int lanes = 8;
  std::int64_t accumulators = 4;                 ///< vectors in flight per pass
  loopnest::Type type = loopnest::Type::kFloat;  ///< of the lanes

  using Body = std::function<void(loopnest::Int i, std::optional<loopnest::Int> active)>;
  /// Calls `body` for every vector of the row; `active` is set in the tail only.
  void for_each(loopnest::Builder& builder, const Body& body) const;

  /// Combines value(i, active) over the row, lanes that are not active counting as `start`; one
  /// lane.
  using Value = std::function<loopnest::Vec(loopnest::Int i, std::optional<loopnest::Int> active)>;
  loopnest::Vec reduce(loopnest::Builder& builder, double start,
                       loopnest::Vec (*combine)(loopnest::Vec, loopnest::Vec),
                       loopnest::Vec (*combine_lanes)(loopnest::Vec), const Value& value) const;

 private:
  std::int64_t full() const { return extent / lanes * lanes; }
  std::int64_t group() const { return lanes * accumulators; }
  std::int64_t grouped() const { return extent / group() * group(); }
};

}  // namespace aoe::compiler
