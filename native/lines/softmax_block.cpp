// With vectors as long as the processor has them.
#include "native/lines/softmax_block.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>

#include "native/elements/exponential.h"
#include "native/wide.h"

namespace aoe::native {
namespace {

#define AOE_BLOCKS softmax_blocks
#define AOE_BYTES 32
#define AOE_VECTOR AOE_WIDE
#include "native/lines/softmax_block.inc"

#if defined(__x86_64__)
#define AOE_BLOCKS long_softmax_blocks
#define AOE_BYTES 64
#define AOE_VECTOR __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))
#include "native/lines/softmax_block.inc"
#endif

}  // namespace

void write_softmax(const float* x, std::int64_t lines, std::int64_t count, bool is_log, float* y) {
#if defined(__x86_64__)
  if (has_long_vectors()) return long_softmax_blocks::write_softmax(x, lines, count, is_log, y);
#endif
  softmax_blocks::write_softmax(x, lines, count, is_log, y);
}

float take_scores(float* scores, std::int64_t count, const ScoreMask& mask, SoftmaxRow& row) {
#if defined(__x86_64__)
  if (has_long_vectors()) return long_softmax_blocks::take_scores(scores, count, mask, row);
#endif
  return softmax_blocks::take_scores(scores, count, mask, row);
}

bool hides_all(const ScoreMask& mask, std::int64_t count, const SoftmaxRow& row) {
  if (mask.numbers == nullptr) return false;
#if defined(__x86_64__)
  if (has_long_vectors()) return long_softmax_blocks::hides_all(mask, count, row);
#endif
  return softmax_blocks::hides_all(mask, count, row);
}

void copy_scaled(const float* from, std::int64_t step, std::int64_t count, float factor, float* to,
                 std::int64_t to_step) {
#if defined(__x86_64__)
  if (has_long_vectors())
    return long_softmax_blocks::copy_scaled(from, step, count, factor, to, to_step);
#endif
  softmax_blocks::copy_scaled(from, step, count, factor, to, to_step);
}

}  // namespace aoe::native
