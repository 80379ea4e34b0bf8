// Writes the three steps of a group of Winograd tiles.
#include "compiler/conv/winograd_tiles.h"

#include "compiler/conv/winograd_transforms.h"
#include "compiler/emit/register_block.h"

namespace aoe::compiler {
namespace {

class TilesEmitter {
 public:
  TilesEmitter(Builder& builder, const WinogradCut& cut, const WinogradScratch& scratch,
               const WinogradTiles& group)
      : builder_(builder),
        cut_(cut),
        s_(cut.shape()),
        t_(cut.tiling()),
        scratch_(scratch),
        group_(group),
        in_(group.in),
        store_(group.store),
        buffers_(group.buffers) {}

  void run() {
    write_input_transforms();
    builder_.loop("oc_block", group_.first_block, group_.end_block, 1, [&](Int block) {
      write_products(block);
      write_output_transforms(block);
    });
  }

 private:
  /// Scratch [position][vector of input channels][tile][lanes], positions input_stride() apart.
  void write_input_transforms() {
    builder_.loop("ic", 0, cut_.in_vectors(), 1, [&](Int vector) {
      builder_.loop("tile", 0, group_.tiles, 1, [&](Int tile) {
        const WinogradTile at = group_.tile_at(tile);
        const Int row = at.row - s_.pad_top, column = at.column - s_.pad_left;
        const Int base =
            at.n * in_.batch + vector * vector_stride() + row * in_.row + column * in_.pixel;
        const Int to = (vector * cut_.tiles_per_iteration() + tile) * cut_.in_lanes();
        const std::int64_t side = cut_.inputs();
        const loopnest::Bool is_inside =
            Int(s_.pad_top) <= at.row && Int(s_.pad_left) <= at.column &&
            row + side <= Int(s_.in_height) && column + side <= Int(s_.in_width);
        builder_.if_(
            is_inside, [&] { write_input_transform(base, to, vector, {}); },
            [&] {
              write_input_transform(base, to, vector, std::pair{row, column});
            });
      });
    });
  }

  std::int64_t vector_stride() const {
    return in_.c0 != 0 ? in_.channel_block : in_.channel * cut_.lanes();
  }

  /// Of a vector: channels that there are, where they do not fill all vectors.
  std::optional<Int> channels(Int vector) const {
    if (in_.c0 != 0 || s_.in_channels % cut_.lanes() == 0) return std::nullopt;
    return min(Int(cut_.lanes()), Int(s_.in_channels) - vector * cut_.lanes());
  }

  /// Zero where there is no input; of bytes what they are above the input's zero point.
  Vec load_input(Int at, std::optional<Int> active, bool may_be_padding) const {
    if (!cut_.is_int8()) return builder_.load(*buffers_.inputs[0], at, cut_.lanes(), active);
    Vec x = builder_.load_as(Type::kInt32, *buffers_.inputs[0], at, cut_.lanes(), active);
    if (!group_.input_zero) return x;
    Vec above = x - *group_.input_zero;
    if (!may_be_padding) return above;  // weights of channels that there are not are zero
    return select(loopnest::active_lanes(*active, cut_.lanes()), above,
                  int_splat(0, cut_.lanes(), Type::kInt32));
  }

  std::vector<Vec> transformed_inputs(const std::vector<Vec>& d) {
    return cut_.is_int8() ? transform_whole_inputs(builder_, d) : transform_inputs(builder_, d);
  }

  /// Along rows of a tile, or along its columns.
  std::vector<Vec> transformed_products(const std::vector<Vec>& p,
                                        ColumnWeights weights = ColumnWeights::kWhole) {
    return cut_.is_int8() ? transform_whole_products(builder_, p, weights)
                          : transform_products(builder_, p, cut_.outputs());
  }

