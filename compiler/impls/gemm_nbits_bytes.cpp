// gemm_nbits_bytes: generated WeightQuantBatchMatmulV2 whose x is rounded: products of bytes with weights of 2, 4 or 8 bits.
// Four products a step in place of one, and weights need no conversion to float32.
#include <algorithm>

#include "compiler/gemm/nbits_bytes_nest.h"
#include "compiler/gemm/nbits_nest.h"
#include "compiler/plain_task.h"
#include "compiler/tiled_plan.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMostBodyDots = 512;  ///< written out per kernel
constexpr std::int64_t kGoodBodyDots = 96;

TilingAxes<BytesTiling> bytes_axes(const BytesCut& any, const Soc&) {
  using T = BytesTiling;
  const std::int64_t vectors = ceil_div(any.weights().n, any.lanes());
  return {{"m_block", &T::m_block, up_to(any.rows(), {1, 2, 3, 4, 5, 6, 8, 12})},
          {"n_vectors", &T::n_vectors, up_to(vectors, {1, 2, 3, 4, 6, 8})},
          {"word_unroll", &T::word_unroll,
           powers_of_two(std::min<std::int64_t>(16, any.packed_words()))},
          {"columns_outer", &T::columns_outer, {0, 1}}};
}

class BytesPlan final : public RetiledPlan<BytesTiling, BytesCut> {
 public:
  BytesPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : RetiledPlan(task, format, soc,
                    BytesCut(task, soc.vector_lanes(), soc.has(Feature::kVnni), {}), bytes_axes) {}

  std::vector<std::string> packing_axes() const override { return {"n_vectors"}; }

 private:
  using T = BytesTiling;

  bool fits(const BytesCut& cut) const override {
    return cut.registers() <= soc().vector_registers() && cut.body_dots() <= kMostBodyDots;
  }

  double cycles(const BytesCut& cut) const override { return shared(cut.core_cycles(), cut); }

  T best() const override {
    const T block = fewest_cycles(tilings().all({}, {&T::m_block, &T::n_vectors}));
    return tilings().with_last(block, &T::word_unroll, [&](const T& t) {
      return is_legal(t) && cut(t).body_dots() <= kGoodBodyDots;
    });
  }

  Features features_of(const BytesCut& cut) const override {
    const T& t = cut.tiling();
    return {{"flops", flops(task())},
            {"bytes", bytes_moved(task())},
            {"core_cycles", cut.core_cycles()},
            {"registers", static_cast<double>(cut.registers()) / soc().vector_registers()},
            {"rows", static_cast<double>(t.m_block)},
            {"vectors", static_cast<double>(t.n_vectors)},
            {"body_dots", static_cast<double>(cut.body_dots())},
            {"columns_outer", static_cast<double>(t.columns_outer)},
            {"balance", parallel_balance(soc(), cut.parallel_extent())}};
  }

  double estimate_of(const BytesCut& cut) const override {
    return 2 * launch_ns(soc()) + std::max(shared(cycles_ns(cut.core_cycles()), cut),
                                           memory_ns(soc(), bytes_moved(task())));
  }

  Kernel kernel_of(const BytesCut& cut) const override { return build_bytes_product(task(), cut); }
};

class GemmNbitsBytes final : public ImplBy<BytesPlan> {
 public:
  std::string_view name() const override { return "gemm_nbits_bytes"; }
  /// A block that has one has no number.
  NotFinite not_finite(const Task&) const override { return NotFinite::kAndAround; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (auto plain = supports_plain(task, {"WeightQuantBatchMatmulV2"}); !plain) return plain;
    if (!reference::rounds_x(task.op.attrs)) return Unexpected("x is not rounded");
    return supports_packed(task);
  }
};

}  // namespace

void register_gemm_nbits_bytes(ImplRegistry& registry) {
  registry.add(std::make_unique<GemmNbitsBytes>());
}

}  // namespace aoe::compiler
