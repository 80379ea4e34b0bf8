// Writes the loop nest of a product of rounded rows with packed weights for one BytesCut.
#include "compiler/gemm/nbits_bytes_nest.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/emit/kernel_buffers.h"
#include "compiler/gemm/nbits_constants.h"

namespace aoe::compiler {
namespace {

using reference::PackedWeights;

/// Words of weights by block of columns: word i of a column holds, in each of its bytes, the elements of as many words of x.
PackedConstant pack_words(const BytesCut& cut, ConstantPtr weights) {
  const PackedWeights w = cut.weights();
  const std::int64_t words = cut.words(), packed = cut.packed_words();
  return by_columns<std::uint32_t>(
      w.n, cut.block_columns(), w.blocks() * packed,
      [=, weights = std::move(weights)](std::int64_t row, std::int64_t i) {
        const auto* bytes = static_cast<const std::uint8_t*>(weights->data()) + row * w.row_bytes();
        std::uint32_t word = 0;
        for (std::int64_t byte = 0; byte < 4; ++byte)
          for (std::int64_t e = 0; e < w.per_byte(); ++e) {
            const std::int64_t k =
                i / packed * w.block + byte * words + i % packed * w.per_byte() + e;
            word |= static_cast<std::uint32_t>(k < w.k ? w.at(bytes, k) : 0)
                    << (8 * byte + e * w.bits);
          }
        return word;
      });
}

class BytesNest {
 public:
  BytesNest(const Task& task, const BytesCut& cut)
      : task_(task),
        cut_(cut),
        w_(cut.weights()),
        t_(cut.tiling()),
        constants_(nbits_constants(task, w_, cut.block_columns(),
                                   pack_words(cut, nbits_input(task, reference::kPackedWeight)),
                                   DataType::kInt32)) {}

  Kernel build() {
    Kernel kernel = kernel_for("jit");
    if (cut_.has_vnni()) kernel.needs.add(Feature::kVnni);
    kernel.workspace_bytes =
        static_cast<std::size_t>(cut_.workspace_elements()) * sizeof(std::int32_t);
    kernel.stages.push_back(round_x());
    kernel.stages.push_back(multiply());
    kernel.constants = std::move(constants_.packed);
    return kernel;
  }

 private:
  using Row = std::vector<Local>;  ///< by vector of columns

  Vec number(std::int64_t value, int lanes) const {
    return loopnest::int_splat(value, lanes, Type::kInt32);
  }
  KernelBuffers declare(Builder& builder) const {
    return declare_buffers(builder, task_, constants_.types, true, DataType::kInt32);
  }
  Int block_of_x(Int row, Int block) const {
    return (row * w_.blocks() + block) * cut_.x_elements();
  }

  // ---- the first stage ----

  /// A block of a row.
  loopnest::Function round_x() const {
    Builder builder("round_x");
    const KernelBuffers buffers = declare(builder);
    const std::int64_t words = cut_.words();
    const int lanes = static_cast<int>(std::min<std::int64_t>(cut_.lanes(), words));
    builder.parallel(cut_.rows() * w_.blocks(), [&](Int p) {
      const Int row = p / w_.blocks(), first = p % w_.blocks() * w_.block;
      const auto x_at = [&](Int place) {
        std::optional<Int> active;
        if (w_.k % w_.block != 0)
          active = max(min(Int(w_.k) - (first + place), Int(lanes)), Int(0));
        return builder.load(*buffers.inputs[0], row * w_.k + first + place, lanes, active);
      };
      const auto each_vector = [&](const auto& body) {
        builder.loop("word", 0, words, lanes, body);
      };
      const Local most = builder.local(loopnest::splat(0, lanes));
      each_vector([&](Int word) {
        for (std::int64_t byte = 0; byte < 4; ++byte)
          builder.assign(most, max(builder.get(most), abs(x_at(byte * words + word))));
      });
      const Local largest = builder.local(reduce_max(builder.get(most)));
      const Vec of_block = broadcast(builder.get(largest), lanes);
      const Local steps = builder.local(
          select(loopnest::splat(static_cast<float>(PackedWeights::kSmallest), lanes) < of_block,
                 loopnest::splat(127, lanes) / of_block, loopnest::splat(0, lanes)));
      const Local sum = builder.local(loopnest::splat(0, lanes));
      const Int to = p * cut_.x_elements();
      each_vector([&](Int word) {
        Vec packed = number(0, lanes);
        for (std::int64_t byte = 0; byte < 4; ++byte) {
          const Local rounded =
              builder.local(round_even(x_at(byte * words + word) * builder.get(steps)));
          builder.assign(sum, builder.get(sum) + builder.get(rounded));
          const Vec bits = bit_and(convert(builder.get(rounded), Type::kInt32), number(255, lanes));
          packed = bit_or(packed, shift_left(bits, number(8 * byte, lanes)));
        }
        builder.store(*buffers.workspace, to + word, packed);
      });
      const Vec scale = builder.get(largest) / loopnest::splat(127, 1);
      builder.store(*buffers.workspace, to + words, bits_as(scale, Type::kInt32));
      builder.store(*buffers.workspace, to + words + 1,
                    bits_as(scale * reduce_add(builder.get(sum)), Type::kInt32));
    });
    return builder.finish();
  }

