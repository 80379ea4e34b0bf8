// See element_conversion.h.
#include "compiler/loopnest/element_conversion.h"

#include <llvm/IR/Constants.h>

#include <cmath>
#include <string>

#include "base/check.h"

namespace aoe::compiler::loopnest {
namespace {

using llvm::Value;

llvm::Type* lanes_like(Value* like, llvm::Type* element) {
  return like->getType()->getWithNewType(element);
}

Value* to_float(IrBuilder& ir, Value* raw, DataType dtype) {
  llvm::Type* target = lanes_like(raw, ir.getFloatTy());
  switch (dtype) {
    case DataType::kFloat:
      return raw;
    case DataType::
        kFloat16:  // behind the fence no comparison is taken back to float16, which it would be lane by lane
      return ir.CreateArithmeticFence(ir.CreateFPExt(raw, target), target);
    case DataType::kDouble:
      return ir.CreateFPTrunc(raw, target);
    case DataType::kBFloat16: {
      Value* wide = ir.CreateZExt(raw, int_type(raw, 32));
      return ir.CreateBitCast(ir.CreateShl(wide, 16), target);
    }
    default:
      return is_signed(dtype) ? ir.CreateSIToFP(raw, target) : ir.CreateUIToFP(raw, target);
  }
}

Value* to_double(IrBuilder& ir, Value* raw, DataType dtype) {
  llvm::Type* target = lanes_like(raw, ir.getDoubleTy());
  if (dtype == DataType::kDouble) return raw;
  if (is_floating(dtype)) return ir.CreateFPExt(to_float(ir, raw, dtype), target);
  return is_signed(dtype) ? ir.CreateSIToFP(raw, target) : ir.CreateUIToFP(raw, target);
}

/// Of float32 or float64. Saturates; NaN becomes 0. Bounds first, then one conversion: LLVM's own saturating conversion converts
/// lane by lane.
Value* to_integers(IrBuilder& ir, Value* value, DataType dtype) {
  if (dtype == DataType::kBool) {
    Value* is_set = ir.CreateFCmpUNE(value, llvm::Constant::getNullValue(value->getType()));
    return ir.CreateZExt(is_set, int_type(value, 8));
  }
  const auto bits = static_cast<unsigned>(aoe::size_bytes(dtype) * 8);
  const bool has_sign = is_signed(dtype), is_narrow = bits < 32;
  const double low = has_sign ? -std::ldexp(1, static_cast<int>(bits) - 1) : 0;
  const double beyond = std::ldexp(1, static_cast<int>(has_sign ? bits - 1 : bits));
  // The largest integer may be no number of the lanes: then it is chosen behind the conversion.
  const auto mantissa_bits =
      static_cast<unsigned>(value->getType()->getScalarType()->getFPMantissaWidth());
  const bool is_exact = bits - (has_sign ? 1 : 0) <= mantissa_bits;
  const double high =
      is_exact ? beyond - 1 : beyond - std::ldexp(beyond, -static_cast<int>(mantissa_bits));
  Value* bounded = emit_min(ir, emit_max(ir, value, constant(value, low)), constant(value, high));
  llvm::Type* type = int_type(value, is_narrow ? 32 : bits);
  Value* whole =
      has_sign || is_narrow ? ir.CreateFPToSI(bounded, type) : ir.CreateFPToUI(bounded, type);
  if (!is_exact) {
    const llvm::APInt largest =
        has_sign ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
    Value* is_beyond = ir.CreateFCmpOGE(value, constant(value, beyond));
    whole = ir.CreateSelect(is_beyond, llvm::ConstantInt::get(type, largest), whole);
  }
  Value* is_number = ir.CreateFCmpORD(value, value);
  whole = ir.CreateSelect(is_number, whole, llvm::Constant::getNullValue(type));
  return is_narrow ? ir.CreateTrunc(whole, int_type(value, bits)) : whole;
}

Value* from_float(IrBuilder& ir, Value* value, DataType dtype) {
  switch (dtype) {
    case DataType::kFloat:
      return value;
    case DataType::kFloat16:
      return ir.CreateFPTrunc(value, lanes_like(value, ir.getHalfTy()));
    case DataType::kDouble:
      return ir.CreateFPExt(value, lanes_like(value, ir.getDoubleTy()));
    case DataType::kBFloat16: {  // round to nearest even; a NaN stays one
      Value* bits = ir.CreateBitCast(value, int_type(value, 32));
      llvm::Type* type = bits->getType();
      const auto number = [&](std::uint32_t n) { return llvm::ConstantInt::get(type, n); };
      Value* odd = ir.CreateAnd(ir.CreateLShr(bits, 16), number(1));
      Value* rounded = ir.CreateAdd(bits, ir.CreateAdd(odd, number(0x7fff)));
      Value* quiet_nan = ir.CreateOr(bits, number(0x400000));
      Value* result = ir.CreateSelect(ir.CreateFCmpUNO(value, value), quiet_nan, rounded);
      return ir.CreateTrunc(ir.CreateLShr(result, 16), int_type(value, 16));
    }
    default:
      return to_integers(ir, value, dtype);
  }
}

/// What is narrower than float32 is rounded to float32 first.
Value* from_double(IrBuilder& ir, Value* value, DataType dtype) {
  if (dtype == DataType::kDouble) return value;
  if (!is_floating(dtype)) return to_integers(ir, value, dtype);
  return from_float(ir, ir.CreateFPTrunc(value, lanes_like(value, ir.getFloatTy())), dtype);
}

}  // namespace

Value* to_lanes(IrBuilder& ir, Value* raw, DataType dtype, Type type) {
  if (type == Type::kFloat) return to_float(ir, raw, dtype);
  if (type == Type::kDouble) return to_double(ir, raw, dtype);
  AOE_CHECK(is_integer(dtype) || dtype == DataType::kBool, "integer lanes of floats");
  llvm::Type* target = int_type(raw, type == Type::kInt64 ? 64 : 32);
  return is_signed(dtype) ? ir.CreateSExtOrTrunc(raw, target) : ir.CreateZExtOrTrunc(raw, target);
}

Value* from_lanes(IrBuilder& ir, Value* value, DataType dtype) {
  if (value->getType()->isFPOrFPVectorTy())
    return is_double(value) ? from_double(ir, value, dtype) : from_float(ir, value, dtype);
  if (dtype == DataType::kBool) {
    Value* is_true = ir.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
    return ir.CreateZExt(is_true, int_type(value, 8));
  }
  AOE_CHECK(is_integer(dtype), "integer lanes stored as " + std::string(name(dtype)));
  return ir.CreateSExtOrTrunc(value, int_type(value, static_cast<unsigned>(size_bytes(dtype) * 8)));
}

Value* convert_lanes(IrBuilder& ir, Value* value, Type to, bool is_from_signed) {
  if (to == Type::kBfloat16)
    return ir.CreateBitCast(from_float(ir, value, DataType::kBFloat16),
                            lanes_like(value, ir.getBFloatTy()));
  const bool is_from_real = value->getType()->isFPOrFPVectorTy();
  if (to == Type::kFloat || to == Type::kDouble || to == Type::kFloat16) {
    llvm::Type* target = lanes_like(value, lane_type(ir, to, 1));
    if (is_from_real) return ir.CreateFPCast(value, target);
    return is_from_signed ? ir.CreateSIToFP(value, target) : ir.CreateUIToFP(value, target);
  }
  if (is_from_real)
    return to_integers(ir, value, to == Type::kInt64 ? DataType::kInt64 : DataType::kInt32);
  llvm::Type* target = int_type(value, static_cast<unsigned>(bits_of(to)));
  return is_from_signed ? ir.CreateSExtOrTrunc(value, target) : ir.CreateZExtOrTrunc(value, target);
}

Value* round_to(IrBuilder& ir, Value* value, DataType dtype) {
  return to_float(ir, from_float(ir, value, dtype), dtype);
}

}  // namespace aoe::compiler::loopnest
