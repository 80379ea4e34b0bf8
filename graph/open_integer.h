// Open integers: what stands for a number of a list that only a run knows. Where it is the size of an open dimension and a number
// more, it says so, so that two of the same dimension have a difference; movers of integers carry it along like any other.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace aoe::graph {

/// Of which nothing is known.
constexpr std::int64_t kMissing = std::numeric_limits<std::int64_t>::min();

/// The size of dimension `name`, if there is one, and `offset`.
struct OpenInteger {
  std::int64_t name;
  std::int64_t offset;
};

namespace open_integer_code {
constexpr std::int64_t kOffsetCodes = std::int64_t{1} << 33;  ///< half of them negative
constexpr std::int64_t kNameCodes = std::int64_t{1} << 28;
constexpr std::int64_t kFirstCode = -(std::int64_t{1} << 62);
}  // namespace open_integer_code

/// As an entry of a list: numbers that no shape has.
constexpr std::int64_t encode(OpenInteger open) {
  using namespace open_integer_code;
  const std::int64_t offset = open.offset + kOffsetCodes / 2;
  if (open.name < 0 || open.name >= kNameCodes || offset < 0 || offset >= kOffsetCodes)
    return kMissing;
  return kFirstCode + open.name * kOffsetCodes + offset;
}

/// nullopt: a number, or kMissing.
constexpr std::optional<OpenInteger> decode(std::int64_t entry) {
  using namespace open_integer_code;
  if (entry < kFirstCode || entry >= kFirstCode + kNameCodes * kOffsetCodes) return std::nullopt;
  const std::int64_t code = entry - kFirstCode;
  return OpenInteger{code / kOffsetCodes, code % kOffsetCodes - kOffsetCodes / 2};
}

constexpr bool is_open(std::int64_t entry) {
  return entry == kMissing || decode(entry);
}

/// `entry` and `more`, of which one may be open.
constexpr std::int64_t open_sum(std::int64_t entry, std::int64_t more) {
  if (decode(more)) return decode(entry) ? kMissing : open_sum(more, entry);
  constexpr std::int64_t kMost = open_integer_code::kOffsetCodes;  // what is beyond has no code
  if (entry == kMissing || more <= -kMost || more >= kMost) return kMissing;
  if (const auto open = decode(entry)) return encode({open->name, open->offset + more});
  return entry <= -kMost || entry >= kMost ? kMissing : entry + more;
}

/// `entry` less `less`.
constexpr std::int64_t open_difference(std::int64_t entry, std::int64_t less) {
  const auto from = decode(entry), open = decode(less);
  if (from && open && from->name == open->name) return from->offset - open->offset;
  return open || less == kMissing ? kMissing : open_sum(entry, -less);
}

}  // namespace aoe::graph