  /// `corner`: the tile's first input, where some of its inputs are padding.
  void write_input_transform(Int base, Int to, Int vector,
                             std::optional<std::pair<Int, Int>> corner) {
    const std::int64_t side = cut_.inputs();
    const auto exists = [](Int at, std::int64_t extent) {  // 1 when 0 <= at < extent, else 0
      return min(max(at + 1, 0), 1) * min(max(Int(extent) - at, 0), 1);
    };
    std::vector<std::vector<Vec>> rows(static_cast<std::size_t>(side));
    for (std::int64_t j = 0; j < side; ++j) {
      std::vector<Vec> column;
      for (std::int64_t i = 0; i < side; ++i) {
        std::optional<Int> active = channels(vector);
        if (corner) {
          active = exists(corner->first + i, s_.in_height) *
                   exists(corner->second + j, s_.in_width) * active.value_or(cut_.lanes());
        }
        column.push_back(builder_.get(builder_.local(
            load_input(base + (i * in_.row + j * in_.pixel), active, corner.has_value()))));
      }
      const std::vector<Vec> transformed = transformed_inputs(column);
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(transformed[i]);
    }
    const std::int64_t stride = cut_.input_stride();
    for (std::int64_t i = 0; i < side; ++i) {
      const std::vector<Vec> row = transformed_inputs(rows[static_cast<std::size_t>(i)]);
      for (std::int64_t j = 0; j < side; ++j)
        store_factors(to + (i * side + j) * stride, row[static_cast<std::size_t>(j)]);
    }
  }

  void store_factors(Int to, Vec value) {
    if (cut_.is_int8()) return builder_.store(scratch_.inputs, to * 2, value);
    if (!cut_.is_bf16()) return builder_.store(scratch_.inputs, to, value);
    builder_.store(scratch_.inputs, to, convert(value, value, factor_type()),
                   Int(cut_.in_lanes()));  // one of the two
  }

  /// For each position, products of all tiles with one block of output vectors: scratch [position][vector][tile][lanes],
  /// positions product_stride() apart.
  void write_products(Int oc_block) {
    builder_.loop("position", 0, cut_.positions(), 1, [&](Int position) {
      builder_.loop("tiles", 0, cut_.tiles_per_iteration(), t_.tile_block,
                    [&](Int first_tile) { write_product_block(oc_block, position, first_tile); });
    });
  }

  void write_product_block(Int oc_block, Int position, Int first_tile) {
    const std::int64_t width = t_.oc_vectors * cut_.lanes(), lanes = cut_.lanes(),
                       in_lanes = cut_.in_lanes();
    const Type factors = factor_type();
    const int factor_lanes = cut_.lanes() * per_word(factors);
    const Int weights =
        (oc_block * cut_.positions() + position) * (cut_.in_chunks() * t_.ic_unroll * width);
    std::vector<Local> sums;  // [vector][tile]
    for (std::int64_t i = 0; i < t_.oc_vectors * t_.tile_block; ++i) {
      sums.push_back(builder_.local(loopnest::splat(0.0, cut_.lanes(), product_type())));
    }
    const RegisterBlock products{.rows = t_.tile_block,
                                 .vectors = t_.oc_vectors,
                                 .sums = sums,
                                 .order = RegisterBlock::Order::kByVector,
                                 .multiply_add = cut_.has_pairs() ? loopnest::dot : loopnest::fma};
    builder_.loop("ic", 0, cut_.in_chunks(), 1, [&](Int chunk) {
      const Int channel = chunk * t_.ic_unroll;
      const Int input = position * cut_.input_stride() +
                        (channel / in_lanes * cut_.tiles_per_iteration() + first_tile) * in_lanes +
                        channel % in_lanes;
      for (std::int64_t i = 0; i < t_.ic_unroll; ++i) {
        products.step(
            builder_,
            [&](std::int64_t v) {
              const Int at = weights + channel * width + (i * width + v * lanes);
              const Local weight = builder_.local(
                  builder_.load_as(factors, buffers_.constants[0], at, factor_lanes));
              if (t_.prefetch != 0)
                builder_.prefetch(buffers_.constants[0], at + cut_.prefetch_elements(), 2);
              return weight;
            },
            [&](std::int64_t tile) {
              const Int at = input + (tile * in_lanes + i);
              if (cut_.is_int8())
                return builder_.local(broadcast(
                    builder_.load_as(factors, scratch_.inputs, at * 2, 2), 2 * cut_.lanes()));
              return builder_.local(
                  builder_.load_as(factors, scratch_.inputs, at, factor_lanes, {}, 0));
            });
      }
    });
    for (std::int64_t v = 0; v < t_.oc_vectors; ++v) {
      for (std::int64_t tile = 0; tile < t_.tile_block; ++tile) {
        builder_.store(scratch_.products,
                       position * cut_.product_stride() +
                           (Int(v * cut_.tiles_per_iteration()) + first_tile + tile) * lanes,
                       builder_.get(sums[static_cast<std::size_t>(v * t_.tile_block + tile)]));
      }
    }
  }

