// Writes the loop nest of Winograd's convolution for one WinogradCut.
#include "compiler/conv/winograd_nest.h"

#include "compiler/conv/winograd_tiles.h"

namespace aoe::compiler {

using loopnest::Builder;
using loopnest::Int;

Kernel build_winograd(const Task& task, const FormatChoice& format, const WinogradCut& cut) {
  const ImageLayout in = image_layout(task.in(0).shape, Format::kNC1HWC0, cut.lanes());
  ImageStore store(task, format, cut.lanes());
  std::vector<PackedConstant> constants = winograd_constants(task, cut);
  store.add_constants(constants);
  Builder builder("winograd");
  std::vector<DataType> types(constants.size(), DataType::kFloat);
  types.front() = cut.factor_type();
  const KernelBuffers buffers = declare_buffers(builder, task, types);
  const WinogradScratch scratch = declare_scratch(builder, cut);
  builder.parallel(cut.parallel_extent(), [&](Int iteration) {
    const Int group = iteration % cut.tile_groups(), split = iteration / cut.tile_groups();
    const Int first_tile = group * cut.tiles_per_iteration();
    const Int first_block = split * cut.oc_blocks_per_split();
    const auto tile_at = [&](Int i) -> WinogradTile {
      const Int tile = first_tile + i;
      const std::int64_t per_image = cut.tile_rows() * cut.tile_columns();
      return {tile / per_image, tile % per_image / cut.tile_columns() * cut.outputs(),
              tile % cut.tile_columns() * cut.outputs()};
    };
    write_winograd_tiles(
        builder, cut, scratch,
        {.in = in,
         .store = store,
         .buffers = buffers,
         .tile_at = tile_at,
         .tiles = min(Int(cut.tiles_per_iteration()), Int(cut.tiles()) - first_tile),
         .first_block = first_block,
         .end_block = min(first_block + cut.oc_blocks_per_split(), Int(cut.oc_blocks())),
         .end_row = cut.shape().out_height});
  });
  Kernel kernel = jit_kernel(builder.finish(), std::move(constants));
  if (cut.is_bf16()) kernel.needs = {Feature::kBf16};
  return kernel;
}

}  // namespace aoe::compiler
