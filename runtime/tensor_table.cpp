// Resolving places to addresses.
#include "runtime/tensor_table.h"

#include <utility>

#include "base/check.h"

namespace aoe::runtime {

const Tensor TensorTable::kAbsent;

TensorTable::TensorTable(const Om& om, std::span<std::byte> arena) : entries_(om.tensors.size()) {
  AOE_CHECK(arena.empty() || arena.size() >= om.arena_bytes, "the given arena is too small");
  if (arena.empty()) own_arena_ = AlignedMemory(om.arena_bytes);
  std::byte* const arena_begin = arena.empty() ? own_arena_.at(0) : arena.data();
  for (std::size_t id = 0; id < om.tensors.size(); ++id) {
    const OmTensor& tensor = om.tensors[id];
    Entry& entry = entries_[id];
    entry.tensor.desc = tensor.desc;
    entry.is_dynamic = tensor.place == Place::kDynamic;
    if (tensor.place == Place::kArena) entry.tensor.data = arena_begin + tensor.offset;
    if (tensor.place == Place::kWeight)  // Tensor serves readers and writers; nobody writes weights
      entry.tensor.data = const_cast<char*>(om.weights_view.data() + tensor.offset);
  }
}

void TensorTable::bind(int id, const Shape& shape, void* buffer) {
  static std::byte nothing[64];  // an empty tensor is known and present, so it needs an address
  Tensor& tensor = entries_[id].tensor;
  tensor.desc.shape = shape;
  tensor.data = buffer != nullptr ? buffer : nothing;
}

void TensorTable::allocate(int id, const TensorDesc& desc) {
  Entry& entry = entries_[id];
  const std::size_t size_bytes = storage_bytes(desc);
  const bool is_own = entry.own != nullptr && entry.own.use_count() == 1;
  if (!is_own || entry.own->size_bytes() < size_bytes) {
    release(id);
    entry.own = pool_.take(size_bytes);
  }
  entry.tensor.desc = desc;
  entry.tensor.data = entry.own->data();
}

void TensorTable::share(int id, const TensorDesc& desc, int other) {
  Entry& entry = entries_[id];
  if (entry.own != entries_[other].own) release(id);
  entry.own = entries_[other].own;
  entry.tensor.desc = desc;
  entry.tensor.data = address(other);
}

void TensorTable::release(int id) {
  pool_.give(std::exchange(entries_[id].own, nullptr));
}

}  // namespace aoe::runtime
