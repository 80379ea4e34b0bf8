// Writes the loop nest of Winograd's convolution for one WinogradPlan.
#include "compiler/conv/winograd_nest.h"

#include <algorithm>
#include <numeric>

#include "compiler/conv/conv_weights.h"
#include "compiler/conv/image_store.h"
#include "compiler/conv/winograd_transforms.h"

namespace aoe::compiler {
namespace {

using loopnest::Builder;
using loopnest::Int;
using loopnest::Local;
using loopnest::Vec;

/// G g G^T of one kernel, position by position: first the columns, then the rows. In double, since the weights are read
/// many times and transformed once.
void transform_kernel(const float* kernel, const std::vector<std::vector<double>>& g,
                      std::vector<double>& columns, float* transformed) {
  const std::size_t size = g.size(), taps = g[0].size();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t c = 0; c < taps; ++c) {
      double sum = 0;
      for (std::size_t r = 0; r < taps; ++r) sum += g[i][r] * kernel[r * taps + c];
      columns[i * taps + c] = sum;
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    const double* row = columns.data() + i * taps;
    for (std::size_t j = 0; j < size; ++j)
      transformed[i * size + j] =
          static_cast<float>(std::inner_product(row, row + taps, g[j].begin(), 0.0));
  }
}

/// [oc_block][position][input channel][oc_vectors * lanes], zeros beyond the last channels.
PackedConstant pack_weights(const Task& task, const WinogradPlan& plan) {
  const auto elements = static_cast<std::size_t>(plan.weight_elements());
  return {.size_bytes = elements * sizeof(float),
          .pack = [weights = task.inputs[1].constant, plan, elements](void* destination) {
            const ConvShape& s = plan.shape();
            const float* from = weights->view().as<float>();
            float* to = static_cast<float*>(destination);
            std::fill_n(to, elements, 0.0f);
            const auto g = weight_transform(plan.inputs(), plan.taps());
            const std::int64_t channels = plan.in_chunks() * plan.tiling().ic_unroll;
            const std::int64_t width = plan.tiling().oc_vectors * plan.lanes();
            const std::int64_t positions = plan.positions();
            const std::int64_t taps = plan.taps() * plan.taps();
            std::vector<double> columns(g.size() * g[0].size());
            std::vector<float> transformed(static_cast<std::size_t>(positions));
            // Output channels innermost: they are neighbours in memory, so each line is written once.
            for (std::int64_t block = 0; block * width < s.out_channels; ++block) {
              for (std::int64_t ic = 0; ic < s.in_channels; ++ic) {
                const std::int64_t end = std::min((block + 1) * width, s.out_channels);
                for (std::int64_t oc = block * width; oc < end; ++oc) {
                  transform_kernel(from + (oc * s.in_channels + ic) * taps, g, columns,
                                   transformed.data());
                  float* at = to + (block * positions * channels + ic) * width + oc % width;
                  for (const float value : transformed) {
                    *at = value;
                    at += channels * width;
                  }
                }
              }
            }
          }};
}

class WinogradNest {
 public:
  WinogradNest(const Task& task, const FormatChoice& format, const WinogradPlan& plan)
      : plan_(plan),
        s_(plan.shape()),
        t_(plan.tiling()),
        in_(image_layout(task.in(0).shape, Format::kNC1HWC0, plan.lanes())),
        store_(task, format, plan.lanes()) {
    constants_.push_back(pack_weights(task, plan));
    constants_.push_back(pack_bias(task, s_, plan.oc_blocks() * t_.oc_vectors * plan.lanes()));
    store_.add_constants(constants_);
    buffers_ = declare_buffers(builder_, task, constants_.size(), false);
    inputs_ = builder_.scratch("inputs", plan.input_scratch());
    products_ = builder_.scratch("products", plan.product_scratch());
  }

  Kernel build() {
    builder_.parallel(plan_.parallel_extent(), [&](Int iteration) {
      const Int group = iteration % plan_.tile_groups(), split = iteration / plan_.tile_groups();
      const Int first_tile = group * plan_.tiles_per_iteration();
      const Int tiles = min(Int(plan_.tiles_per_iteration()), Int(plan_.tiles()) - first_tile);
      write_input_transforms(first_tile, tiles);
      const Int first_block = split * plan_.oc_blocks_per_split();
      const Int end_block = min(first_block + plan_.oc_blocks_per_split(), Int(plan_.oc_blocks()));
      builder_.loop("oc_block", first_block, end_block, 1, [&](Int block) {
        write_products(block);
        write_output_transforms(block, first_tile, tiles);
      });
    });
    return jit_kernel(builder_.finish(), std::move(constants_));
  }

