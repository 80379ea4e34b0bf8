// RotaryMul of float32, whole rows at a time.
#include <algorithm>

#include "native/kernel.h"
#include "native/wide.h"
#include "reference/tensors/rotary_rows.h"

namespace aoe::native {
namespace {

AOE_WIDE void turn_halves(const float* __restrict x, const float* __restrict cos,
                          const float* __restrict sin, std::int64_t pairs, float* __restrict y) {
  for (std::int64_t i = 0; i < pairs; ++i) {
    const float a = x[i], b = x[pairs + i];
    y[i] = a * cos[i] - b * sin[i];
    y[pairs + i] = a * sin[i] + b * cos[i];
  }
}

AOE_WIDE void turn_neighbours(const float* __restrict x, const float* __restrict cos,
                              const float* __restrict sin, std::int64_t pairs,
                              float* __restrict y) {
  using Loose = Lanes<float>::Loose;
  const Floats signs = {-1, 1, -1, 1, -1, 1, -1, 1};
  std::int64_t i = 0;
  for (; i + kFloats <= pairs; i += kFloats) {
    const Floats c = reinterpret_cast<const Loose&>(cos[i]),
                 s = reinterpret_cast<const Loose&>(sin[i]);
    const Floats first = reinterpret_cast<const Loose&>(x[2 * i]),
                 second = reinterpret_cast<const Loose&>(x[2 * i + kFloats]);
    const Floats swapped_first = __builtin_shufflevector(first, first, 1, 0, 3, 2, 5, 4, 7, 6),
                 swapped_second = __builtin_shufflevector(second, second, 1, 0, 3, 2, 5, 4, 7, 6);
    reinterpret_cast<Loose&>(y[2 * i]) =
        first * __builtin_shufflevector(c, c, 0, 0, 1, 1, 2, 2, 3, 3) +
        swapped_first * (__builtin_shufflevector(s, s, 0, 0, 1, 1, 2, 2, 3, 3) * signs);
    reinterpret_cast<Loose&>(y[2 * i + kFloats]) =
        second * __builtin_shufflevector(c, c, 4, 4, 5, 5, 6, 6, 7, 7) +
        swapped_second * (__builtin_shufflevector(s, s, 4, 4, 5, 5, 6, 6, 7, 7) * signs);
  }
  for (; i < pairs; ++i) {
    const float a = x[2 * i], b = x[2 * i + 1];
    y[2 * i] = a * cos[i] - b * sin[i];
    y[2 * i + 1] = a * sin[i] + b * cos[i];
  }
}

void run_rotary_mul(const Run& run) {
  if (run.output(0).data == nullptr) return;
  const reference::RotaryRows rows(run.attrs, run.inputs);
  const auto* x = run.inputs[0].as<float>();
  const auto *cos = run.inputs[1].as<float>(), *sin = run.inputs[2].as<float>();
  auto* y = run.output(0).as<float>();
  constexpr double kElementsPerNs = 10;
  run.threads.share(rows.count, 2 + static_cast<double>(rows.size) / kElementsPerNs,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t row = begin; row < end; ++row) {
                        const float* from = x + row * rows.size;
                        float* to = y + row * rows.size;
                        const auto turn = rows.is_interleaved ? turn_neighbours : turn_halves;
                        turn(from, cos + rows.angles(row, 1), sin + rows.angles(row, 2), rows.pairs,
                             to);
                        std::copy(from + 2 * rows.pairs, from + rows.size, to + 2 * rows.pairs);
                      }
                    });
}

}  // namespace

void register_rotary_mul(KernelRegistry& registry) {
  registry.add({.type = "RotaryMul", .supports = takes_floats(3), .run = run_rotary_mul});
}

}  // namespace aoe::native
