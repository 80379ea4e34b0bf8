// Layout: how a value is stored, and in which memory.
#pragma once

#include <compare>
#include <string_view>

#include "base/data_type.h"

namespace aoe {

enum class Memory : int {
  kHost = 0,
  kDevice = 1,  ///< an accelerator's own, which no backend has yet
};
constexpr int kMemories = 2;

/// "host", "device".
constexpr std::string_view name(Memory memory) {
  return memory == Memory::kHost ? "host" : "device";
}

struct Layout {
  Format format = Format::kND;
  Memory memory = Memory::kHost;
  auto operator<=>(const Layout&) const = default;
};

/// NCHW and ND store the same bytes.
constexpr Format dense(Format format) {
  return format == Format::kNCHW ? Format::kND : format;
}
constexpr Layout dense(const Layout& layout) {
  return {dense(layout.format), layout.memory};
}

}  // namespace aoe