 private:
  struct Tile {
    Int n, row, column;  ///< image, and first output of the tile
  };
  Tile tile_at(Int tile) const {
    const std::int64_t per_image = plan_.tile_rows() * plan_.tile_columns();
    return {tile / per_image, tile % per_image / plan_.tile_columns() * plan_.outputs(),
            tile % plan_.tile_columns() * plan_.outputs()};
  }

  /// Scratch [position][vector of input channels][tile][lanes].
  void write_input_transforms(Int first_tile, Int tiles) {
    builder_.loop("ic", 0, plan_.in_vectors(), 1, [&](Int vector) {
      builder_.loop("tile", 0, tiles, 1, [&](Int tile) {
        const Tile at = tile_at(first_tile + tile);
        const Int row = at.row - s_.pad_top, column = at.column - s_.pad_left;
        const Int base =
            at.n * in_.batch + vector * in_.channel_block + row * in_.row + column * in_.pixel;
        const Int to = (vector * plan_.tiles_per_iteration() + tile) * plan_.lanes();
        const std::int64_t side = plan_.inputs();
        const loopnest::Bool is_inside =
            Int(s_.pad_top) <= at.row && Int(s_.pad_left) <= at.column &&
            row + side <= Int(s_.in_height) && column + side <= Int(s_.in_width);
        builder_.if_(
            is_inside, [&] { write_input_transform(base, to, {}); },
            [&] {
              write_input_transform(base, to, std::pair{row, column});
            });
      });
    });
  }

  /// `corner`: the tile's first input, where some of its inputs are padding.
  void write_input_transform(Int base, Int to, std::optional<std::pair<Int, Int>> corner) {
    const std::int64_t side = plan_.inputs();
    const auto exists = [](Int at, std::int64_t extent) {  // 1 when 0 <= at < extent, else 0
      return min(max(at + 1, 0), 1) * min(max(Int(extent) - at, 0), 1);
    };
    std::vector<std::vector<Vec>> rows(static_cast<std::size_t>(side));
    for (std::int64_t j = 0; j < side; ++j) {
      std::vector<Vec> column;
      for (std::int64_t i = 0; i < side; ++i) {
        std::optional<Int> active;
        if (corner) {
          active = exists(corner->first + i, s_.in_height) *
                   exists(corner->second + j, s_.in_width) * plan_.lanes();
        }
        column.push_back(builder_.get(builder_.local(builder_.load(
            *buffers_.inputs[0], base + (i * in_.row + j * in_.pixel), plan_.lanes(), active))));
      }
      const std::vector<Vec> transformed = transform_inputs(builder_, column);
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(transformed[i]);
    }
    const std::int64_t stride = plan_.in_vectors() * plan_.tiles_per_iteration() * plan_.lanes();
    for (std::int64_t i = 0; i < side; ++i) {
      const std::vector<Vec> row = transform_inputs(builder_, rows[static_cast<std::size_t>(i)]);
      for (std::int64_t j = 0; j < side; ++j) {
        builder_.store(inputs_, to + (i * side + j) * stride, row[static_cast<std::size_t>(j)]);
      }
    }
  }

  /// For each position, products of all tiles with one block of output vectors: scratch [position][vector][tile][lanes].
  void write_products(Int oc_block) {
    builder_.loop("position", 0, plan_.positions(), 1, [&](Int position) {
      builder_.loop("tiles", 0, plan_.tiles_per_iteration(), t_.tile_block,
                    [&](Int first_tile) { write_product_block(oc_block, position, first_tile); });
    });
  }

