// Loads and stores of lowered Functions: addresses, masks, strides, alias facts. Internal to codegen.
#pragma once

#include <optional>
#include <vector>

#include "compiler/loopnest/loopnest.h"
#include "compiler/loopnest/vector_math.h"

namespace aoe::compiler::loopnest {

/// The buffers of one function while it is being lowered. Distinct buffers are told to LLVM not to
/// alias.
class Memory {
 public:
  /// Emits the loads of the buffers' addresses at the builder's position (the entry block).
  Memory(IrBuilder& ir, const Function& function, llvm::Value* buffers, llvm::Value* scratch);

  /// `index` is base + offset elements; kept apart so that neighbouring accesses share the base.
  struct Place {
    int buffer;
    llvm::Value* base;
    std::int64_t offset;
  };
  /// One or <lanes x> of the type; `active` is the int64 count of lanes to read, or null for all.
  llvm::Value* load(const Place& place, int lanes, std::int64_t stride, llvm::Value* active,
                    Type type);
  /// Lane i from `place` + indices[i].
  llvm::Value* load_indexed(const Place& place, const Place& indices, int lanes,
                            llvm::Value* active);
  void store(const Place& place, llvm::Value* value, Type type, std::int64_t stride,
             llvm::Value* active);
  llvm::Value* load_int(const Place& place);
  void prefetch(const Place& place, int cache_level);
  /// For accesses that are no loads or stores of LLVM.
  llvm::Value* address_of(const Place& place) { return address(place); }
  std::int64_t element_bytes(int buffer) const;

  /// i1 or <lanes x i1>: lane i is on when i < count.
  llvm::Value* active_mask(llvm::Value* count, int lanes);

 private:
  const Elements& elements(int buffer) const {
    return function_.buffers[static_cast<std::size_t>(buffer)].elements;
  }
  /// Words are int32.
  DataType dtype(int buffer) const {
    return elements(buffer).are_in_words ? DataType::kInt32 : elements(buffer).dtype;
  }
  llvm::Type* element_type(int buffer) const;
  llvm::Value* address(const Place& place, std::int64_t extra = 0);
  llvm::Instruction* mark(llvm::Instruction* access, int buffer, bool is_load);
  llvm::Value* load_narrow(const Place& place, int lanes, std::int64_t stride, llvm::Value* active,
                           Type type);
  llvm::Value* load_neighbours(const Place& place, int words, llvm::Value* active);
  llvm::Value* load_contiguous(const Place& place, int lanes, llvm::Value* active);
  llvm::Value* load_single(const Place& place, llvm::Value* active);
  llvm::Value* load_short_stride(const Place& place, int lanes, std::int64_t stride,
                                 llvm::Value* active);
  llvm::Value* lane_addresses(const Place& place, int lanes, std::int64_t stride);

  IrBuilder& ir_;
  const Function& function_;
  std::vector<llvm::Value*> pointers_;       ///< by buffer id
  std::vector<llvm::MDNode*> own_scope_;     ///< by buffer id
  std::vector<llvm::MDNode*> other_scopes_;  ///< by buffer id
};

}  // namespace aoe::compiler::loopnest