  // ---- the second ----

  loopnest::Function multiply() {
    Builder builder("gemm_nbits_bytes");
    builder_ = &builder;
    buffers_ = declare(builder);
    builder.parallel(cut_.parallel_extent(), [&](Int iteration) {
      const std::int64_t rows = cut_.row_blocks(), columns = cut_.column_blocks();
      column_ = t_.columns_outer != 0 ? iteration / rows : iteration % columns;
      write_block((t_.columns_outer != 0 ? iteration % rows : iteration / columns) * t_.m_block);
    });
    return builder.finish();
  }

  Int constant_at(std::int64_t count, Int i, std::int64_t vector) const {
    return (column_ * count + i) * cut_.block_columns() + vector * cut_.lanes();
  }
  Vec floats_at(std::size_t constant, Int at) const {
    return builder_->load(buffers_.constants[constant], at, cut_.lanes());
  }
  /// An element of the workspace in all lanes.
  Vec word_of_x(Int at) const {
    return builder_->load_as(Type::kInt32, *buffers_.workspace, at, cut_.lanes(), {}, 0);
  }

  /// Rows beyond the last are the last again: they store what it stores.
  void write_block(Int first_row) {
    rows_.clear();
    sums_.clear();
    for (std::int64_t i = 0; i < t_.m_block; ++i) {
      rows_.push_back(i == 0 ? first_row : min(first_row + i, Int(cut_.rows() - 1)));
      sums_.emplace_back();
      for (std::int64_t v = 0; v < t_.n_vectors; ++v)
        sums_.back().push_back(
            builder_->local(constants_.bias ? floats_at(*constants_.bias, constant_at(1, 0, v))
                                            : loopnest::splat(0, cut_.lanes())));
    }
    builder_->loop("block", 0, w_.blocks(), 1, [&](Int block) { add_block(block); });
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (std::size_t v = 0; v < sums_[i].size(); ++v) {
        const Int first =
            column_ * cut_.block_columns() + static_cast<std::int64_t>(v) * cut_.lanes();
        std::optional<Int> active;
        if (w_.n % cut_.block_columns() != 0)
          active = max(min(Int(w_.n) - first, Int(cut_.lanes())), Int(0));
        builder_->store(buffers_.outputs[0], rows_[i] * w_.n + first, builder_->get(sums_[i][v]),
                        active);
      }
  }

  /// Sums of bytes, times the scales of both.
  void add_block(Int block) {
    dots_.clear();
    for (const Row& row : sums_) {
      dots_.emplace_back();
      for (std::size_t v = 0; v < row.size(); ++v)
        dots_.back().push_back(builder_->local(number(0, cut_.lanes())));
    }
    const std::int64_t words = cut_.packed_words(),
                       unrolled = words / t_.word_unroll * t_.word_unroll;
    builder_->loop("word", 0, unrolled, t_.word_unroll, [&](Int word) {
      for (std::int64_t i = 0; i < t_.word_unroll; ++i) add_word(block, word + i);
    });
    for (std::int64_t word = unrolled; word < words; ++word) add_word(block, word);
    scale_block(block);
  }