  void write_product_block(Int oc_block, Int position, Int first_tile) {
    const std::int64_t width = t_.oc_vectors * plan_.lanes(), lanes = plan_.lanes();
    const Int weights =
        (oc_block * plan_.positions() + position) * (plan_.in_chunks() * t_.ic_unroll * width);
    std::vector<Local> sums;  // [vector][tile]
    for (std::int64_t i = 0; i < t_.oc_vectors * t_.tile_block; ++i) {
      sums.push_back(builder_.local(loopnest::splat(0.0f, plan_.lanes())));
    }
    builder_.loop("ic", 0, plan_.in_chunks(), 1, [&](Int chunk) {
      const Int channel = chunk * t_.ic_unroll;
      const Int input =
          ((position * plan_.in_vectors() + channel / lanes) * plan_.tiles_per_iteration() +
           first_tile) *
              lanes +
          channel % lanes;
      for (std::int64_t i = 0; i < t_.ic_unroll; ++i) {
        std::vector<Local> weight;
        for (std::int64_t v = 0; v < t_.oc_vectors; ++v) {
          const Int at = weights + channel * width + (i * width + v * lanes);
          weight.push_back(builder_.local(builder_.load(buffers_.constants[0], at, plan_.lanes())));
          if (t_.prefetch != 0) {
            builder_.prefetch(buffers_.constants[0], at + plan_.prefetch_elements(), 2);
          }
        }
        for (std::int64_t tile = 0; tile < t_.tile_block; ++tile) {
          const Local x = builder_.local(
              builder_.load_broadcast(inputs_, input + (tile * lanes + i), plan_.lanes()));
          for (std::int64_t v = 0; v < t_.oc_vectors; ++v) {
            const Local& sum = sums[static_cast<std::size_t>(v * t_.tile_block + tile)];
            builder_.assign(sum,
                            fma(builder_.get(x), builder_.get(weight[static_cast<std::size_t>(v)]),
                                builder_.get(sum)));
          }
        }
      }
    });
    for (std::int64_t v = 0; v < t_.oc_vectors; ++v) {
      for (std::int64_t tile = 0; tile < t_.tile_block; ++tile) {
        builder_.store(
            products_,
            ((position * t_.oc_vectors + v) * plan_.tiles_per_iteration() + first_tile + tile) *
                lanes,
            builder_.get(sums[static_cast<std::size_t>(v * t_.tile_block + tile)]));
      }
    }
  }

  void write_output_transforms(Int oc_block, Int first_tile, Int tiles) {
    const Int vectors =
        min(Int(t_.oc_vectors),
            Int((s_.out_channels + plan_.lanes() - 1) / plan_.lanes()) - oc_block * t_.oc_vectors);
    builder_.loop("vector", 0, vectors, 1, [&](Int vector) {
      builder_.loop("tile", 0, tiles, 1, [&](Int tile) {
        const Int from = (vector * plan_.tiles_per_iteration() + tile) * plan_.lanes();
        write_output_transform(from, oc_block * t_.oc_vectors + vector, tile_at(first_tile + tile));
      });
    });
  }

  void write_output_transform(Int from, Int vector, const Tile& at) {
    const std::int64_t side = plan_.inputs(), outputs = plan_.outputs();
    const std::int64_t stride = t_.oc_vectors * plan_.tiles_per_iteration() * plan_.lanes();
    std::vector<std::vector<Vec>> rows(static_cast<std::size_t>(outputs));
    for (std::int64_t j = 0; j < side; ++j) {
      std::vector<Vec> column;
      for (std::int64_t i = 0; i < side; ++i) {
        column.push_back(builder_.get(builder_.local(
            builder_.load(products_, from + (i * side + j) * stride, plan_.lanes()))));
      }
      const std::vector<Vec> transformed = transform_products(builder_, column, outputs);
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(transformed[i]);
    }
    const Vec bias = builder_.get(builder_.local(
        builder_.load(buffers_.constants[1], vector * plan_.lanes(), plan_.lanes())));
    for (std::int64_t i = 0; i < outputs; ++i) {
      builder_.if_(at.row + i < Int(s_.out_height), [&] {
        const std::vector<Vec> row =
            transform_products(builder_, rows[static_cast<std::size_t>(i)], outputs);
        for (std::int64_t j = 0; j < outputs; ++j) {
          builder_.if_(at.column + j < Int(s_.out_width), [&] {
            store_.store(builder_, buffers_, {at.n, vector, at.row + i, at.column + j},
                         row[static_cast<std::size_t>(j)] + bias);
          });
        }
      });
    }
  }

  const WinogradPlan& plan_;
  const ConvShape& s_;
  const WinogradTiling& t_;
  ImageLayout in_;
  ImageStore store_;
  Builder builder_{"winograd"};
  std::vector<PackedConstant> constants_;
  KernelBuffers buffers_;
  loopnest::Buffer inputs_{}, products_{};
};

}  // namespace

Kernel build_winograd(const Task& task, const FormatChoice& format, const WinogradPlan& plan) {
  return WinogradNest(task, format, plan).build();
}

}  // namespace aoe::compiler
