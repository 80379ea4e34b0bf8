// Handles: what callers of the C API hold by opaque pointers.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>

namespace aoe::runtime::acl {

/// Objects that callers hold by opaque pointers; a pointer that is not one of them is noticed, not followed.
template <typename T>
class Handles {
 public:
  T* add(T value) {
    auto object = std::make_unique<T>(std::move(value));
    T* const handle = object.get();
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  T* find(const void* handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second.get();
  }
  void erase(const void* handle) { objects_.erase(handle); }
  template <typename Predicate>
  void erase_if(Predicate&& predicate) {
    std::erase_if(objects_, [&](const auto& entry) { return predicate(*entry.second); });
  }
  void clear() { objects_.clear(); }

 private:
  std::unordered_map<const void*, std::unique_ptr<T>> objects_;
};

}  // namespace aoe::runtime::acl
