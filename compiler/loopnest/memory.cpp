// See memory.h.
#include "compiler/loopnest/memory.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <numeric>

#include "base/check.h"
#include "compiler/loopnest/element_conversion.h"

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
  switch (dtype(buffer)) {
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

std::int64_t Memory::element_bytes(int buffer) const {
  return elements(buffer).bytes();
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
  if (is_narrow(type)) return load_narrow(place, lanes, stride, active, type);
  const DataType dtype = this->dtype(place.buffer);
  if (stride == 1) return to_lanes(ir_, load_contiguous(place, lanes, active), dtype, type);
  if (stride == 0) {
    Value* one = to_lanes(ir_, load_single(place, active), dtype, type);
    Value* all = ir_.CreateVectorSplat(static_cast<unsigned>(lanes), one);
    if (active == nullptr) return all;
    return ir_.CreateSelect(active_mask(active, lanes), all,
                            llvm::Constant::getNullValue(all->getType()));
  }
  if (stride > 1 && stride <= kLongestShuffledStride) {
    return to_lanes(ir_, load_short_stride(place, lanes, stride, active), dtype, type);
  }
  llvm::Type* raw_type = with_lanes(element_type(place.buffer), lanes);
  Value* mask = active != nullptr
                    ? active_mask(active, lanes)
                    : llvm::Constant::getAllOnesValue(with_lanes(ir_.getInt1Ty(), lanes));
  auto* gather = ir_.CreateMaskedGather(raw_type, lane_addresses(place, lanes, stride),
                                        natural_alignment(element_type(place.buffer)), mask,
                                        llvm::Constant::getNullValue(raw_type));
  return to_lanes(ir_, mark(gather, place.buffer, true), dtype, type);
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
  const DataType dtype = this->dtype(place.buffer);
  llvm::Type* element = element_type(place.buffer);
  Value* offsets = load_contiguous(indices, lanes, active);
  offsets = ir_.CreateSExt(offsets, int_type(offsets, 64));
  Value* pointers = ir_.CreateGEP(element, address(place), offsets);
  if (lanes == 1) {
    const llvm::Align alignment = natural_alignment(element);
    if (active == nullptr) {
      return to_lanes(ir_,
                      mark(ir_.CreateAlignedLoad(element, pointers, alignment), place.buffer, true),
                      dtype, Type::kFloat);
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
  return to_lanes(ir_, gather, dtype, Type::kFloat);
}

/// By words, whatever they hold.
Value* Memory::load_narrow(const Place& place, int lanes, std::int64_t stride, Value* active,
                           Type type) {
  llvm::Type* narrow = lane_type(ir_, type, lanes);
  if (elements(place.buffer).are_in_words) {
    Value* words = load(place, lanes / per_word(type), stride, active, Type::kInt32);
    return ir_.CreateBitCast(words, narrow);
  }
  if (lanes % per_word(type) != 0)
    return ir_.CreateBitCast(load_contiguous(place, lanes, active), narrow);
  return ir_.CreateBitCast(load_neighbours(place, lanes / per_word(type), active), narrow);
}

/// The words that narrow elements are; `active` counts elements.
Value* Memory::load_neighbours(const Place& place, int words, Value* active) {
  llvm::Type* type = with_lanes(ir_.getInt32Ty(), words);
  const llvm::Align any(1);
  if (active == nullptr) {
    return mark(ir_.CreateAlignedLoad(type, address(place), any), place.buffer, true);
  }
  AOE_CHECK(words > 1, "a masked load of one word");
  const auto bytes = static_cast<std::uint64_t>(element_bytes(place.buffer));
  Value* whole = ir_.CreateUDiv(active, ir_.getInt64(4 / bytes));
  auto* load = ir_.CreateMaskedLoad(type, address(place), any, active_mask(whole, words),
                                    llvm::Constant::getNullValue(type));
  return mark(load, place.buffer, true);
}

Value* Memory::load_int(const Place& place) {
  const DataType dtype = this->dtype(place.buffer);
  return to_lanes(ir_, load_single(place, nullptr), dtype, Type::kInt64);
}

// ---- stores ----

void Memory::store(const Place& place, Value* value, Type type, std::int64_t stride,
                   Value* active) {
  // A narrowing for this store alone stands behind what the index takes, as those do that from_lanes() makes.
  if (auto* narrowing = llvm::dyn_cast<llvm::TruncInst>(value);
      narrowing != nullptr && narrowing->use_empty())
    narrowing->moveBefore(*ir_.GetInsertBlock(), ir_.GetInsertPoint());
  if (elements(place.buffer).are_in_words)
    value = words_of(ir_, value);
  else if (is_narrow(type))
    value = ir_.CreateBitCast(value, with_lanes(element_type(place.buffer), lanes_of(value)));
  else
    value = from_lanes(ir_, value, dtype(place.buffer));
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

}  // namespace aoe::compiler::loopnest
