// With vectors as long as the processor has them.
#include "native/products/line_dots.h"

#include <bit>

#include "native/wide.h"

namespace aoe::native {
namespace {

#define AOE_LINES lines_of_eight
#define AOE_BYTES 32
#define AOE_VECTOR AOE_WIDE
#include "native/products/line_dots.inc"

#if defined(__x86_64__)
#define AOE_LINES lines_of_sixteen
#define AOE_BYTES 64
#define AOE_VECTOR __attribute__((target("arch=x86-64-v4")))
#include "native/products/line_dots.inc"
#endif

}  // namespace

std::int64_t LineDots::lines_of(std::int64_t columns) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(columns)));
}

void LineDots::add(Rows<const float> left, std::int64_t rows, std::int64_t depth,
                   const float* lines, std::int64_t stride, Rows<float> sums,
                   std::int64_t columns) {
#if defined(__x86_64__)
  if (has_long_vectors())
    return lines_of_sixteen::add(left, rows, depth, lines, stride, sums, columns);
#endif
  lines_of_eight::add(left, rows, depth, lines, stride, sums, columns);
}

void LineDots::pairs(const float* left, const float* right, std::int64_t rows, std::int64_t length,
                     float* sums) {
#if defined(__x86_64__)
  if (has_long_vectors()) return lines_of_sixteen::pairs(left, right, rows, length, sums);
#endif
  lines_of_eight::pairs(left, right, rows, length, sums);
}

}  // namespace aoe::native
