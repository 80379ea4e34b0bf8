// The arithmetic and the loop nest of a Winograd convolution with a pooling behind it.
#include "compiler/chain/winograd_pool.h"

#include <algorithm>
#include <bit>

#include "compiler/conv/winograd_tiles.h"
#include "compiler/emit/integer_math.h"

namespace aoe::compiler {
namespace {

/// The buffers of one member, with `between` for what the two pass to each other.
KernelBuffers own_buffers(const ChainMember& member, const KernelBuffers& all,
                          loopnest::Buffer between) {
  KernelBuffers own;
  for (const int input : member.chain_inputs)
    own.inputs.push_back(input < 0 ? std::optional(between) : all.inputs[input]);
  return own;
}

}  // namespace

WinogradPoolCut::WinogradPoolCut(const std::vector<ChainMember>& members, WinogradSize size,
                                 const Soc& soc, const WinogradPoolTiling& tiling)
    : convolution_(*conv_shape(members[0].task), size, soc.vector_lanes(), tiling),
      pool_{.window = *pool_window(members[1].task),
            .channels = members[1].task.in(0).shape[1],
            .lanes = soc.vector_lanes(),
            .ow_block = tiling.ow_block},
      tiling_(tiling) {
}

WindowAxis WinogradPoolCut::pool_rows() const {
  return pool_.window.height();
}

std::int64_t WinogradPoolCut::bands() const {
  return ceil_div(pool_rows().output, tiling_.band_rows);
}

std::int64_t WinogradPoolCut::most_rows() const {
  const WindowAxis rows = pool_rows();
  return std::min((tiling_.band_rows - 1) * rows.stride + rows.reach(), rows.input);
}

std::int64_t WinogradPoolCut::most_tiles() const {
  return ceil_div(most_rows(), convolution_.outputs()) * convolution_.tile_columns();
}

ImageLayout WinogradPoolCut::band() const {
  // A power of two: the place of a row is a mask and no division.
  const auto places = std::bit_ceil(static_cast<std::uint64_t>(most_rows()));
  const ConvShape& s = convolution_.shape();
  return ring_layout(s.out_channels, s.out_width, static_cast<std::int64_t>(places),
                     convolution_.lanes());
}

std::int64_t WinogradPoolCut::parallel_extent() const {
  return convolution_.shape().batch * bands();
}

std::int64_t WinogradPoolCut::scratch_bytes() const {
  return static_cast<std::int64_t>(sizeof(float)) *
         (convolution_.input_scratch() + convolution_.product_scratch() + ring_elements(band()));
}

double WinogradPoolCut::core_cycles() const {
  const std::int64_t groups = ceil_div(most_tiles(), convolution_.tiles_per_iteration());
  const double convolution =
      convolution_.core_cycles(groups * parallel_extent(), most_tiles() * parallel_extent());
  return convolution / convolution_.efficiency() + pool_.core_cycles();
}

Result<void> supports_winograd_pool(const std::vector<ChainMember>& members, WinogradSize size,
                                    const Soc& soc) {
  if (members.size() != 2) return Unexpected(std::to_string(members.size()) + " members, needs 2");
  if (auto supported = supports_winograd(members[0].task, size); !supported)
    return Unexpected("member 0: " + supported.error());
  if (auto supported = impls().find("pool")->supports(members[1].task, soc); !supported)
    return Unexpected("member 1: " + supported.error());
  return {};
}

Kernel build_winograd_pool(const Task& chain, const std::vector<ChainMember>& members,
                           const WinogradPoolCut& cut) {
  const WinogradCut& convolution = cut.convolution();
  const int lanes = convolution.lanes();
  const Format format = Format::kNC1HWC0;
  const FormatChoice first_format = image_format(members[0].task, "NC1HWC0", format, format);
  const FormatChoice last_format = image_format(members[1].task, "NC1HWC0", format, format);
  const ImageLayout in = image_layout(members[0].task.in(0).shape, format, lanes);
  const ImageLayout band = cut.band();
  ImageStore first_store(members[0].task, first_format, lanes, band);
  const ImageStore last_store(members[1].task, last_format, lanes);  // poolings take no epilogue
  std::vector<PackedConstant> constants = winograd_constants(members[0].task, convolution);
  first_store.add_constants(constants);

  Builder builder("winograd_pool");
  const KernelBuffers all = declare_buffers(builder, chain, constants.size(), false);
  const WinogradScratch scratch = declare_scratch(builder, convolution);
  const loopnest::Buffer between = builder.scratch("band", ring_elements(band));
  KernelBuffers first = own_buffers(members[0], all, between);
  first.constants = all.constants;
  first.outputs = {between};
  KernelBuffers last = own_buffers(members[1], all, between);
  last.outputs = all.outputs;

  const WindowAxis rows = cut.pool_rows();
  const std::int64_t columns = convolution.tile_columns(), outputs = convolution.outputs();
  builder.parallel(cut.parallel_extent(), [&](Int piece) {
    const Int n = piece / cut.bands();
    const Int begin = piece % cut.bands() * cut.tiling().band_rows;
    const Int end = min(begin + cut.tiling().band_rows, Int(rows.output));
    const Int first_row = max(begin * rows.stride - rows.pad_begin, 0);
    const Int end_row =
        min((end - 1) * rows.stride - rows.pad_begin + rows.reach(), Int(rows.input));
    const Int tiles = (end_row - first_row + (outputs - 1)) / outputs * columns;
    builder.loop("tiles", 0, tiles, convolution.tiles_per_iteration(), [&](Int first_tile) {
      const auto tile_at = [&](Int i) -> WinogradTile {
        const Int tile = first_tile + i;
        return {n, first_row + tile / columns * outputs, tile % columns * outputs};
      };
      write_winograd_tiles(
          builder, convolution, scratch,
          {.in = in,
           .store = first_store,
           .buffers = first,
           .tile_at = tile_at,
           .tiles = min(Int(convolution.tiles_per_iteration()), tiles - first_tile),
           .first_block = 0,
           .end_block = convolution.oc_blocks(),
           .end_row = end_row});
    });
    write_pool_rows(builder, cut.pool(), {band, last_store, last, n, begin, end});
  });
  return jit_kernel(builder.finish(), std::move(constants));
}

}  // namespace aoe::compiler
