// What generated functions may touch, as whoever generated them knew it. It lies with the code, behind the ELF object that
// loaders read: whatever a graph section says of a function, it must fit what the code says of itself.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/om/om.h"

namespace aoe::runtime {

/// The buffers of a function in the order of its ABI, as one step had them.
struct BufferLimits {
  std::vector<std::uint64_t> bytes;  ///< it touches no byte behind
  std::vector<int> written;          ///< which of them it writes, ascending
  std::map<int, std::uint32_t>
      table_crc;  ///< constants whose values say where it reads: CRC-32C of all their bytes
  bool operator==(const BufferLimits&) const = default;
};

struct KernelLimits {
  std::int64_t extent =
      0;  ///< parallel iterations of all rounds, so that a runtime without rounds refuses them
  std::uint64_t scratch_bytes = 0;
  std::vector<BufferLimits> uses;  ///< equal code may serve several steps
  std::int64_t rounds = 1;         ///< at least 1
};

using LimitsBySymbol = std::map<std::string, KernelLimits, std::less<>>;

/// The code section: `elf` and behind it the limits.
std::string code_with_limits(std::string elf, const LimitsBySymbol& limits);

/// Nothing in the code section of an older om. Throws Error(kOm) when they are malformed.
std::optional<LimitsBySymbol> limits_of(std::string_view code);

/// Of a step as it was built: its buffers are as large as their tensors, outputs and the workspace are written.
BufferLimits buffer_limits(const Om& om, const OmStep& step);

/// What a verified step would do beyond its limits, in words behind its name; empty: nothing.
std::string beyond_limits(const Om& om, const OmStep& step, const LimitsBySymbol& limits);

}  // namespace aoe::runtime
