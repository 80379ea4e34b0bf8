// See lanes.h.
#include "compiler/emit/lanes.h"

#include "compiler/emit/element_lanes.h"
#include "reference/elements/typed.h"
#include "reference/formula.h"

namespace aoe::compiler {
namespace {

Vec keep(Builder& builder, const Vec& value) {
  return builder.get(builder.local(value));
}

/// As the reference converts it: NaN is 0.
std::int64_t whole(DataType dtype, double number) {
  switch (dtype) {
    case DataType::kUint64:
      return static_cast<std::int64_t>(reference::convert<std::uint64_t>(number));
    case DataType::kInt64:
    case DataType::kUint32:
      return reference::convert<std::int64_t>(number);
    default:
      return reference::convert<std::int32_t>(number);
  }
}

}  // namespace

struct Lanes::State {
  DataType dtype;
  int lanes = 1;
  std::optional<Vec> reals = {}, integers = {};
  std::optional<Mask> truth = {};
  Load load = {};
  std::optional<Vec> to_round = {};  ///< bytes that are the nearest integers to these, plus `zero`
  int zero = 0;
};

Lanes::Lanes(State state) : state_(std::make_shared<State>(std::move(state))) {
}

Lanes Lanes::loaded(Builder& builder, DataType dtype, Load load) {
  return Lanes({.dtype = dtype, .load = [&builder, load = std::move(load)](Type type) {
                  return keep(builder, load(type));
                }});
}

Lanes Lanes::number(DataType dtype, double number, int lanes) {
  if (dtype == DataType::kBool || is_floating(dtype))
    return reals(dtype, splat(number, lanes, real_lanes(dtype)));
  return integers(dtype, int_splat(whole(dtype, number), lanes, lanes_of(dtype)));
}

Lanes Lanes::reals(DataType dtype, Vec vec) {
  return Lanes({.dtype = dtype, .lanes = vec.lanes(), .reals = vec});
}

Lanes Lanes::integers(DataType dtype, Vec vec) {
  return Lanes({.dtype = dtype, .lanes = vec.lanes(), .integers = vec});
}

Lanes Lanes::rounded_to_bytes(Vec vec, int zero) {
  return Lanes({.dtype = DataType::kUint8, .lanes = vec.lanes(), .to_round = vec, .zero = zero});
}

Lanes Lanes::truth(Mask mask) {
  return Lanes({.dtype = DataType::kBool, .lanes = mask.e->lanes, .truth = mask});
}

DataType Lanes::dtype() const {
  return state_->dtype;
}

Vec Lanes::as_reals() const {
  return as_reals(real_lanes(state_->dtype));
}

/// Kept as they were made or asked for first, if that is exact; lanes of another type are converted for whoever asks.
Vec Lanes::as_reals(Type type) const {
  State& s = *state_;
  if (s.reals) return convert(*s.reals, type);
  if (s.to_round && !s.integers) {
    const Vec whole = *as_reals_less(s.zero);
    s.reals = s.zero == 0 ? whole : whole + number_like(s.zero, whole);
    return convert(*s.reals, type);
  }
  Vec made = s.integers ? convert(*s.integers, type, is_signed(s.dtype))
             : s.truth  ? select(*s.truth, splat(1, s.lanes, type), splat(0, s.lanes, type))
                        : s.load(type);
  const bool is_narrow = s.dtype == DataType::kBool || size_bytes(s.dtype) <= 2;
  if (is_narrow || (is_floating(s.dtype) && type == real_lanes(s.dtype))) s.reals = made;
  return made;
}

Vec Lanes::as_integers() const {
  State& s = *state_;
  if (s.integers) return *s.integers;
  const Type type = lanes_of(s.dtype);
  if (s.to_round)
    s.integers = convert(round_to_byte(*s.to_round, s.zero), type);
  else if (s.reals)
    s.integers = convert(*s.reals, type);
  else if (s.truth)
    s.integers = select(*s.truth, int_splat(1, s.lanes, type), int_splat(0, s.lanes, type));
  else
    s.integers = s.load(type);
  return *s.integers;
}

Mask Lanes::as_truth() const {
  State& s = *state_;
  if (s.truth) return *s.truth;
  if (s.reals || is_floating(s.dtype)) {
    const Vec x = as_reals();
    s.truth = !(x == number_like(0, x));
  } else {
    const Vec x = as_integers();
    s.truth = !(x == int_like(0, x));
  }
  return *s.truth;
}

std::optional<Vec> Lanes::as_reals_less(double number) const {
  const State& s = *state_;
  if (!s.to_round || number != s.zero) return {};
  const auto bound = [&](int byte) {
    return number_like(static_cast<float>(byte - s.zero), *s.to_round);
  };
  // An integer has no -0, which a division by it would tell.
  return round_even(min(max(*s.to_round, bound(0)), bound(255))) + number_like(0, *s.to_round);
}

Vec Lanes::stored() const {
  const State& s = *state_;
  if (s.to_round && !s.integers && !s.reals) return round_to_byte(*s.to_round, s.zero);
  return is_integer(s.dtype) && !s.reals ? as_integers() : as_reals();
}

Lanes Lanes::kept(Builder& builder) const {
  const State& s = *state_;
  if (s.to_round) return rounded_to_bytes(keep(builder, *s.to_round), s.zero);
  const bool is_loaded = !s.integers && !s.truth && !s.reals;
  if (s.truth || is_loaded) return *this;  // loads keep what they load
  if (s.integers) return integers(s.dtype, keep(builder, *s.integers));
  return reals(s.dtype, keep(builder, *s.reals));
}

}  // namespace aoe::compiler
