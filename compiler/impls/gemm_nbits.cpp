// gemm_nbits: generated WeightQuantBatchMatmulV2: products with weights of 2, 4 or 8 bits, read packed. Of few rows, as
// when a language model writes, such a product takes as long as its weights take from memory: an eighth of float32's.
//
// A block of the output is m_block rows x n_vectors vectors of columns in registers. A byte of the packed weights holds
// neighbouring elements of a column; a vector of bytes becomes vectors of weights, q * scale - zero * scale, each of which
// meets one element of each row. Of few rows, weights are unpacked anew for each m_block of them, in registers; of many, as
// in a long prompt, a block of columns is unpacked once, into a panel in scratch memory, for panel_rows of them.
//
// Of the very fewest rows, sums of q * x are made for each block of weights that shares a scale, and scaled then: one
// multiplication a weight instead of two.
#include <algorithm>

#include "compiler/integer_math.h"
#include "compiler/kernel_buffers.h"
#include "compiler/plain_task.h"
#include "compiler/tiled_plan.h"
#include "reference/packed_weights.h"

namespace aoe::compiler {
namespace {

using loopnest::Buffer;
using loopnest::Builder;
using loopnest::Int;
using loopnest::Local;
using loopnest::Type;
using loopnest::Vec;
using reference::PackedWeights;

/// A Schedule by name.
struct PackedTiling {
  std::int64_t m_block = 1;        ///< register block: rows
  std::int64_t n_vectors = 1;      ///< register block: vectors of columns
  std::int64_t byte_unroll = 1;    ///< bytes of a column written out in the innermost body
  std::int64_t columns_outer = 0;  ///< 1: rows vary fastest between parallel iterations
  std::int64_t panel_rows = 0;     ///< that share a panel; 0: none, weights stay in registers
};

constexpr std::int64_t kMaxPackedFmas = 512;  ///< written out per kernel
constexpr std::int64_t kGoodUnrolledFmas = 64;
constexpr double kUnpackCost =
    3;  ///< vector operations for a vector of weights: mask, shift, convert
constexpr double kScaleCost = 1;              ///< and to scale each
constexpr std::int64_t kMaxBlockSumRows = 3;  ///< more rows share a scaled weight
constexpr double kPanelCost = 1.5;            ///< to store it in a panel, too

class PackedCut {
 public:
  PackedCut(const Task& task, int lanes, const PackedTiling& tiling)
      : weights_(reference::packed_weights(task.op.attrs, task.in(reference::kPackedX).shape,
                                           task.in(reference::kPackedWeight).shape)),
        rows_(element_count(task.in(reference::kPackedX).shape) / weights_.k),
        lanes_(lanes),
        tiling_(tiling) {}

  PackedCut with(const PackedTiling& tiling) const {
    PackedCut other = *this;
    other.tiling_ = tiling;
    return other;
  }

  const PackedWeights& weights() const { return weights_; }
  const PackedTiling& tiling() const { return tiling_; }
  std::int64_t rows() const { return rows_; }
  int lanes() const { return lanes_; }
  std::int64_t block_columns() const { return tiling_.n_vectors * lanes_; }
  std::int64_t column_blocks() const {
    return (weights_.n + block_columns() - 1) / block_columns();
  }
  std::int64_t row_blocks() const { return (rows_ + tiling_.m_block - 1) / tiling_.m_block; }
  bool has_panel() const { return tiling_.panel_rows > 0; }
  /// Blocks of rows that one parallel iteration goes through.
  std::int64_t group_blocks() const {
    return has_panel() ? std::max<std::int64_t>(1, tiling_.panel_rows / tiling_.m_block) : 1;
  }
  std::int64_t row_groups() const { return (row_blocks() + group_blocks() - 1) / group_blocks(); }
  std::int64_t parallel_extent() const { return column_blocks() * row_groups(); }
  std::int64_t panel_elements() const { return has_panel() ? weights_.k * block_columns() : 0; }
  /// Whether sums are scaled once a block of weights, rather than weights.
  bool scales_sums() const { return !has_panel() && tiling_.m_block <= kMaxBlockSumRows; }
  /// Sums; of a block, or its scales and shifts; and what is unpacked.
  std::int64_t registers() const {
    const std::int64_t m = tiling_.m_block, n = tiling_.n_vectors;
    return scales_sums() ? (2 * m + 1) * n + m + 3 : (m + 2) * n + 3;
  }
  std::int64_t body_fmas() const {
    return tiling_.byte_unroll * weights_.per_byte() * tiling_.n_vectors * (tiling_.m_block + 1);
  }
  /// Bytes of a column, padding included, for a whole block of columns.
  std::int64_t column_bytes() const { return weights_.row_bytes(); }

