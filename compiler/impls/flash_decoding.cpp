// flash_decoding: FlashAttentionScore of few queries, whose vectors run along what there is much of; see
// compiler/attention/flash_decoding_nest.h.
#include <algorithm>

#include "compiler/attention/attention_nest.h"
#include "compiler/attention/flash_decoding_nest.h"
#include "compiler/emit/block_cycles.h"
#include "compiler/emit/integer_math.h"
#include "compiler/plain_task.h"
#include "compiler/tiled_plan.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMostQueries = 8;          ///< of all heads that share keys
constexpr std::int64_t kMostQueryDepth = 256;     ///< written out
constexpr std::int64_t kMostDecodingFmas = 4096;  ///< beyond, code leaves the instruction cache
constexpr std::int64_t kGoodDecodingFmas = 48;    ///< of the second product's unrolled loop
constexpr std::int64_t kLeastChunkVectors = 4;    ///< of keys, or chunks are not worth their sums

DecodingCut decoding_of(const Task& task, const DecodingTiling& tiling, const Soc& soc) {
  return {attention_shape_of(task).value(), soc.vector_lanes(), tiling};
}

TilingAxes<DecodingTiling> decoding_axes(const DecodingCut& cut) {
  const std::int64_t vectors = ceil_div(cut.shape().keys, cut.lanes());
  return {
      {"chunks", &DecodingTiling::chunks,
       up_to(std::max<std::int64_t>(1, vectors / kLeastChunkVectors),
             {1, 2, 3, 4, 6, 8, 12, 16, 24, 32})},
      {"v_vectors", &DecodingTiling::v_vectors, up_to(cut.value_vectors(), {1, 2, 3, 4, 5, 6, 8})},
      {"key_unroll", &DecodingTiling::key_unroll, {1, 2, 4, 8}}};
}

class DecodingPlan final : public TiledPlan<DecodingTiling, DecodingCut> {
 public:
  DecodingPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : TiledPlan(task, format, soc, decoding_axes(decoding_of(task, {}, soc))) {}

 private:
  DecodingCut cut(const DecodingTiling& tiling) const override {
    return decoding_of(task(), tiling, soc());
  }

  /// No chunk begins behind the last key, and a chunk's scores stay in the core's cache.
  bool fits(const DecodingCut& cut) const override {
    const std::int64_t registers =
        cut.rows() * cut.tiling().v_vectors +
        factor_registers(cut.tiling().v_vectors, cut.lanes() * std::int64_t{sizeof(float)});
    return registers <= soc().vector_registers() && cut.body_fmas() <= kMostDecodingFmas &&
           (cut.tiling().chunks - 1) * cut.chunk_keys() < cut.shape().keys &&
           cut.scratch_bytes() <= soc().l2_bytes / 2;
  }

  double cycles(const DecodingCut& cut) const override {
    return shared(cut.core_cycles(), cut) + core_cycles_of(merging_ns(cut));
  }

  double merging_ns(const DecodingCut& cut) const {
    if (cut.tiling().chunks == 1) return 0;
    const auto floats = static_cast<double>(cut.parallel_extent() * cut.chunk_floats());
    return launch_ns(soc()) + memory_ns(soc(), 2 * floats * sizeof(float));
  }

  DecodingTiling best() const override {
    const DecodingTiling best =
        fewest_cycles(tilings().all({}, {&DecodingTiling::chunks, &DecodingTiling::v_vectors}));
    return tilings().with_last(best, &DecodingTiling::key_unroll, [&](const DecodingTiling& t) {
      return cut(t).rows() * t.v_vectors * t.key_unroll <= kGoodDecodingFmas;
    });
  }

  Features features_of(const DecodingCut& cut) const override {
    return {{"flops", flops(task())},
            {"bytes", bytes_moved(task())},
            {"core_cycles", cut.core_cycles()},
            {"rows", static_cast<double>(cut.rows())},
            {"product_sums", static_cast<double>(cut.rows() * cut.tiling().v_vectors)},
            {"chunks", static_cast<double>(cut.tiling().chunks)},
            {"scratch_per_l1",
             static_cast<double>(cut.scratch_bytes()) / static_cast<double>(soc().l1d_bytes)},
            {"body_fmas", static_cast<double>(cut.body_fmas())},
            {"balance", parallel_balance(soc(), cut.parallel_extent())}};
  }

  double estimate_of(const DecodingCut& cut) const override {
    return launch_ns(soc()) + merging_ns(cut) +
           shared(std::max(cycles_ns(cut.core_cycles()), memory_ns(soc(), bytes_moved(task()))),
                  cut);
  }

  Kernel kernel_of(const DecodingCut& cut) const override {
    return build_flash_decoding(task(), cut);
  }
};

class FlashDecoding final : public ImplBy<DecodingPlan> {
 public:
  std::string_view name() const override { return "flash_decoding"; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    const auto shape = attention_shape_of(task);
    if (!shape) return Unexpected(shape.error());
    const DecodingCut cut(*shape, soc.vector_lanes(), {});
    if (cut.rows() > kMostQueries)
      return Unexpected(std::to_string(cut.rows()) + " queries of one key head, takes " +
                        std::to_string(kMostQueries));
    if (shape->depth > kMostQueryDepth)
      return Unexpected("depth " + std::to_string(shape->depth) + ", takes " +
                        std::to_string(kMostQueryDepth));
    if (shape->keys < 2 * soc.vector_lanes())
      return Unexpected(std::to_string(shape->keys) + " keys, needs two vectors");
    if (cut.rows() > soc.vector_registers() - 2)
      return Unexpected(std::to_string(cut.rows()) + " queries do not fit the registers");
    return {};
  }
};

}  // namespace

void register_flash_decoding(ImplRegistry& registry) {
  registry.add(std::make_unique<FlashDecoding>());
}

}  // namespace aoe::compiler
