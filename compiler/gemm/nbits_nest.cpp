// Writes the loop nest of a product with packed weights for one PackedCut.
#include "compiler/gemm/nbits_nest.h"

#include <functional>
#include <optional>
#include <vector>

#include "compiler/emit/kernel_buffers.h"
#include "compiler/gemm/nbits_constants.h"

namespace aoe::compiler {
namespace {

using reference::PackedWeights;

/// The bytes of each column of the product.
PackedConstant pack_rows(const Task& task, const PackedCut& cut) {
  const PackedWeights& w = cut.weights();
  return by_columns<std::uint8_t>(
      w.n, cut.block_columns(), w.row_bytes(),
      [of = nbits_input(task, reference::kPackedWeight), bytes = w.row_bytes()](std::int64_t row,
                                                                                std::int64_t i) {
        return static_cast<const std::uint8_t*>(of->data())[row * bytes + i];
      });
}

class PackedNest {
 public:
  PackedNest(const Task& task, const PackedCut& cut)
      : cut_(cut),
        w_(cut.weights()),
        t_(cut.tiling()),
        constants_(nbits_constants(task, w_, cut.block_columns(), pack_rows(task, cut),
                                   DataType::kUint8)) {
    buffers_ = declare_buffers(builder_, task, constants_.types);
    if (cut_.has_panel()) panel_ = builder_.scratch("panel", cut_.panel_elements());
  }

  Kernel build() {
    builder_.parallel(cut_.parallel_extent(), [&](Int iteration) {
      const std::int64_t groups = cut_.row_groups(), columns = cut_.column_blocks();
      column_ = t_.columns_outer != 0 ? iteration / groups : iteration % columns;
      const Int group = t_.columns_outer != 0 ? iteration % groups : iteration / columns;
      if (!panel_) {
        write_block(group * t_.m_block, [&] { add_packed(); });
        return;
      }
      unpack_panel();
      const Int first = group * cut_.group_blocks();
      builder_.loop("row_block", first, min(first + cut_.group_blocks(), Int(cut_.row_blocks())), 1,
                    [&](Int block) { write_block(block * t_.m_block, [&] { add_panel(); }); });
    });
    return jit_kernel(builder_.finish(), std::move(constants_.packed));
  }

 private:
  using Row = std::vector<Local>;                               ///< by vector of columns
  using Take = std::function<void(Int k, const Row& weights)>;  ///< element k of each column

  Int constant_at(std::int64_t count, Int i, std::int64_t vector) const {
    return (column_ * count + i) * cut_.block_columns() + vector * cut_.lanes();
  }
  Buffer constant(std::size_t i) const { return buffers_.constants[i]; }
  Vec bytes_at(std::size_t constant_index, Int at) const {
    return builder_.load_as(Type::kInt32, constant(constant_index), at, cut_.lanes());
  }

  /// Rows beyond the last are the last again: they store what it stores.
  void write_block(Int first_row, const std::function<void()>& add) {
    rows_.clear();
    for (std::int64_t i = 0; i < t_.m_block; ++i)
      rows_.push_back(i == 0 ? first_row : min(first_row + i, Int(cut_.rows() - 1)));
    sums_.assign(static_cast<std::size_t>(t_.m_block), {});
    for (Row& row : sums_)
      for (std::int64_t v = 0; v < t_.n_vectors; ++v)
        row.push_back(builder_.local(
            constants_.bias
                ? builder_.load(constant(*constants_.bias), constant_at(1, 0, v), cut_.lanes())
                : loopnest::splat(0, cut_.lanes())));
    add();
    for (std::int64_t i = 0; i < t_.m_block; ++i)
      for (std::int64_t v = 0; v < t_.n_vectors; ++v) {
        const Int first = column_ * cut_.block_columns() + v * cut_.lanes();
        builder_.store(
            buffers_.outputs[0], rows_[static_cast<std::size_t>(i)] * w_.n + first,
            builder_.get(sums_[static_cast<std::size_t>(i)][static_cast<std::size_t>(v)]),
            active(first));
      }
  }

  /// What shares a scale, and how many elements that is.
  void each_block(const std::function<void(Int block, std::int64_t elements)>& body) {
    const std::int64_t full = w_.k / w_.block;
    builder_.loop("block", 0, full, 1, [&](Int block) { body(block, w_.block); });
    if (w_.k % w_.block != 0) body(full, w_.k % w_.block);
  }

  /// All weights of the columns, in their order.
  void unpack(const Take& take) {
    each_block([&](Int block, std::int64_t elements) {
      load_scales(block);
      each_element(block, elements, [&](Int k, const Row& quanta) {
        Row weights;
        for (std::size_t v = 0; v < quanta.size(); ++v)
          weights.push_back(builder_.local(
              fma(builder_.get(quanta[v]), builder_.get(scales_[v]), builder_.get(shifts_[v]))));
        take(k, weights);
      });
    });
  }

  void add_packed() {
    if (cut_.scales_sums())
      return each_block([&](Int block, std::int64_t elements) { add_block(block, elements); });
    unpack([&](Int k, const Row& weights) { add_element(k, weights, sums_); });
  }

  void unpack_panel() {
    unpack([&](Int k, const Row& weights) {
      for (std::size_t v = 0; v < weights.size(); ++v)
        builder_.store(*panel_, panel_at(k, v), builder_.get(weights[v]));
    });
  }

