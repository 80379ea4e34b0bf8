// Importing nodes that read or make tensors of small types: DequantizeLinear takes them as they are held, QuantizeLinear
// and Cast are given the range of the type, what moves elements passes them on, and nothing else has them.
#include <algorithm>

#include "graph/import/onnx_importer.h"
#include "graph/import/small_types.h"
#include "reference/elements/onnx_data_type.h"

namespace aoe::graph {
namespace {

const SmallType* named_type(const onnx::NodeProto& proto, std::string_view attribute) {
  for (const auto& own : proto.attribute())
    if (own.name() == attribute) return small_type(own.i());
  return nullptr;
}

}  // namespace

const SmallType* Importer::small_of(const std::string& name, const Scope& scope) const {
  const auto found = name.empty() ? now_->small.end() : now_->small.find(scope.find(name));
  return found == now_->small.end() ? nullptr : found->second;
}

const SmallType* Importer::small_input(const onnx::NodeProto& proto, const Scope& scope) const {
  for (const std::string& input : proto.input())
    if (const SmallType* type = small_of(input, scope)) return type;
  return nullptr;
}

namespace {

/// A scale or zero point stretched to `x`: of one element, one for each position of `axis`, or one for each block of these.
Term spread(FunctionCall& call, Term parameter, Term x) {
  const Shape shape = call.shape(x);
  if (element_count(call.shape(parameter)) == 1) return call.reshape(parameter, {});
  const auto rank = static_cast<std::int64_t>(shape.size());
  std::int64_t axis = call.attrs().get_int("axis", 1);
  if (axis < 0) axis += rank;
  const std::int64_t dim = call.dim(x, axis),
                     block = std::min(call.attrs().get_int("block_size", 0),
                                      std::max(dim, std::int64_t{1}));  // more are not there
  const auto at = static_cast<std::size_t>(axis);
  if (call.rank(parameter) == 1) {
    Shape along(shape.size(), 1);
    along[at] = dim;
    return call.reshape(parameter, along);
  }
  if (block < 1 || call.rank(parameter) != rank)
    throw NotExpressible{"its scales " + to_string(call.shape(parameter)) + " do not fit " +
                         to_string(shape)};
  Shape apart = call.shape(parameter), repeated = apart, joined = apart;
  apart.insert(apart.begin() + axis + 1, 1);
  repeated.insert(repeated.begin() + axis + 1, block);
  joined[at] *= block;
  const Term wide = call.reshape(
      call.op("Expand", {call.reshape(parameter, apart), call.ints(repeated)}), joined);
  return call.slice(wide, axis, 0, dim);
}

}  // namespace

/// What is held as float32 needs no more than the scale.
void Importer::import_float_dequantize(const onnx::NodeProto& proto, Scope& scope) {
  FunctionCall call = function_call(proto, scope);
  Term x = call.input(0);
  const Term scale = call.input(1);
  if (call.has(2)) x = x - spread(call, call.input(2), x);
  const Term y = call.cast(x, DataType::kFloat) *
                 spread(call, call.cast(scale, DataType::kFloat), call.input(0));
  const std::int64_t asked = call.attrs().get_int("output_dtype", 0);
  scope.values[proto.output(0)] =
      call.cast(y, asked == 0 ? call.dtype(scale) : reference::data_type_from_onnx(asked)).id;
}

bool Importer::import_small(const onnx::NodeProto& proto, Scope& scope) {
  const std::string& type = proto.op_type();
  if (!proto.domain().empty() && proto.domain() != "ai.onnx") return false;
  if (type == "Cast" || type == "CastLike") {
    const SmallType* to = type == "Cast"            ? named_type(proto, "to")
                          : proto.input_size() == 2 ? small_of(proto.input(1), scope)
                                                    : nullptr;
    if (to == nullptr) return false;
    import_small_cast(proto, *to, scope);
    return true;
  }
  if (type == "DequantizeLinear") {
    const SmallType* from = proto.input_size() > 0 ? small_of(proto.input(0), scope) : nullptr;
    if (from == nullptr || !from->is_float()) return false;
    import_float_dequantize(proto, scope);
    return true;
  }
  if (type != "QuantizeLinear") return false;
  const SmallType* to =
      proto.input_size() > 2 ? small_of(proto.input(2), scope) : named_type(proto, "output_dtype");
  if (to == nullptr) return false;
  import_small_quantize(proto, *to, scope);
  return true;
}

namespace {

Term rounded(FunctionCall& call, Term x, const SmallType& to) {
  const reference::OpCall rounding = rounding_to(to, call.attrs().get_int("saturate", 1) != 0);
  return call.op(rounding.type, {call.cast(x, DataType::kFloat)}, rounding.attrs);
}

/// Numbers of float32 to powers of 2, from -127 to 127: what float8e8m0 has. By their bits.
Term rounded_to_power(FunctionCall& call, Term x) {
  const auto number = [&](double value) { return call.number(value, DataType::kUint32); };
  const auto shift = [&](Term bits, const char* direction) {
    reference::Attrs attrs;
    attrs.set("direction", std::string(direction));
    return call.op("BitShift", {bits, number(23)}, attrs);
  };
  const auto bit_cast = [&](Term value, DataType to) {
    reference::Attrs attrs;
    attrs.set("to", reference::onnx_number(to));
    return call.op("BitCast", {value}, attrs);
  };
  constexpr double kHalf = 0x400000;
  const std::string mode = call.attrs().get_string("round_mode", "up");
  const Term bits = bit_cast(call.cast(x, DataType::kFloat), DataType::kUint32);
  const Term fraction = call.op("BitwiseAnd", {bits, number(0x7fffff)});
  const Term exponent = call.op("BitwiseAnd", {shift(bits, "RIGHT"), number(0xff)});
  // Half way between two goes up, but for the least.
  const Term up =
      mode == "up" ? call.op("Greater", {fraction, number(0)})
      : mode == "nearest"
          ? call.op("Greater", {fraction + call.op("Min", {exponent, number(1)}), number(kHalf)})
          : call.op("Greater", {number(0), number(1)});
  if (mode != "up" && mode != "nearest" && mode != "down")
    throw NotExpressible{"it rounds '" + mode + "'"};
  const bool saturate = call.attrs().get_int("saturate", 1) != 0;
  const Term last = number(saturate ? 0xfe : 0xff);
  const Term raised = call.op("Where", {call.op("Less", {exponent, last}),
                                        exponent + call.cast(up, DataType::kUint32), exponent});
  const Term power = call.op(
      "Where", {call.op("Equal", {raised, number(0)}), number(kHalf), shift(raised, "LEFT")});
  const Term with_nan =
      call.op("Where", {call.op("Equal", {raised, number(0xff)}), number(0x7fc00000), power});
  return bit_cast(with_nan, DataType::kFloat);
}

}  // namespace

/// As int8 or uint8, and then into the range of the type; floating-point types by rounding.
void Importer::import_small_quantize(const onnx::NodeProto& proto, const SmallType& to,
                                     Scope& scope) {
  FunctionCall call = function_call(proto, scope);
  if (to.is_float()) {
    if (!to.floating.has_sign) throw NotExpressible{"it quantises to " + std::string(to.name)};
    const Term x = call.input(0);
    const Term scale = spread(call, call.cast(call.input(1), DataType::kFloat), x);
    Term scaled = call.cast(x, DataType::kFloat) / scale;
    if (call.has(2)) scaled = scaled + spread(call, call.input(2), x);
    const Term y = rounded(call, scaled, to);
    scope.values[proto.output(0)] = y.id;
    now_->small[y.id] = &to;
    return;
  }
  reference::Attrs attrs = call.attrs();
  attrs.set("output_dtype", reference::onnx_number(to.held));
  const Term wide =
      call.op("QuantizeLinear",
              {call.input(0), call.input(1), call.has(2) ? call.input(2) : call.absent()}, attrs);
  const Term y = call.op("Clip", {wide, call.number(static_cast<double>(to.low()), to.held),
                                  call.number(static_cast<double>(to.high()), to.held)});
  scope.values[proto.output(0)] = y.id;
  now_->small[y.id] = &to;
}

/// Integers lose their high bits. Floating-point types are rounded to.
void Importer::import_small_cast(const onnx::NodeProto& proto, const SmallType& to, Scope& scope) {
  FunctionCall call = function_call(proto, scope);
  const Term x = call.input(0);
  Term y = call.absent();
  if (to.is_float()) {
    y = to.floating.has_sign ? rounded(call, x, to) : rounded_to_power(call, x);
  } else {
    const auto number = [&](std::int64_t value) {
      return call.number(static_cast<double>(value), to.held);
    };
    y = call.op("BitwiseAnd", {call.cast(x, to.held), number((std::int64_t{1} << to.bits) - 1)});
    if (to.low() < 0) y = call.op("BitwiseXor", {y, number(-to.low())}) - number(-to.low());
  }
  scope.values[proto.output(0)] = y.id;
  now_->small[y.id] = &to;
}

/// Whether an operator may be given a tensor of `small` as what it is held as.
void Importer::check_small(const onnx::NodeProto& proto, const reference::OpDef* def,
                           const SmallType& small, const Scope& scope) const {
  const std::string& type = proto.op_type();
  const auto refuse = [&](const std::string& what) {
    throw NotExpressible{"it reads " + std::string(small.name) + what};
  };
  if (type == "DequantizeLinear" || type == "Cast" || type == "CastLike") return;
  const Function* function = functions().find(proto.domain(), type);
  if (function != nullptr && function->takes_small) return;
  if (def == nullptr || type == "BitCast") refuse("");
  if (def->kind != reference::OpKind::kMove) refuse("");
  if (type != "Concat") return;
  for (const std::string& input : proto.input())
    if (small_of(input, scope) != &small) refuse(" and another type");
}

}  // namespace aoe::graph
