// TensorTable: where each tensor of an om lies in this process, and how large it is where only a
// run can tell.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/aligned_memory.h"
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
  /// allocation for it.
  void allocate(int id, const TensorDesc& desc);
  /// Or the memory of another, which lasts as long and is not written again.
  void share(int id, const TensorDesc& desc, int other);

 private:
  static const Tensor kAbsent;
  struct Entry {
    Tensor tensor;
    bool is_dynamic = false;
    AlignedMemory own;  ///< of a dynamic tensor; kept between runs, only ever grows
  };
  std::vector<Entry> entries_;
  AlignedMemory own_arena_;
};

}  // namespace aoe::runtime
