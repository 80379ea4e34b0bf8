// Writes the loop nest of Winograd's convolution for one WinogradPlan.
#include "compiler/conv/winograd_nest.h"

#include "compiler/conv/winograd_tiles.h"

namespace aoe::compiler {

using loopnest::Builder;
using loopnest::Int;

Kernel build_winograd(const Task& task, const FormatChoice& format, const WinogradPlan& plan) {
  const ImageLayout in = image_layout(task.in(0).shape, Format::kNC1HWC0, plan.lanes());
  ImageStore store(task, format, plan.lanes());
  std::vector<PackedConstant> constants = winograd_constants(task, plan);
  store.add_constants(constants);
  Builder builder("winograd");
  const KernelBuffers buffers = declare_buffers(builder, task, constants.size(), false);
  const WinogradScratch scratch = declare_scratch(builder, plan);
  builder.parallel(plan.parallel_extent(), [&](Int iteration) {
    const Int group = iteration % plan.tile_groups(), split = iteration / plan.tile_groups();
    const Int first_tile = group * plan.tiles_per_iteration();
    const Int first_block = split * plan.oc_blocks_per_split();
    const auto tile_at = [&](Int i) -> WinogradTile {
      const Int tile = first_tile + i;
      const std::int64_t per_image = plan.tile_rows() * plan.tile_columns();
      return {tile / per_image, tile % per_image / plan.tile_columns() * plan.outputs(),
              tile % plan.tile_columns() * plan.outputs()};
    };
    write_winograd_tiles(
        builder, plan, scratch,
        {.in = in,
         .store = store,
         .buffers = buffers,
         .tile_at = tile_at,
         .tiles = min(Int(plan.tiles_per_iteration()), Int(plan.tiles()) - first_tile),
         .first_block = first_block,
         .end_block = min(first_block + plan.oc_blocks_per_split(), Int(plan.oc_blocks())),
         .end_row = plan.shape().out_height});
  });
  return jit_kernel(builder.finish(), std::move(constants));
}

}  // namespace aoe::compiler
