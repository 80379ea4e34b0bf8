// A copy in vectors of 16 floats, or bytes where they do not add up to floats; nothing is computed, so any bits survive.
#include "compiler/copy/flat_copy.h"

#include "base/ceil_div.h"

namespace aoe::compiler {

using namespace loopnest;

Function flat_copy_function(std::uint64_t size_bytes) {
  constexpr int kLanes = 16;
  constexpr std::int64_t kChunk =
      4096;  // elements of one parallel iteration: 16 KiB, half of a first-level cache
  const bool are_words = size_bytes % sizeof(float) == 0;
  const auto count = static_cast<std::int64_t>(are_words ? size_bytes / sizeof(float) : size_bytes);
  const DataType dtype = are_words ? DataType::kFloat : DataType::kUint8;
  Builder b("copy");
  const Buffer from = b.buffer("from", Access::kRead, dtype);
  const Buffer to = b.buffer("to", Access::kWrite, dtype);
  const auto copy = [&](Int i, std::optional<Int> active) {
    b.store(to, i, b.load(from, i, kLanes, active), active);
  };
  // Only what is left behind the last whole chunk is masked: with AVX2 a masked store takes some twenty times as long as a whole one.
  b.parallel(ceil_div(count, kChunk), [&](Int chunk) {
    const Int begin = chunk * kChunk;
    b.if_(
        begin + kChunk <= Int(count),
        [&] { b.loop("i", begin, begin + kChunk, kLanes, [&](Int i) { copy(i, std::nullopt); }); },
        [&] {
          vector_loop(b, "i", count % kChunk, kLanes,
                      [&](Int i, std::optional<Int> active) { copy(begin + i, active); });
        });
  });
  return b.finish();
}

}  // namespace aoe::compiler
