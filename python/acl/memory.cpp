// acl.rt: memory. What is freed must have been allocated here; other addresses are taken as they are.
#include "handles.h"

namespace aoe::pyacl {
namespace {

template <typename Allocate>
std::tuple<Address, aclError> allocate(Allocate&& function) {
  void* memory = nullptr;
  const aclError code = without_gil([&] { return function(&memory); });
  if (memory != nullptr) memory_blocks().insert(address_of(memory));
  return {address_of(memory), code};
}

/// A second release of a block gets the C API's error for a null pointer.
aclError release(Address memory, aclError (*free)(void*)) {
  const bool is_block = memory_blocks().erase(memory) > 0;
  return without_gil([&] { return free(is_block ? pointer_to(memory) : nullptr); });
}

aclError copy(Address to, std::size_t to_size, Address from, std::size_t size, int kind) {
  return without_gil([&] {
    return aclrtMemcpy(pointer_to(to), to_size, pointer_to(from), size,
                       static_cast<aclrtMemcpyKind>(kind));
  });
}

aclError copy_async(Address to, std::size_t to_size, Address from, std::size_t size, int kind,
                    Address stream) {
  return without_gil([&] {
    return aclrtMemcpyAsync(pointer_to(to), to_size, pointer_to(from), size,
                            static_cast<aclrtMemcpyKind>(kind), pointer_to(stream));
  });
}

aclError set(Address memory, std::size_t max_size, std::int32_t value, std::size_t size) {
  return without_gil([&] { return aclrtMemset(pointer_to(memory), max_size, value, size); });
}

std::tuple<std::size_t, std::size_t, aclError> get_mem_info(int attribute) {
  std::size_t free = 0, total = 0;
  const aclError code = aclrtGetMemInfo(static_cast<aclrtMemAttr>(attribute), &free, &total);
  return {free, total, code};
}

}  // namespace

std::unordered_set<Address>& memory_blocks() {
  static auto& blocks = immortal<std::unordered_set<Address>>();
  return blocks;
}

void bind_memory(py::module_& rt) {
  rt.def(
      "malloc",
      [](std::size_t size, int policy) {
        return allocate([&](void** memory) {
          return aclrtMalloc(memory, size, static_cast<aclrtMemMallocPolicy>(policy));
        });
      },
      "size"_a, "policy"_a);
  rt.def(
      "free", [](Address memory) { return release(memory, aclrtFree); }, "dev_ptr"_a);
  rt.def(
      "malloc_host",
      [](std::size_t size) {
        return allocate([&](void** memory) { return aclrtMallocHost(memory, size); });
      },
      "size"_a);
  rt.def(
      "free_host", [](Address memory) { return release(memory, aclrtFreeHost); }, "host_ptr"_a);
  rt.def("memcpy", &copy, "dst"_a, "dest_max"_a, "src"_a, "count"_a, "kind"_a);
  rt.def("memcpy_async", &copy_async, "dst"_a, "dest_max"_a, "src"_a, "count"_a, "kind"_a,
         "stream"_a);
  rt.def("memset", &set, "dev_ptr"_a, "max_count"_a, "value"_a, "count"_a);
  rt.def("get_mem_info", &get_mem_info, "attr"_a);
}

}  // namespace aoe::pyacl
