// See memory.h.
#include "compiler/loopnest/memory.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <cmath>
#include <numeric>

#include "base/check.h"

namespace aoe::compiler::loopnest {
namespace {

using llvm::Value;

constexpr std::int64_t kLongestShuffledStride = 4;  ///< longer strides are gathered lane by lane

llvm::Align natural_alignment(llvm::Type* element) {
  return llvm::Align(element->getScalarSizeInBits() / 8);
}

llvm::Type* with_lanes(llvm::Type* element, int lanes) {
  return lanes == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}

int lanes_of(Value* v) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return type == nullptr ? 1 : static_cast<int>(type->getNumElements());
}

bool is_signed(DataType dtype) {
  return dtype == DataType::kInt8 || dtype == DataType::kInt16 || dtype == DataType::kInt32 ||
         dtype == DataType::kInt64;
}

llvm::Type* int_like(Value* v, unsigned bits) {
  return with_lanes(llvm::Type::getIntNTy(v->getContext(), bits), lanes_of(v));
}

}  // namespace

Memory::Memory(IrBuilder& ir, const Function& function, Value* buffers, Value* scratch)
    : ir_(ir), function_(function) {
  llvm::LLVMContext& context = ir.getContext();
  llvm::MDBuilder metadata(context);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain();
  std::vector<llvm::Metadata*> scopes;
  std::int64_t abi_index = 0;
  for (const BufferDecl& decl : function.buffers) {
    scopes.push_back(metadata.createAnonymousAliasScope(domain));
    Value* pointer;
    if (decl.scratch_offset >= 0) {
      pointer = ir.CreateConstGEP1_64(ir.getInt8Ty(), scratch,
                                      static_cast<std::uint64_t>(decl.scratch_offset), decl.name);
    } else {
      Value* slot =
          ir.CreateConstGEP1_64(ir.getPtrTy(), buffers, static_cast<std::uint64_t>(abi_index++));
      auto* load = ir.CreateLoad(ir.getPtrTy(), slot, decl.name);
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context, {}));
      pointer = load;
    }
    pointers_.push_back(pointer);
  }
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    std::vector<llvm::Metadata*> others = scopes;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    own_scope_.push_back(llvm::MDNode::get(context, {scopes[i]}));
    other_scopes_.push_back(llvm::MDNode::get(context, others));
  }
}

llvm::Type* Memory::element_type(int buffer) const {
  switch (function_.buffers[static_cast<std::size_t>(buffer)].dtype) {
    case DataType::kFloat:
      return ir_.getFloatTy();
    case DataType::kDouble:
      return ir_.getDoubleTy();
    case DataType::kFloat16:
      return ir_.getHalfTy();
    case DataType::kBFloat16:  // widened and rounded by integer arithmetic below
    case DataType::kInt16:
    case DataType::kUint16:
      return ir_.getInt16Ty();
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kBool:
      return ir_.getInt8Ty();
    case DataType::kInt32:
    case DataType::kUint32:
      return ir_.getInt32Ty();
    case DataType::kInt64:
    case DataType::kUint64:
      return ir_.getInt64Ty();
    case DataType::kUndefined:
    case DataType::kString:
      break;
  }
  AOE_CHECK(false, "a buffer without an element type");
}

Value* Memory::address(const Place& place, std::int64_t extra) {
  llvm::Type* element = element_type(place.buffer);
  Value* pointer = pointers_[static_cast<std::size_t>(place.buffer)];
  if (place.base != nullptr) pointer = ir_.CreateGEP(element, pointer, place.base);
  const std::int64_t offset = place.offset + extra;
  if (offset == 0) return pointer;
  return ir_.CreateGEP(element, pointer, ir_.getInt64(static_cast<std::uint64_t>(offset)));
}

llvm::Instruction* Memory::mark(llvm::Instruction* access, int buffer, bool is_load) {
  const auto id = static_cast<std::size_t>(buffer);
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, own_scope_[id]);
  access->setMetadata(llvm::LLVMContext::MD_noalias, other_scopes_[id]);
  if (is_load && function_.buffers[id].access == Access::kRead) {
    access->setMetadata(llvm::LLVMContext::MD_invariant_load,
                        llvm::MDNode::get(ir_.getContext(), {}));
  }
  return access;
}

