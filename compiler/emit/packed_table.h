// packed(): a table that a kernel reads, as a constant.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "compiler/impl.h"

namespace aoe::compiler {

template <typename T>
PackedConstant packed(std::vector<T> values) {
  const std::size_t size_bytes = values.size() * sizeof(T);
  const auto shared = std::make_shared<const std::vector<T>>(std::move(values));
  return {.size_bytes = size_bytes,
          .pack = [=](void* destination) { std::memcpy(destination, shared->data(), size_bytes); }};
}

}  // namespace aoe::compiler
