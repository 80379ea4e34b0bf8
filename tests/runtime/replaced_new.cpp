#include "tests/runtime/replaced_new.h"

#include <cstdlib>
#include <new>

namespace aoe::runtime::tests {

void* from_malloc(std::size_t size) {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace aoe::runtime::tests

void* operator new(std::size_t size) {
  return aoe::runtime::tests::memory_for(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