Value* Memory::active_mask(Value* count, int lanes) {
  if (lanes == 1) return ir_.CreateICmpSGT(count, ir_.getInt64(0));
  const auto n = static_cast<std::uint64_t>(lanes);
  count = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, ir_.getInt64(n));
  count = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, ir_.getInt64(0));
  Value* counts =
      ir_.CreateVectorSplat(static_cast<unsigned>(lanes), ir_.CreateTrunc(count, ir_.getInt32Ty()));
  std::vector<std::uint32_t> iota(static_cast<std::size_t>(lanes));
  std::iota(iota.begin(), iota.end(), 0u);
  return ir_.CreateICmpSGT(counts, llvm::ConstantDataVector::get(ir_.getContext(), iota));
}

// ---- loads ----

Value* Memory::load(const Place& place, int lanes, std::int64_t stride, Value* active, Type type) {
  const DataType dtype = function_.buffers[static_cast<std::size_t>(place.buffer)].dtype;
  if (stride == 1) return to_lanes(load_contiguous(place, lanes, active), dtype, type);
  if (stride == 0) {
    Value* one = to_lanes(load_single(place, active), dtype, type);
    Value* all = ir_.CreateVectorSplat(static_cast<unsigned>(lanes), one);
    if (active == nullptr) return all;
    return ir_.CreateSelect(active_mask(active, lanes), all,
                            llvm::Constant::getNullValue(all->getType()));
  }
  if (stride > 1 && stride <= kLongestShuffledStride) {
    return to_lanes(load_short_stride(place, lanes, stride, active), dtype, type);
  }
  llvm::Type* raw_type = with_lanes(element_type(place.buffer), lanes);
  Value* mask = active != nullptr
                    ? active_mask(active, lanes)
                    : llvm::Constant::getAllOnesValue(with_lanes(ir_.getInt1Ty(), lanes));
  auto* gather = ir_.CreateMaskedGather(raw_type, lane_addresses(place, lanes, stride),
                                        natural_alignment(element_type(place.buffer)), mask,
                                        llvm::Constant::getNullValue(raw_type));
  return to_lanes(mark(gather, place.buffer, true), dtype, type);
}

Value* Memory::load_contiguous(const Place& place, int lanes, Value* active) {
  llvm::Type* element = element_type(place.buffer);
  if (lanes == 1 && active != nullptr) return load_single(place, active);
  llvm::Type* type = with_lanes(element, lanes);
  const llvm::Align alignment = natural_alignment(element);
  if (active == nullptr) {
    return mark(ir_.CreateAlignedLoad(type, address(place), alignment), place.buffer, true);
  }
  auto* load = ir_.CreateMaskedLoad(type, address(place), alignment, active_mask(active, lanes),
                                    llvm::Constant::getNullValue(type));
  return mark(load, place.buffer, true);
}

/// One element; zero and unread when `active` is given and not positive.
Value* Memory::load_single(const Place& place, Value* active) {
  llvm::Type* element = element_type(place.buffer);
  const llvm::Align alignment = natural_alignment(element);
  if (active == nullptr) {
    return mark(ir_.CreateAlignedLoad(element, address(place), alignment), place.buffer, true);
  }
  llvm::Type* type = llvm::FixedVectorType::get(element, 1);
  Value* mask = ir_.CreateVectorSplat(1, active_mask(active, 1));
  auto* load = ir_.CreateMaskedLoad(type, address(place), alignment, mask,
                                    llvm::Constant::getNullValue(type));
  return ir_.CreateExtractElement(mark(load, place.buffer, true), std::uint64_t{0});
}

