// ConcatV2 of sizes that only the run knows, as of caches that grow: the output's bytes in their order, shared among the threads.
#include <algorithm>
#include <cstring>
#include <vector>

#include "native/kernel.h"
#include "reference/tensors/axes.h"

namespace aoe::native {
namespace {

/// What one input brings to each line of the output.
struct Piece {
  const std::byte* from;
  std::int64_t begin, bytes;  ///< in a line
};

/// Bytes [begin, end) of the output, whose lines are the pieces behind each other.
void copy_pieces(const std::vector<Piece>& pieces, std::int64_t line_bytes, std::byte* to,
                 std::int64_t begin, std::int64_t end) {
  std::int64_t line = begin / line_bytes;
  std::size_t next = 0;
  while (pieces[next].begin + pieces[next].bytes <= begin % line_bytes) ++next;
  for (std::int64_t at = begin; at < end;) {
    const Piece& piece = pieces[next];
    const std::int64_t inside = at - line * line_bytes - piece.begin;
    const std::int64_t bytes = std::min(piece.bytes - inside, end - at);
    std::memcpy(to + at, piece.from + line * piece.bytes + inside, static_cast<std::size_t>(bytes));
    at += bytes;
    if (++next < pieces.size()) continue;
    next = 0;
    ++line;
  }
}

void run_concat(const Run& run) {
  const Tensor& to = run.output(0);
  const auto all_bytes = static_cast<std::int64_t>(storage_bytes(to.desc));
  if (to.data == nullptr || all_bytes == 0) return;
  const Shape& shape = to.desc.shape;
  const std::size_t axis = reference::normalize_axis(run.attrs.get_int("axis", 0), shape.size());
  std::int64_t lines = 1, line_bytes = 0;
  for (std::size_t d = 0; d < axis; ++d) lines *= shape[d];
  std::vector<Piece> pieces;
  for (const Tensor& input : run.inputs) {
    const std::int64_t bytes = static_cast<std::int64_t>(storage_bytes(input.desc)) / lines;
    if (bytes == 0) continue;
    pieces.push_back({input.as<std::byte>(), line_bytes, bytes});
    line_bytes += bytes;
  }
  constexpr double kByteNs = 0.1;
  run.threads.share(all_bytes, kByteNs, [&](std::int64_t begin, std::int64_t end) {
    if (begin < end) copy_pieces(pieces, line_bytes, to.as<std::byte>(), begin, end);
  });
}

}  // namespace

void register_concat(KernelRegistry& registry) {
  registry.add(
      {.type = "ConcatV2", .supports = takes_all, .run = run_concat, .is_for_open_sizes = always});
}

}  // namespace aoe::native