  void add_word(Int block, Int word) {
    const int lanes = cut_.lanes();
    Row packed;
    for (std::int64_t v = 0; v < t_.n_vectors; ++v)
      packed.push_back(builder_->local(builder_->load_as(
          Type::kInt32, buffers_.constants[0],
          constant_at(w_.blocks() * cut_.packed_words(), block * cut_.packed_words() + word, v),
          lanes)));
    for (std::int64_t e = 0; e < w_.per_byte(); ++e) {
      Row weights;
      for (const Local& local : packed) {
        Vec bits = builder_->get(local);
        if (e > 0) bits = shift_right(bits, number(e * w_.bits, lanes));
        if (w_.per_byte() > 1)
          bits = bit_and(bits, number(((1 << w_.bits) - 1) * 0x01010101LL, lanes));
        weights.push_back(builder_->local(bits_as(bits, Type::kUint8)));
      }
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        const Local x = builder_->local(bits_as(
            word_of_x(block_of_x(rows_[i], block) + word * w_.per_byte() + e), Type::kInt8));
        for (std::size_t v = 0; v < weights.size(); ++v)
          builder_->assign(dots_[i][v], dot(builder_->get(weights[v]), builder_->get(x),
                                            builder_->get(dots_[i][v])));
      }
    }
  }

  Vec zero_at(Int at) const {
    if (constants_.types[*constants_.zero].dtype == DataType::kFloat)
      return floats_at(*constants_.zero, at);
    return convert(
        builder_->load_as(Type::kInt32, buffers_.constants[*constants_.zero], at, cut_.lanes()),
        Type::kFloat);
  }

  void scale_block(Int block) {
    Row scales, zeros;
    for (std::int64_t v = 0; v < t_.n_vectors; ++v) {
      const Int at = constant_at(w_.blocks(), block, v);
      scales.push_back(builder_->local(floats_at(1, at)));
      if (constants_.zero) zeros.push_back(builder_->local(-zero_at(at)));
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Int at = block_of_x(rows_[i], block) + cut_.words();
      const Local scale = builder_->local(bits_as(word_of_x(at), Type::kFloat));
      const Local sum = builder_->local(bits_as(word_of_x(at + 1), Type::kFloat));
      const auto middle = loopnest::splat(static_cast<float>(-w_.middle()), cut_.lanes());
      const Local shift = builder_->local(builder_->get(sum) * middle);
      for (std::size_t v = 0; v < scales.size(); ++v) {
        const Vec shifted =
            constants_.zero ? builder_->get(sum) * builder_->get(zeros[v]) : builder_->get(shift);
        const Vec product =
            fma(convert(builder_->get(dots_[i][v]), Type::kFloat), builder_->get(scale), shifted);
        builder_->assign(sums_[i][v],
                         fma(product, builder_->get(scales[v]), builder_->get(sums_[i][v])));
      }
    }
  }

  const Task& task_;
  const BytesCut& cut_;
  const PackedWeights& w_;
  const BytesTiling& t_;
  NbitsConstants constants_;
  Builder* builder_ = nullptr;  ///< of the second stage
  KernelBuffers buffers_;
  Int column_ = 0;
  std::vector<Int> rows_;
  std::vector<Row> sums_, dots_;
};

}  // namespace

BytesCut::BytesCut(const Task& task, int lanes, bool has_vnni, const BytesTiling& tiling)
    : weights_(reference::packed_weights(task.op.attrs, task.in(reference::kPackedX).shape,
                                         task.in(reference::kPackedWeight).shape)),
      rows_(element_count(task.in(reference::kPackedX).shape) / weights_.k),
      lanes_(lanes),
      has_vnni_(has_vnni),
      tiling_(tiling) {
}

/// Sums, of all and of a block; weights, packed and not; and what is in all lanes.
std::int64_t BytesCut::registers() const {
  const std::int64_t m = tiling_.m_block, n = tiling_.n_vectors;
  return 2 * m * n + n + (weights_.per_byte() > 1 ? n + 2 : 1) + (has_vnni_ ? 0 : 4);
}

double BytesCut::core_cycles() const {
  constexpr double kPorts = 2, kDotWithoutVnni = 3, kScaling = 3, kDotLatency = 5;
  const auto m = static_cast<double>(tiling_.m_block), v = static_cast<double>(tiling_.n_vectors);
  const auto elements = static_cast<double>(weights_.per_byte());
  const double dot = has_vnni_ ? 1 : kDotWithoutVnni;
  const double word = elements * m * v * dot + (elements > 1 ? v * (2 * elements - 1) : 0),
               scaling = kScaling * m * (v + 1);
  const double cycles =
      std::max(static_cast<double>(packed_words()) * word / kPorts + scaling / kPorts,
               // Sums of a few blocks are under way at once.
               static_cast<double>(words()) * kDotLatency / 4);
  return cycles * static_cast<double>(weights_.blocks() * column_blocks() * row_blocks());
}

Kernel build_bytes_product(const Task& task, const BytesCut& cut) {
  return BytesNest(task, cut).build();
}

}  // namespace aoe::compiler