/// Reads the `stride` vectors that hold the lanes, of which the last may reach no further than the
/// last lane, and picks.
Value* Memory::load_short_stride(const Place& place, int lanes, std::int64_t stride,
                                 Value* active) {
  const std::int64_t span = (lanes - 1) * stride + 1;  // elements from the first lane to the last
  Value* wanted = nullptr;                             // of the span
  if (active != nullptr) {
    Value* steps = ir_.CreateNSWSub(active, ir_.getInt64(1));
    wanted = ir_.CreateNSWAdd(
        ir_.CreateNSWMul(steps, ir_.getInt64(static_cast<std::uint64_t>(stride))), ir_.getInt64(1));
  }
  Value* picked = nullptr;
  for (std::int64_t part = 0; part < stride; ++part) {
    const std::int64_t first = std::min(part * lanes, span - lanes);
    Place at = place;
    at.offset += first;
    Value* left = wanted == nullptr
                      ? nullptr
                      : ir_.CreateNSWSub(wanted, ir_.getInt64(static_cast<std::uint64_t>(first)));
    Value* vector = load_contiguous(at, lanes, left);
    std::vector<int> picks;
    for (int lane = 0; lane < lanes; ++lane) {
      const std::int64_t element = lane * stride;
      const bool is_here = element >= part * lanes && element < (part + 1) * lanes;
      if (picked == nullptr) {
        picks.push_back(is_here ? static_cast<int>(element) : -1);
      } else {
        picks.push_back(is_here ? lanes + static_cast<int>(element - first) : lane);
      }
    }
    picked = ir_.CreateShuffleVector(picked == nullptr ? vector : picked, vector, picks);
  }
  return picked;
}

Value* Memory::lane_addresses(const Place& place, int lanes, std::int64_t stride) {
  std::vector<std::uint64_t> offsets;
  for (int i = 0; i < lanes; ++i) offsets.push_back(static_cast<std::uint64_t>(i * stride));
  return ir_.CreateGEP(element_type(place.buffer), address(place),
                       llvm::ConstantDataVector::get(ir_.getContext(), offsets));
}

Value* Memory::load_indexed(const Place& place, const Place& indices, int lanes, Value* active) {
  const DataType dtype = function_.buffers[static_cast<std::size_t>(place.buffer)].dtype;
  llvm::Type* element = element_type(place.buffer);
  Value* offsets = load_contiguous(indices, lanes, active);
  offsets = ir_.CreateSExt(offsets, int_like(offsets, 64));
  Value* pointers = ir_.CreateGEP(element, address(place), offsets);
  if (lanes == 1) {
    const llvm::Align alignment = natural_alignment(element);
    if (active == nullptr) {
      return to_float(mark(ir_.CreateAlignedLoad(element, pointers, alignment), place.buffer, true),
                      dtype);
    }
    pointers = ir_.CreateVectorSplat(1, pointers);
  }
  llvm::Type* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
  Value* mask = active == nullptr
                    ? llvm::Constant::getAllOnesValue(with_lanes(ir_.getInt1Ty(), lanes))
                    : active_mask(active, lanes);
  if (lanes == 1) mask = ir_.CreateVectorSplat(1, mask);
  Value* gather = mark(ir_.CreateMaskedGather(type, pointers, natural_alignment(element), mask,
                                              llvm::Constant::getNullValue(type)),
                       place.buffer, true);
  if (lanes == 1) gather = ir_.CreateExtractElement(gather, std::uint64_t{0});
  return to_float(gather, dtype);
}

Value* Memory::load_quads(const Place& place, int lanes, Value* active) {
  llvm::Type* type = with_lanes(ir_.getInt32Ty(), lanes);
  const llvm::Align any(1);
  if (active == nullptr) {
    return mark(ir_.CreateAlignedLoad(type, address(place), any), place.buffer, true);
  }
  AOE_CHECK(lanes > 1, "a masked load of one quad");
  auto* load = ir_.CreateMaskedLoad(type, address(place), any, active_mask(active, lanes),
                                    llvm::Constant::getNullValue(type));
  return mark(load, place.buffer, true);
}

Value* Memory::load_int(const Place& place) {
  const DataType dtype = function_.buffers[static_cast<std::size_t>(place.buffer)].dtype;
  Value* raw = load_single(place, nullptr);
  AOE_CHECK(raw->getType()->isIntegerTy() && dtype != DataType::kBFloat16,
            "load_int() of a float buffer");
  return is_signed(dtype) ? ir_.CreateSExt(raw, ir_.getInt64Ty())
                          : ir_.CreateZExt(raw, ir_.getInt64Ty());
}