  Type factor_type() const {
    return cut_.has_pairs() ? loopnest::narrow_type(cut_.factors().dtype) : Type::kFloat;
  }
  Type product_type() const { return cut_.is_int8() ? Type::kInt32 : Type::kFloat; }

  void write_output_transforms(Int oc_block) {
    const Int vectors =
        min(Int(t_.oc_vectors),
            Int((s_.out_channels + cut_.lanes() - 1) / cut_.lanes()) - oc_block * t_.oc_vectors);
    builder_.loop("vector", 0, vectors, 1, [&](Int vector) {
      builder_.loop("tile", 0, group_.tiles, 1, [&](Int tile) {
        const Int from = (vector * cut_.tiles_per_iteration() + tile) * cut_.lanes();
        write_output_transform(from, oc_block * t_.oc_vectors + vector, group_.tile_at(tile));
      });
    });
  }

  void write_output_transform(Int from, Int vector, const WinogradTile& at) {
    const std::int64_t side = cut_.inputs(), outputs = cut_.outputs();
    const std::int64_t stride = cut_.product_stride();
    std::vector<std::vector<Vec>> rows(static_cast<std::size_t>(outputs));
    for (std::int64_t j = 0; j < side; ++j) {
      std::vector<Vec> column;
      for (std::int64_t i = 0; i < side; ++i) {
        column.push_back(builder_.get(builder_.local(builder_.load_as(
            product_type(), scratch_.products, from + (i * side + j) * stride, cut_.lanes()))));
      }
      const std::vector<Vec> transformed = transformed_products(column);
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(transformed[i]);
    }
    const Vec bias = by_channel(product_type(), 1, vector);
    const std::optional<Vec> multiplier =
        cut_.is_int8() ? std::optional(by_channel(Type::kFloat, 2, vector)) : std::nullopt;
    for (std::int64_t i = 0; i < outputs; ++i) {
      builder_.if_(at.row + i < group_.end_row, [&] {
        const std::vector<Vec> row =
            transformed_products(rows[static_cast<std::size_t>(i)], cut_.column_weights());
        for (std::int64_t j = 0; j < outputs; ++j) {
          builder_.if_(at.column + j < Int(s_.out_width), [&] {
            const Vec& sum = row[static_cast<std::size_t>(j)];
            store_.store(builder_, buffers_, {at.n, vector, at.row + i, at.column + j},
                         multiplier ? scaled_sum(sum, bias, cut_.column_weights()) * *multiplier
                                    : sum + bias);
          });
        }
      });
    }
  }

  Vec by_channel(Type type, std::size_t constant, Int vector) {
    return builder_.get(builder_.local(
        builder_.load_as(type, buffers_.constants[constant], vector * cut_.lanes(), cut_.lanes())));
  }

  Builder& builder_;
  const WinogradCut& cut_;
  const ConvShape& s_;
  const WinogradTiling& t_;
  const WinogradScratch& scratch_;
  const WinogradTiles& group_;
  const ImageLayout& in_;
  const ImageStore& store_;
  const KernelBuffers& buffers_;
};

}  // namespace

WinogradScratch declare_scratch(Builder& builder, const WinogradCut& cut) {
  if (cut.is_int8())
    return {builder.scratch("inputs", 2 * cut.input_scratch(), DataType::kInt16),
            builder.scratch("products", cut.product_scratch(), DataType::kInt32)};
  return {builder.scratch("inputs", cut.input_scratch(), cut.factors()),
          builder.scratch("products", cut.product_scratch())};
}

void write_winograd_tiles(Builder& builder, const WinogradCut& cut, const WinogradScratch& scratch,
                          const WinogradTiles& group) {
  TilesEmitter(builder, cut, scratch, group).run();
}

}  // namespace aoe::compiler
