// gemm_nbits: generated WeightQuantBatchMatmulV2: products with weights of 2, 4 or 8 bits, read packed. Of few rows, as
// when a language model writes, such a product takes as long as its weights take from memory: an eighth of float32's.
#include <algorithm>

#include "compiler/emit/integer_math.h"
#include "compiler/gemm/nbits_nest.h"
#include "compiler/plain_task.h"
#include "compiler/tiled_plan.h"
#include "reference/products/packed_weights.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMaxPackedFmas = 512;  ///< written out per kernel
constexpr std::int64_t kGoodUnrolledFmas = 64;

TilingAxes<PackedTiling> packed_axes(const PackedCut& any, const Soc&) {
  using T = PackedTiling;
  const std::int64_t vectors = ceil_div(any.weights().n, any.lanes());
  std::vector<std::int64_t> panel_rows = {0};
  for (const std::int64_t rows : {32, 128, 512})
    if (rows / 2 < any.rows()) panel_rows.push_back(rows);
  return {{"m_block", &T::m_block, up_to(any.rows(), {1, 2, 3, 4, 6, 8, 12})},
          {"n_vectors", &T::n_vectors, up_to(vectors, {1, 2, 3, 4, 6, 8})},
          {"byte_unroll", &T::byte_unroll,
           powers_of_two(std::min<std::int64_t>(16, any.weights().block_bytes()))},
          {"columns_outer", &T::columns_outer, {0, 1}},
          {"panel_rows", &T::panel_rows, panel_rows}};
}

class PackedPlan final : public RetiledPlan<PackedTiling, PackedCut> {
 public:
  PackedPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : RetiledPlan(task, format, soc, PackedCut(task, soc.vector_lanes(), {}), packed_axes) {}

  /// One and two rows, a decoder's step, take 1.25 to 1.7 times as long in blocks of other widths, which estimates do not see.
  std::vector<std::string> packing_axes() const override {
    constexpr std::int64_t kFewRows = 4;
    if (any().rows() < kFewRows) return {};
    return {"n_vectors"};
  }

 private:
  using T = PackedTiling;

  bool fits(const PackedCut& cut) const override {
    return cut.registers() <= soc().vector_registers() && cut.body_fmas() <= kMaxPackedFmas &&
           cut.panel_elements() * std::int64_t{sizeof(float)} <= soc().l2_bytes / 2;
  }

  double cycles(const PackedCut& cut) const override { return shared(cut.core_cycles(), cut); }

  T best() const override {
    const T block = fewest_cycles(tilings().all({}, {&T::m_block, &T::n_vectors, &T::panel_rows}));
    return tilings().with_last(block, &T::byte_unroll, [&](const T& t) {
      return is_legal(t) && cut(t).body_fmas() <= kGoodUnrolledFmas;
    });
  }

  Features features_of(const PackedCut& cut) const override {
    const T& t = cut.tiling();
    return {{"flops", flops(task())},
            {"bytes", bytes_moved(task())},
            {"core_cycles", cut.core_cycles()},
            {"registers", static_cast<double>(cut.registers()) / soc().vector_registers()},
            {"rows", static_cast<double>(t.m_block)},
            {"vectors", static_cast<double>(t.n_vectors)},
            {"body_fmas", static_cast<double>(cut.body_fmas())},
            {"columns_outer", static_cast<double>(t.columns_outer)},
            {"panel_rows", static_cast<double>(t.panel_rows)},
            {"panel_per_l2", static_cast<double>(cut.column_bytes() * cut.block_columns()) /
                                 static_cast<double>(soc().l2_bytes)},
            {"balance", parallel_balance(soc(), cut.parallel_extent())}};
  }

  double estimate_of(const PackedCut& cut) const override {
    return launch_ns(soc()) + std::max(shared(cycles_ns(cut.core_cycles()), cut),
                                       memory_ns(soc(), bytes_moved(task())));
  }

  Kernel kernel_of(const PackedCut& cut) const override {
    return build_packed_product(task(), cut);
  }
};

class GemmNbits final : public ImplBy<PackedPlan> {
 public:
  std::string_view name() const override { return "gemm_nbits"; }
  int version() const override { return 4; }
  /// Zero points are taken off behind the sum: infinity less infinity.
  NotFinite not_finite(const Task&) const override { return NotFinite::kAndAround; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (auto plain = supports_plain(task, {"WeightQuantBatchMatmulV2"}); !plain) return plain;
    if (reference::rounds_x(task.op.attrs)) return Unexpected("x is rounded to bytes");
    return supports_packed(task);
  }
};

}  // namespace

void register_gemm_nbits(ImplRegistry& registry) {
  registry.add(std::make_unique<GemmNbits>());
}

}  // namespace aoe::compiler