// ---- stores ----

void Memory::store(const Place& place, Value* value, std::int64_t stride, Value* active) {
  value = from_lanes(value, function_.buffers[static_cast<std::size_t>(place.buffer)].dtype);
  int lanes = lanes_of(value);
  if (lanes == 1 && active != nullptr) {
    value = ir_.CreateVectorSplat(1, value);
  }
  const llvm::Align alignment = natural_alignment(element_type(place.buffer));
  llvm::Instruction* store = nullptr;
  Value* mask = active == nullptr ? nullptr : active_mask(active, lanes);
  if (mask != nullptr && lanes == 1) mask = ir_.CreateVectorSplat(1, mask);
  if (stride != 1) {
    if (mask == nullptr) {
      mask = llvm::Constant::getAllOnesValue(with_lanes(ir_.getInt1Ty(), lanes));
    }
    store = ir_.CreateMaskedScatter(value, lane_addresses(place, lanes, stride), alignment, mask);
  } else if (mask == nullptr) {
    store = ir_.CreateAlignedStore(value, address(place), alignment);
  } else {
    store = ir_.CreateMaskedStore(value, address(place), alignment, mask);
  }
  mark(store, place.buffer, false);
}

void Memory::prefetch(const Place& place, int cache_level) {
  constexpr std::uint32_t kRead = 0, kDataCache = 1;
  const std::uint32_t locality = cache_level == 1 ? 3 : 2;  // LLVM's scale: 3 is the nearest
  ir_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {ir_.getPtrTy()},
      {address(place), ir_.getInt32(kRead), ir_.getInt32(locality), ir_.getInt32(kDataCache)});
}

// ---- element conversion ----

Value* Memory::to_lanes(Value* raw, DataType dtype, Type type) {
  if (type == Type::kFloat) return to_float(raw, dtype);
  if (type == Type::kDouble) return to_double(raw, dtype);
  AOE_CHECK(is_integer(dtype) || dtype == DataType::kBool, "integer lanes of floats");
  llvm::Type* target = int_like(raw, type == Type::kInt64 ? 64 : 32);
  return is_signed(dtype) ? ir_.CreateSExtOrTrunc(raw, target) : ir_.CreateZExtOrTrunc(raw, target);
}

Value* Memory::from_lanes(Value* value, DataType dtype) {
  if (value->getType()->isFPOrFPVectorTy()) {
    const bool is_double = value->getType()->getScalarType()->isDoubleTy();
    return is_double ? from_double(value, dtype) : from_float(value, dtype);
  }
  AOE_CHECK(is_integer(dtype), "integer lanes stored as " + std::string(name(dtype)));
  return ir_.CreateSExtOrTrunc(value,
                               int_like(value, static_cast<unsigned>(size_bytes(dtype) * 8)));
}

Value* Memory::convert_lanes(Value* value, Type to, bool is_from_signed) {
  const bool is_from_real = value->getType()->isFPOrFPVectorTy();
  if (to == Type::kFloat || to == Type::kDouble) {
    llvm::Type* target = lane_type(ir_, to, lanes_of(value));
    if (is_from_real) return ir_.CreateFPCast(value, target);
    return is_from_signed ? ir_.CreateSIToFP(value, target) : ir_.CreateUIToFP(value, target);
  }
  if (is_from_real)
    return to_integers(value, to == Type::kInt64 ? DataType::kInt64 : DataType::kInt32);
  llvm::Type* target = int_like(value, to == Type::kInt64 ? 64 : 32);
  return is_from_signed ? ir_.CreateSExtOrTrunc(value, target)
                        : ir_.CreateZExtOrTrunc(value, target);
}

Value* Memory::round_to(Value* value, DataType dtype) {
  return to_float(from_float(value, dtype), dtype);
}

