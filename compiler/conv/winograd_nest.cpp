// Writes the loop nest of Winograd's convolution for one WinogradCut.
#include "compiler/conv/winograd_nest.h"

#include "compiler/conv/winograd_tiles.h"

namespace aoe::compiler {

namespace {

/// `constants`: of the convolution, without its epilogue.
Kernel build(const Task& task, const FormatChoice& format, const WinogradCut& cut,
             std::vector<PackedConstant> constants, const LoadInputZero& input_zero) {
  const ImageLayout in = image_layout(task.in(0).shape, format.inputs[0], cut.lanes());
  ImageStore store(task, format, cut.lanes());
  store.add_constants(constants);
  Builder builder("winograd");
  std::vector<Elements> types(constants.size());
  types.front() = cut.factors();
  if (cut.is_int8()) types[1] = DataType::kInt32;
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
         .end_row = cut.shape().out_height,
         .input_zero = input_zero ? std::optional(input_zero(builder, buffers)) : std::nullopt});
  });
  Kernel kernel = jit_kernel(builder.finish(), std::move(constants));
  if (cut.is_bf16()) kernel.needs = {Feature::kBf16};
  return kernel;
}

}  // namespace

Kernel build_winograd(const Task& task, const FormatChoice& format, const WinogradCut& cut) {
  return build(task, format, cut, winograd_constants(task, cut), {});
}

Kernel build_winograd(const Task& task, const FormatChoice& format, const WinogradCut& cut,
                      WinogradBytes bytes) {
  std::vector<PackedConstant> constants = {std::move(bytes.weights), std::move(bytes.bias),
                                           std::move(bytes.multiplier)};
  return build(task, format, cut, std::move(constants), bytes.input_zero);
}

}  // namespace aoe::compiler