  double core_cycles() const {
    constexpr double kFmaLatency = 4, kPorts = 2;
    const auto m = static_cast<double>(tiling_.m_block), v = static_cast<double>(tiling_.n_vectors);
    const double unpacked = has_panel() ? 0 : kUnpackCost + (scales_sums() ? 0 : kScaleCost);
    const double per_element = std::max(kFmaLatency, v * (m + unpacked) / kPorts);
    const double panels = has_panel() ? static_cast<double>(parallel_extent()) * v *
                                            (kUnpackCost + kScaleCost + kPanelCost) / kPorts
                                      : 0;
    return static_cast<double>(weights_.k) *
           (static_cast<double>(column_blocks() * row_blocks()) * per_element + panels);
  }

 private:
  PackedWeights weights_;
  std::int64_t rows_;
  int lanes_;
  PackedTiling tiling_;
};

/// By block of columns: [block of columns][index][column], `value(row of the weights, index)` below N, zeros beyond.
template <typename T, typename Value>
PackedConstant by_columns(const PackedCut& cut, std::int64_t count, Value value) {
  const std::int64_t columns = cut.block_columns(), blocks = cut.column_blocks();
  return {.size_bytes = static_cast<std::size_t>(blocks * count * columns) * sizeof(T),
          .pack = [=, n = cut.weights().n](void* destination) {
            T* to = static_cast<T*>(destination);
            for (std::int64_t block = 0; block < blocks; ++block)
              for (std::int64_t i = 0; i < count; ++i)
                for (std::int64_t column = 0; column < columns; ++column) {
                  const std::int64_t row = block * columns + column;
                  *to++ = row < n ? value(row, i) : T{};
                }
          }};
}

class PackedNest {
 public:
  PackedNest(const Task& task, const PackedCut& cut)
      : cut_(cut), w_(cut.weights()), t_(cut.tiling()) {
    using namespace reference;
    const auto constant = [&](std::size_t i) -> ConstantPtr {
      return i < task.inputs.size() ? task.inputs[i].constant : nullptr;
    };
    const auto add = [&](PackedConstant packed, DataType dtype) {
      constants_.push_back(std::move(packed));
      types_.push_back(dtype);
      return constants_.size() - 1;
    };
    const auto floats = [](const ConstantPtr& of, std::int64_t row_length) {
      return [=](std::int64_t row, std::int64_t i) {
        return static_cast<const float*>(of->data())[row * row_length + i];
      };
    };
    add(by_columns<std::uint8_t>(cut, w_.row_bytes(),
                                 [of = constant(kPackedWeight), bytes = w_.row_bytes()](
                                     std::int64_t row, std::int64_t i) {
                                   return static_cast<const std::uint8_t*>(
                                       of->data())[row * bytes + i];
                                 }),
        DataType::kUint8);
    add(by_columns<float>(cut, w_.blocks(), floats(constant(kPackedScale), w_.blocks())),
        DataType::kFloat);
    if (const ConstantPtr zero = constant(kPackedZero)) {
      if (zero->desc().dtype == DataType::kUint8) {
        zero_ = add(by_columns<std::uint8_t>(cut, w_.blocks(),
                                             [zero, w = w_](std::int64_t row, std::int64_t i) {
                                               const auto* bytes =
                                                   static_cast<const std::uint8_t*>(zero->data());
                                               return static_cast<std::uint8_t>(
                                                   w.at(bytes + row * w.zero_row_bytes(), i));
                                             }),
                    DataType::kUint8);
      } else {
        zero_ =
            add(by_columns<float>(cut, w_.blocks(), floats(zero, w_.blocks())), DataType::kFloat);
      }
    }
    if (const ConstantPtr bias = constant(kPackedBias))
      bias_ = add(by_columns<float>(cut, 1, floats(bias, 1)), DataType::kFloat);
    buffers_ = declare_buffers(builder_, task, types_);
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
    return jit_kernel(builder_.finish(), std::move(constants_));
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
            bias_ ? builder_.load(constant(*bias_), constant_at(1, 0, v), cut_.lanes())
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
    if (!zero_) return loopnest::splat(static_cast<float>(w_.middle()), cut_.lanes());
    if (types_[*zero_] == DataType::kFloat)
      return builder_.load(constant(*zero_), at, cut_.lanes());
    return convert(bytes_at(*zero_, at), Type::kFloat);
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
  std::vector<PackedConstant> constants_;
  std::vector<DataType> types_;
  std::optional<std::size_t> zero_, bias_;
  std::optional<Buffer> panel_;
  KernelBuffers buffers_;
  Int column_ = 0;
  std::vector<Int> rows_;
  std::vector<Row> sums_;
  Row scales_, shifts_;
};

TilingAxes<PackedTiling> axes_of(const PackedCut& any) {
  using T = PackedTiling;
  const std::int64_t vectors = (any.weights().n + any.lanes() - 1) / any.lanes();
  std::vector<std::int64_t> panel_rows = {0};
  for (const std::int64_t rows : {32, 128, 512})
    if (rows / 2 < any.rows()) panel_rows.push_back(rows);
  return {{"m_block", &T::m_block, up_to(any.rows(), {1, 2, 3, 4, 6, 8, 12})},
          {"n_vectors", &T::n_vectors, up_to(vectors, {1, 2, 3, 4, 6, 8})},
          {"byte_unroll", &T::byte_unroll,
           powers_of_two(std::min<std::int64_t>(16, any.weights().block_bytes()))},
          {"columns_outer", &T::columns_outer, {0, 1}},
          {"panel_rows", &T::panel_rows, panel_rows}};
}

class PackedPlan final : public TiledPlan<PackedTiling, PackedCut> {
 public:
  PackedPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : PackedPlan(task, format, soc, PackedCut(task, soc.vector_lanes, {})) {}