Value* Memory::to_float(Value* raw, DataType dtype) {
  llvm::Type* target = with_lanes(ir_.getFloatTy(), lanes_of(raw));
  switch (dtype) {
    case DataType::kFloat:
      return raw;
    case DataType::
        kFloat16:  // behind the fence no comparison is taken back to float16, which it would be lane by lane
      return ir_.CreateArithmeticFence(ir_.CreateFPExt(raw, target), target);
    case DataType::kDouble:
      return ir_.CreateFPTrunc(raw, target);
    case DataType::kBFloat16: {
      Value* wide = ir_.CreateZExt(raw, int_like(raw, 32));
      return ir_.CreateBitCast(ir_.CreateShl(wide, 16), target);
    }
    default:
      return is_signed(dtype) ? ir_.CreateSIToFP(raw, target) : ir_.CreateUIToFP(raw, target);
  }
}

Value* Memory::to_double(Value* raw, DataType dtype) {
  llvm::Type* target = with_lanes(ir_.getDoubleTy(), lanes_of(raw));
  if (dtype == DataType::kDouble) return raw;
  if (is_floating(dtype)) return ir_.CreateFPExt(to_float(raw, dtype), target);
  return is_signed(dtype) ? ir_.CreateSIToFP(raw, target) : ir_.CreateUIToFP(raw, target);
}

Value* Memory::from_float(Value* value, DataType dtype) {
  const int lanes = lanes_of(value);
  const auto with = [&](llvm::Type* element) { return with_lanes(element, lanes); };
  switch (dtype) {
    case DataType::kFloat:
      return value;
    case DataType::kFloat16:
      return ir_.CreateFPTrunc(value, with(ir_.getHalfTy()));
    case DataType::kDouble:
      return ir_.CreateFPExt(value, with(ir_.getDoubleTy()));
    case DataType::kBFloat16: {  // round to nearest even; a NaN stays one
      Value* bits = ir_.CreateBitCast(value, int_like(value, 32));
      llvm::Type* type = bits->getType();
      const auto number = [&](std::uint32_t n) { return llvm::ConstantInt::get(type, n); };
      Value* odd = ir_.CreateAnd(ir_.CreateLShr(bits, 16), number(1));
      Value* rounded = ir_.CreateAdd(bits, ir_.CreateAdd(odd, number(0x7fff)));
      Value* quiet_nan = ir_.CreateOr(bits, number(0x400000));
      Value* result = ir_.CreateSelect(ir_.CreateFCmpUNO(value, value), quiet_nan, rounded);
      return ir_.CreateTrunc(ir_.CreateLShr(result, 16), int_like(value, 16));
    }
    default:
      return to_integers(value, dtype);
  }
}

/// What is narrower than float32 is rounded to float32 first.
Value* Memory::from_double(Value* value, DataType dtype) {
  if (dtype == DataType::kDouble) return value;
  if (!is_floating(dtype)) return to_integers(value, dtype);
  return from_float(ir_.CreateFPTrunc(value, with_lanes(ir_.getFloatTy(), lanes_of(value))), dtype);
}

/// Of float32 or float64. Saturates; NaN becomes 0. Bounds first, then one conversion: LLVM's own saturating conversion converts
/// lane by lane.
Value* Memory::to_integers(Value* value, DataType dtype) {
  if (dtype == DataType::kBool) {
    Value* is_set = ir_.CreateFCmpUNE(value, llvm::Constant::getNullValue(value->getType()));
    return ir_.CreateZExt(is_set, int_like(value, 8));
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
  Value* bounded = emit_min(ir_, emit_max(ir_, value, constant(value, low)), constant(value, high));
  llvm::Type* type = int_like(value, is_narrow ? 32 : bits);
  Value* whole =
      has_sign || is_narrow ? ir_.CreateFPToSI(bounded, type) : ir_.CreateFPToUI(bounded, type);
  if (!is_exact) {
    const llvm::APInt largest =
        has_sign ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
    Value* is_beyond = ir_.CreateFCmpOGE(value, constant(value, beyond));
    whole = ir_.CreateSelect(is_beyond, llvm::ConstantInt::get(type, largest), whole);
  }
  Value* is_number = ir_.CreateFCmpORD(value, value);
  whole = ir_.CreateSelect(is_number, whole, llvm::Constant::getNullValue(type));
  return is_narrow ? ir_.CreateTrunc(whole, int_like(value, bits)) : whole;
}

}  // namespace aoe::compiler::loopnest
