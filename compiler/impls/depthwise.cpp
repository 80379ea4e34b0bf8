// depthwise, depthwise_int8: generated depthwise convolution, vectorised over channels, one channel in and out per
// group: in float32, or QuantConv2D of bytes, exactly. The nest: compiler/conv/depthwise_nest.h. Tested like every Impl by tests/compiler/impls_test.cpp.
#include <algorithm>

#include "compiler/conv/depthwise_nest.h"
#include "compiler/conv/image_store.h"
#include "compiler/emit/epilogue.h"
#include "compiler/emit/integer_math.h"
#include "compiler/quant/depthwise_int8.h"
#include "compiler/tiled_plan.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMaxDepthwiseFmas =
    6000;  ///< written out per kernel: beyond, code leaves the instruction cache

/// Of windows whose rows are written out one after another. Larger ones gain nothing by that (21x21 runs at 0.62 of a Zen 3's
/// peak, 31x31 row by row at 0.66), and what LLVM takes grows with the square of the code: 1.2 s for 15x15, 3.5 for 21x21,
/// minutes for 63x63.
constexpr std::int64_t kMostTapsOfRows = 128;

/// The same for what makes results of sums of quads, which is most of their code.
constexpr std::int64_t kMaxResultInstructions = 4500;

TilingAxes<DepthwiseTiling> depthwise_axes(const ConvShape& s, const FormatChoice& format,
                                           const Soc& soc) {
  const DepthwiseCut cut(s, format.outputs[0], soc.vector_lanes(), {});
  return {
      {"oh_block", &DepthwiseTiling::oh_block, up_to(s.out_height, {1, 2, 3, 4})},
      {"ow_block", &DepthwiseTiling::ow_block, least_blocks(s.out_width, soc.vector_registers())},
      {"row_tile", &DepthwiseTiling::row_tile, powers_of_two(s.out_height)},
      {"vector_tile", &DepthwiseTiling::vector_tile, powers_of_two(cut.vectors())},
      {"unroll_rows", &DepthwiseTiling::unroll_rows, {0, 1}}};
}

class DepthwisePlan final : public TiledPlan<DepthwiseTiling, DepthwiseCut> {
 public:
  DepthwisePlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : DepthwisePlan(task, format, soc, conv_shape(task).value()) {}

 private:
  DepthwisePlan(const Task& task, const FormatChoice& format, const Soc& soc,
                const ConvShape& shape)
      : TiledPlan(task, format, soc, depthwise_axes(shape, format, soc)),
        shape_(shape),
        factors_(is_quantised() ? depthwise_int8_factors(task, shape, soc)
                                : DepthwiseFactors::kFloats),
        has_functions_(has_functions(task)) {}

  bool is_quantised() const { return task().anchor().type == "QuantConv2D"; }

  DepthwiseCut cut(const DepthwiseTiling& tiling) const override {
    return DepthwiseCut(shape_, format().outputs[0], soc().vector_lanes(), tiling, factors_);
  }

  bool fits(const DepthwiseCut& cut) const override {
    const DepthwiseTiling& t = cut.tiling();
    if (t.unroll_rows == 0 && (t.oh_block != 1 || cut.has_quads())) return false;
    if (t.unroll_rows != 0 && !cut.has_quads() &&
        shape_.kernel_height * shape_.kernel_width > kMostTapsOfRows)
      return false;
    if (t.row_tile > cut.row_blocks() || t.vector_tile > cut.vectors()) return false;
    if (cut.has_quads() && t.oh_block * t.ow_block > 1 &&
        cut.body_results() * result_instructions() > kMaxResultInstructions)
      return false;
    return cut.registers() <= soc().vector_registers() && cut.body_fmas() <= kMaxDepthwiseFmas;
  }

  /// Some six for sums of quads to become float32 and leave, and ten for each step between, unless that is a loop.
  std::int64_t result_instructions() const {
    if (has_functions_) return 6;
    return 6 + 10 * static_cast<std::int64_t>(reference::op_types(task().op).size() - 1);
  }

  double cycles(const DepthwiseCut& cut) const override { return cut.core_cycles(); }

  /// The register block with the fewest cycles, unrolled if that costs nothing; then tiles as large as leave every thread
  /// four pieces of work.
  DepthwiseTiling best() const override {
    std::vector<DepthwiseTiling> blocks =
        tilings().all({.unroll_rows = 1}, {&DepthwiseTiling::oh_block, &DepthwiseTiling::ow_block});
    std::ranges::copy(
        tilings().all({.unroll_rows = 0}, {&DepthwiseTiling::oh_block, &DepthwiseTiling::ow_block}),
        std::back_inserter(blocks));
    return tilings().with_last(
        fewest_cycles(blocks), &DepthwiseTiling::row_tile, [&](const DepthwiseTiling& t) {
          const DepthwiseCut tiled = cut(t);
          return fits(tiled) && has_even_tiles(tiled) && stays_in_l2(tiled) &&
                 tiled.parallel_extent() >= 4 * soc().threads;
        });
  }

