// Expand of sizes that only the run knows, as of key heads that several query heads share.
#include <algorithm>
#include <cstring>

#include "native/kernel.h"

namespace aoe::native {
namespace {

/// The output as lines of blocks: a block is read once, and stands `repeats` times in a line.
struct Blocks {
  Shape lines;                        ///< dimensions in front of what is repeated
  std::vector<std::int64_t> strides;  ///< of each, in bytes of the input; 0: repeated, too
  std::int64_t line_count = 1, repeats = 1, bytes = 1;

  Blocks(const TensorDesc& from, const TensorDesc& to) {
    const std::size_t rank = to.shape.size(), missing = rank - from.shape.size();
    const auto read = [&](std::size_t d) { return d < missing ? 1 : from.shape[d - missing]; };
    bytes = static_cast<std::int64_t>(size_bytes(to.dtype));
    std::size_t d = rank;
    for (; d > 0 && read(d - 1) == to.shape[d - 1]; --d) bytes *= to.shape[d - 1];
    for (; d > 0 && read(d - 1) == 1; --d) repeats *= to.shape[d - 1];
    lines.assign(to.shape.begin(), to.shape.begin() + static_cast<std::ptrdiff_t>(d));
    strides.resize(d);
    std::int64_t stride = bytes;
    for (; d > 0; --d) {
      line_count *= lines[d - 1];
      strides[d - 1] = read(d - 1) == 1 ? 0 : stride;
      stride *= read(d - 1);
    }
  }

  std::int64_t source(std::int64_t line) const {
    std::int64_t at = 0;
    for (std::size_t d = lines.size(); d-- > 0; line /= lines[d])
      at += line % lines[d] * strides[d];
    return at;
  }
};

template <typename T>
void fill(const std::byte* from, std::byte* to, std::int64_t count) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  std::fill_n(reinterpret_cast<T*>(to), count, value);
}

void repeat(const std::byte* from, std::int64_t bytes, std::byte* to, std::int64_t count) {
  if (bytes == 1) return fill<std::uint8_t>(from, to, count);
  if (bytes == 2) return fill<std::uint16_t>(from, to, count);
  if (bytes == 4) return fill<std::uint32_t>(from, to, count);
  if (bytes == 8) return fill<std::uint64_t>(from, to, count);
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * bytes, from, static_cast<std::size_t>(bytes));
}

void run_expand(const Run& run) {
  const Tensor &from = run.inputs[0], &to = run.output(0);
  if (to.data == nullptr || storage_bytes(to.desc) == 0) return;
  const Blocks blocks(from.desc, to.desc);
  constexpr double kByteNs = 0.1, kBlockNs = 2;
  run.threads.share(blocks.line_count * blocks.repeats,
                    kBlockNs + kByteNs * static_cast<double>(blocks.bytes),
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t at = begin; at < end;) {
                        const std::int64_t line = at / blocks.repeats;
                        const std::int64_t count = std::min((line + 1) * blocks.repeats, end) - at;
                        repeat(from.as<std::byte>() + blocks.source(line), blocks.bytes,
                               to.as<std::byte>() + at * blocks.bytes, count);
                        at += count;
                      }
                    });
}

}  // namespace

void register_expand(KernelRegistry& registry) {
  registry.add(
      {.type = "Expand", .supports = takes_all, .run = run_expand, .is_for_open_sizes = always});
}

}  // namespace aoe::native
