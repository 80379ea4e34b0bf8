// Lanes: elements of tensors while code is emitted for them.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/data_type.h"
#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

/// Elements of one type while code is emitted for them: as lanes of real numbers, as integer lanes or as a mask, whatever
/// they are asked for as, each made or loaded once. Integers of 8 and 16 bits and bool pass through float32 lanes unchanged.
class Lanes {
 public:
  /// Reads the elements from memory as lanes of a type.
  using Load = std::function<loopnest::Vec(loopnest::Type)>;

  static Lanes loaded(loopnest::Builder& builder, DataType dtype, Load load);
  static Lanes number(DataType dtype, double number, int lanes);
  /// Lanes of real numbers that hold elements of the type.
  static Lanes reals(DataType dtype, loopnest::Vec vec);
  static Lanes integers(DataType dtype, loopnest::Vec vec);
  /// uint8: real numbers to the nearest integer, plus `zero`, saturated. Bytes for who stores them; who wants numbers again gets those.
  static Lanes rounded_to_bytes(loopnest::Vec vec, int zero);
  static Lanes truth(loopnest::Mask mask);

  DataType dtype() const;
  /// float64 lanes for float64, else float32 lanes; or lanes of the type that is given.
  loopnest::Vec as_reals() const;
  loopnest::Vec as_reals(loopnest::Type type) const;
  /// int64 lanes for integers of 64 bits, else int32 lanes.
  loopnest::Vec as_integers() const;
  loopnest::Mask as_truth() const;
  /// as_reals() less a number, if that takes no more steps than as_reals().
  std::optional<loopnest::Vec> as_reals_less(double number) const;
  /// What a store to memory of the type takes.
  loopnest::Vec stored() const;
  /// Computed here, and kept in registers for whoever reads them later. A mask is computed where it is used.
  Lanes kept(loopnest::Builder& builder) const;

 private:
  struct State;
  explicit Lanes(State state);
  std::shared_ptr<State> state_;
};

}  // namespace aoe::compiler