  /// In NHWC the vectors of a pixel lie side by side, of AVX2 two in a cache line: who takes one vector after the other must
  /// find their rows in the cache, or reads all of them from memory for each (64 channels of 160x160 took five times as long).
  bool stays_in_l2(const DepthwiseCut& cut) const {
    if (format().outputs[0] != Format::kNHWC || cut.vectors() == 1) return true;
    const ConvShape& s = cut.shape();
    const std::int64_t rows = cut.tiling().row_tile * cut.tiling().oh_block;
    const std::int64_t read = rows * s.stride_height + s.kernel_height - s.stride_height;
    const auto bytes = [](const TensorDesc& desc, std::int64_t pixels, std::int64_t channels) {
      return pixels * channels * static_cast<std::int64_t>(size_bytes(desc.dtype));
    };
    return bytes(task().in(0), read * s.in_width, s.in_channels) +
               bytes(task().out(), rows * s.out_width, s.out_channels) <=
           static_cast<std::int64_t>(soc().l2_bytes) / 2;
  }

  /// In NHWC a vector of 32 bytes is half of a cache line, and a pixel's other half is read and written much later.
  bool splits_lines() const {
    constexpr std::int64_t kLine = 64;
    const std::int64_t vector_bytes = soc().vector_lanes() * std::int64_t{sizeof(float)};
    return !is_quantised() && format().outputs[0] == Format::kNHWC && vector_bytes < kLine;
  }

  /// A thread's part is some tiles of rows: of a few tiles none may be much smaller than the others. Blocks of quads are high.
  bool has_even_tiles(const DepthwiseCut& cut) const {
    return !cut.has_quads() || cut.row_blocks() % cut.tiling().row_tile == 0 ||
           cut.row_tiles() >= std::int64_t{4} * soc().threads;
  }

  Features features_of(const DepthwiseCut& cut) const override {
    const ConvShape& s = cut.shape();
    const DepthwiseTiling& t = cut.tiling();
    const double bytes = bytes_moved(task());
    const double tile_bytes =
        4.0 * cut.lanes() *
        static_cast<double>(t.vector_tile * t.row_tile * t.oh_block * s.stride_height * s.in_width);
    return {{"flops", flops(task())},
            {"bytes", bytes},
            {"intensity", flops(task()) / bytes},
            {"core_cycles", cut.core_cycles()},
            {"lane_use", static_cast<double>(s.out_channels) /
                             static_cast<double>(cut.vectors() * cut.lanes())},
            {"registers", static_cast<double>(cut.registers()) / soc().vector_registers()},
            {"accumulators", static_cast<double>(t.oh_block * t.ow_block)},
            {"tile_per_l1", tile_bytes / static_cast<double>(soc().l1d_bytes)},
            {"tile_per_l2", tile_bytes / static_cast<double>(soc().l2_bytes)},
            {"body_fmas", static_cast<double>(cut.body_fmas())},
            {"unroll_rows", static_cast<double>(t.unroll_rows)},
            {"iterations", static_cast<double>(cut.parallel_extent())},
            {"balance", parallel_balance(soc(), cut.parallel_extent())}};
  }

  double estimate_of(const DepthwiseCut& cut) const override {
    constexpr double kEfficiency = 0.9;  // short inner loops: edges and block starts weigh more
    // Zen 3: 64x56x56 51 us in NC1HWC0 and 103 in NHWC, 96x112x112 of stride 2 114 and 267.
    constexpr double kOfSplitLines = 2;
    const double ns =
        std::max(cycles_ns(cut.core_cycles(), kEfficiency), memory_ns(soc(), bytes_moved(task())));
    return launch_ns(soc()) + shared(ns * (splits_lines() ? kOfSplitLines : 1), cut);
  }

  Kernel kernel_of(const DepthwiseCut& cut) const override {
    return is_quantised()
               ? build_depthwise(task(), format(), cut, depthwise_int8_constants(task(), cut))
               : build_depthwise(task(), format(), cut);
  }

  ConvShape shape_;
  DepthwiseFactors factors_;
  bool has_functions_;
};

class Depthwise final : public ImplBy<DepthwisePlan> {
 public:
  explicit Depthwise(bool is_quantised) : is_quantised_(is_quantised) {}

  std::string_view name() const override { return is_quantised_ ? "depthwise_int8" : "depthwise"; }
  int version() const override { return is_quantised_ ? 4 : 2; }

  Result<void> supports(const Task& task, const Soc&) const override {
    const Result<ConvShape> shape = conv_shape(task);
    if (!shape) return Unexpected(shape.error());
    if (reference::is_quantised(task.anchor().type) != is_quantised_)
      return Unexpected(task.anchor().type + " is not what it computes");
    if (shape->is_transposed) return Unexpected("Conv2DTranspose is not a depthwise convolution");
    if (shape->input_shuffle > 1) return Unexpected("the input is to be shuffled while it is read");
    if (!shape->is_depthwise()) {
      return Unexpected(std::to_string(shape->groups) + " groups of " +
                        std::to_string(shape->in_channels) + " to " +
                        std::to_string(shape->out_channels) + " channels, needs one channel each");
    }
    if (is_quantised_) return supports_depthwise_int8(task, *shape);
    return supports_float_convolution(task, *shape);
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    std::vector<FormatChoice> choices;
    if (!is_quantised_)
      choices.push_back(image_format(task, "NC1HWC0", Format::kNC1HWC0, Format::kNC1HWC0));
    choices.push_back(image_format(task, "NHWC", Format::kNHWC, Format::kNHWC));
    return choices;
  }

 private:
  bool is_quantised_;
};

}  // namespace

void register_depthwise(ImplRegistry& registry) {
  registry.add(std::make_unique<Depthwise>(false));
  registry.add(std::make_unique<Depthwise>(true));
}

}  // namespace aoe::compiler
