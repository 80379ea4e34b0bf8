// TensorTable: where each tensor of an om lies in this process, and how large it is where only a
// run can tell.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/aligned_memory.h"
#include "runtime/memory_pool.h"
#include "runtime/om/om.h"

namespace aoe::runtime {

class TensorTable {
 public:
  /// Uses `arena`, or allocates one when it is empty. Weights stay where `om` has them, which must outlive the table.
  TensorTable(const Om& om, std::span<std::byte> arena);

  /// nullptr while an input, an output or a dynamic tensor is not bound.
  void* address(int id) const { return entries_[id].tensor.data; }
  /// With the actual shape where the om's is unknown. An absent tensor for id -1.
  const Tensor& view(int id) const { return id < 0 ? kAbsent : entries_[id].tensor; }
  bool is_dynamic(int id) const { return entries_[id].is_dynamic; }

  /// Points an input or output at a caller's buffer.
  void bind(int id, const Shape& shape, void* buffer);
  /// Gives a dynamic tensor its shape of this run, and memory of its own that lasts until the next
  /// allocation for it, or release().
  void allocate(int id, const TensorDesc& desc);
  /// Or the memory of another, which lasts as long and is not written again.
  void share(int id, const TensorDesc& desc, int other);
  /// Of a dynamic tensor that nobody reads any longer in this run: others may have its memory, once those that share it are
  /// released as well.
  void release(int id);
  void end_run() { pool_.end_run(); }

 private:
  static const Tensor kAbsent;
  struct Entry {
    Tensor tensor;
    bool is_dynamic = false;
    MemoryPool::Block own;  ///< of a dynamic tensor, and of those that share it
  };
  std::vector<Entry> entries_;
  AlignedMemory own_arena_;
  MemoryPool pool_;
};

}  // namespace aoe::runtime
