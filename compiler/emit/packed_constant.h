// PackedConstants of a kind that several Impls have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "compiler/impl.h"

namespace aoe::compiler {

/// So many numbers: zeros, but for what `fill(T* to)` writes.
template <typename T, typename Fill>
PackedConstant packed_numbers(std::int64_t count, Fill fill) {
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
  return {.size_bytes = bytes, .pack = [count, fill = std::move(fill)](void* destination) {
            T* const to = static_cast<T*>(destination);
            std::fill_n(to, count, T{});
            fill(to);
          }};
}

/// The constant's bytes as they are.
inline PackedConstant packed_as_is(ConstantPtr constant) {
  const std::size_t bytes = constant->size_bytes();
  return {.size_bytes = bytes, .pack = [constant = std::move(constant)](void* destination) {
            std::copy_n(static_cast<const std::byte*>(constant->data()), constant->size_bytes(),
                        static_cast<std::byte*>(destination));
          }};
}

}  // namespace aoe::compiler