 private:
  using T = PackedTiling;

  PackedPlan(const Task& task, const FormatChoice& format, const Soc& soc, const PackedCut& any)
      : TiledPlan(task, format, soc, axes_of(any)), any_(any) {}

  PackedCut cut(const T& tiling) const override { return any_.with(tiling); }

  bool fits(const PackedCut& cut) const override {
    return cut.registers() <= soc().vector_registers && cut.body_fmas() <= kMaxPackedFmas &&
           cut.panel_elements() * std::int64_t{sizeof(float)} <= soc().l2_bytes / 2;
  }

  double cycles(const PackedCut& cut) const override { return shared(cut.core_cycles(), cut); }

  T best() const override {
    const T block = fewest_cycles(tilings().all({}, {&T::m_block, &T::n_vectors, &T::panel_rows}));
    return tilings().with_last(block, &T::byte_unroll, [&](const T& t) {
      return is_legal(t) && cut(t).body_fmas() <= kGoodUnrolledFmas;
    });
  }

  Features features_of(const PackedCut& cut) const override {
    const T& t = cut.tiling();
    return {{"flops", flops(task())},
            {"bytes", bytes_moved(task())},
            {"core_cycles", cut.core_cycles()},
            {"registers", static_cast<double>(cut.registers()) / soc().vector_registers},
            {"rows", static_cast<double>(t.m_block)},
            {"vectors", static_cast<double>(t.n_vectors)},
            {"body_fmas", static_cast<double>(cut.body_fmas())},
            {"columns_outer", static_cast<double>(t.columns_outer)},
            {"panel_rows", static_cast<double>(t.panel_rows)},
            {"panel_per_l2", static_cast<double>(cut.column_bytes() * cut.block_columns()) /
                                 static_cast<double>(soc().l2_bytes)},
            {"balance", parallel_balance(soc(), cut.parallel_extent())}};
  }

  double estimate_of(const PackedCut& cut) const override {
    return launch_ns(soc()) + std::max(shared(cycles_ns(cut.core_cycles()), cut),
                                       memory_ns(soc(), bytes_moved(task())));
  }

  Kernel kernel_of(const PackedCut& cut) const override { return PackedNest(task(), cut).build(); }

  PackedCut any_;  ///< of any tiling
};

class GemmNbits final : public ImplBy<PackedPlan> {
 public:
  std::string_view name() const override { return "gemm_nbits"; }
  int version() const override { return 3; }
  /// Zero points are taken off behind the sum: infinity less infinity.
  NotFinite not_finite() const override { return NotFinite::kAndAround; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (auto plain = supports_plain(task, {"WeightQuantBatchMatmulV2"}); !plain) return plain;
    for (std::size_t i = reference::kPackedWeight; i < task.inputs.size(); ++i)
      if (task.inputs[i].is_present() && !task.inputs[i].constant)
        return Unexpected("weights, scales or zero points are computed");
    if (element_count(task.in(0).shape) == 0 || element_count(task.out().shape) == 0)
      return Unexpected("there is nothing to multiply");
    const bool has_zeros = task.inputs.size() > reference::kPackedZero &&
                           task.inputs[reference::kPackedZero].is_present();
    const DataType zeros = has_zeros ? task.in(reference::kPackedZero).dtype : DataType::kUint8;
    if (zeros != DataType::kUint8 && zeros != DataType::kFloat)
      return Unexpected("zero points are " + to_string(task.in(reference::kPackedZero)));
    return {};
  }
};

}  // namespace

void register_gemm_nbits(ImplRegistry& registry) {
  registry.add(std::make_unique<GemmNbits>());
}

}  // namespace aoe::compiler