  /// The sums of one block's q * x, times its scales; and the sum of x, times its shifts.
  void add_block(Int block, std::int64_t elements) {
    std::vector<Row> sums(sums_.size());
    Row of_x;
    for (Row& row : sums) {
      for (std::int64_t v = 0; v < t_.n_vectors; ++v)
        row.push_back(builder_.local(loopnest::splat(0, cut_.lanes())));
      of_x.push_back(builder_.local(loopnest::splat(0, cut_.lanes())));
    }
    each_element(block, elements, [&](Int k, const Row& quanta) {
      add_element(k, quanta, sums);
      for (std::size_t i = 0; i < sums.size(); ++i)
        builder_.assign(of_x[i], x_at(i, k) + builder_.get(of_x[i]));
    });
    load_scales(block);
    for (std::size_t i = 0; i < sums.size(); ++i)
      for (std::size_t v = 0; v < scales_.size(); ++v) {
        const Vec scaled =
            fma(builder_.get(sums[i][v]), builder_.get(scales_[v]), builder_.get(sums_[i][v]));
        builder_.assign(sums_[i][v], fma(builder_.get(of_x[i]), builder_.get(shifts_[v]), scaled));
      }
  }

  Int panel_at(Int k, std::size_t vector) const {
    return k * cut_.block_columns() + static_cast<std::int64_t>(vector) * cut_.lanes();
  }

  void add_panel() {
    const auto add = [&](Int k) {
      Row weights;
      for (std::int64_t v = 0; v < t_.n_vectors; ++v)
        weights.push_back(builder_.local(
            builder_.load(*panel_, panel_at(k, static_cast<std::size_t>(v)), cut_.lanes())));
      add_element(k, weights, sums_);
    };
    const std::int64_t step = t_.byte_unroll * w_.per_byte(), unrolled = w_.k / step * step;
    builder_.loop("k", 0, unrolled, step, [&](Int k) {
      for (std::int64_t i = 0; i < step; ++i) add(k + i);
    });
    builder_.loop("k_rest", unrolled, w_.k, 1, add);
  }

  Vec x_at(std::size_t row, Int k) const {
    return builder_.load_broadcast(*buffers_.inputs[0], rows_[row] * w_.k + k, cut_.lanes());
  }

  /// Element k of each row meets the weights.
  void add_element(Int k, const Row& weights, const std::vector<Row>& sums) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const Vec x = x_at(i, k);
      for (std::size_t v = 0; v < weights.size(); ++v)
        builder_.assign(sums[i][v], fma(x, builder_.get(weights[v]), builder_.get(sums[i][v])));
    }
  }

  /// Empty where every vector is full.
  std::optional<Int> active(Int first) const {
    if (w_.n % cut_.block_columns() == 0) return {};
    return max(min(Int(w_.n) - first, Int(cut_.lanes())), Int(0));
  }

  void load_scales(Int block) {
    scales_.clear();
    shifts_.clear();
    for (std::int64_t v = 0; v < t_.n_vectors; ++v) {
      const Int at = constant_at(w_.blocks(), block, v);
      scales_.push_back(builder_.local(builder_.load(constant(1), at, cut_.lanes())));
      shifts_.push_back(builder_.local(-(zero_at(at) * builder_.get(scales_.back()))));
    }
  }

  /// The first `elements` of one block of each column, not yet scaled.
  void each_element(Int block, std::int64_t elements, const Take& take) {
    const Int first_byte = block * w_.block_bytes(), first = block * w_.block;
    const std::int64_t whole = elements / w_.per_byte(),
                       unrolled = whole / t_.byte_unroll * t_.byte_unroll;
    builder_.loop("byte", 0, unrolled, t_.byte_unroll, [&](Int byte) {
      for (std::int64_t i = 0; i < t_.byte_unroll; ++i)
        unpack_bytes(first_byte + byte + i, first + (byte + i) * w_.per_byte(), w_.per_byte(),
                     take);
    });
    for (std::int64_t byte = unrolled; byte * w_.per_byte() < elements; ++byte)
      unpack_bytes(first_byte + byte, first + byte * w_.per_byte(),
                   std::min(w_.per_byte(), elements - byte * w_.per_byte()), take);
  }

  Vec zero_at(Int at) const {
    if (!constants_.zero) return loopnest::splat(static_cast<float>(w_.middle()), cut_.lanes());
    if (constants_.types[*constants_.zero].dtype == DataType::kFloat)
      return builder_.load(constant(*constants_.zero), at, cut_.lanes());
    return convert(bytes_at(*constants_.zero, at), Type::kFloat);
  }

  /// `count` elements of each column, which lie in one byte; the first is element `k` of a row.
  void unpack_bytes(Int byte, Int k, std::int64_t count, const Take& take) {
    const int lanes = cut_.lanes();
    std::vector<Local> packed;
    for (std::int64_t v = 0; v < t_.n_vectors; ++v)
      packed.push_back(builder_.local(bytes_at(0, constant_at(w_.row_bytes(), byte, v))));
    for (std::int64_t e = 0; e < count; ++e) {
      Row unpacked;
      for (std::size_t v = 0; v < packed.size(); ++v) {
        Vec bits = builder_.get(packed[v]);
        if (e > 0) bits = shift_right(bits, loopnest::int_splat(e * w_.bits, lanes, Type::kInt32));
        if (e + 1 < w_.per_byte())
          bits = bit_and(bits, loopnest::int_splat((1 << w_.bits) - 1, lanes, Type::kInt32));
        unpacked.push_back(builder_.local(convert(bits, Type::kFloat)));
      }
      take(k + e, unpacked);
    }
  }

  const PackedCut& cut_;
  const PackedWeights& w_;
  const PackedTiling& t_;
  Builder builder_{"gemm_nbits"};
  NbitsConstants constants_;
  std::optional<Buffer> panel_;
  KernelBuffers buffers_;
  Int column_ = 0;
  std::vector<Int> rows_;
  std::vector<Row> sums_;
  Row scales_, shifts_;
};

}  // namespace

Kernel build_packed_product(const Task& task, const PackedCut& cut) {
  return PackedNest(task, cut).build();
}

}  // namespace aoe::compiler
