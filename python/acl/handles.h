// The C API's objects that Python holds by handle, so that one which was destroyed, or never made, is noticed.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "binding.h"

namespace aoe::pyacl {

/// The live objects of one opaque C type. What is not among them is nullptr, which the C API answers with its error code.
/// To be used with the GIL held, which guards it.
template <typename T>
class Handles {
 public:
  using Destroy = aclError (*)(T*);
  explicit Handles(Destroy of_c) : destroy_(of_c) {}

  /// Takes over what a C function made; 0 for nullptr.
  Address add(T* object) {
    if (object == nullptr) return 0;
    objects_[address_of(object)] = std::shared_ptr<T>(object, destroy_);
    return address_of(object);
  }

  /// nullptr when it is not live. A call without the GIL keeps what it uses.
  std::shared_ptr<T> find(Address handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }

  /// Ends the object, at the end of the calls that still use it.
  aclError destroy(Address handle) {
    return objects_.erase(handle) > 0 ? ACL_SUCCESS : destroy_(nullptr);
  }

  const auto& all() const { return objects_; }

 private:
  Destroy destroy_;
  std::unordered_map<Address, std::shared_ptr<T>> objects_;
};

Handles<aclDataBuffer>& data_buffers();
Handles<aclmdlDataset>& datasets();
Handles<aclmdlDesc>& descriptions();

/// A tensor description that the program made, or one that a live dataset has; nullptr for others.
std::shared_ptr<aclTensorDesc> find_tensor_desc(Address handle);

/// A dataset for a call that follows its buffers: null when it, or a buffer in it, is not live. Keeps all of them.
struct DatasetInUse {
  explicit DatasetInUse(Address handle);
  aclmdlDataset* get() const { return dataset.get(); }

  std::shared_ptr<aclmdlDataset> dataset;
  std::vector<std::shared_ptr<aclDataBuffer>> buffers;
};

/// Memory that acl.rt.malloc, acl.rt.malloc_host or an execution allocated and that was not freed.
std::unordered_set<Address>& memory_blocks();

/// For registries that live as long as the process: what a program did not destroy must not be destroyed at its end, when
/// the runtime below may be gone.
template <typename T, typename... Arguments>
T& immortal(Arguments&&... arguments) {
  return *std::make_unique<T>(std::forward<Arguments>(arguments)...).release();
}

}  // namespace aoe::pyacl
