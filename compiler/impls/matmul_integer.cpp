// matmul_integer: MatMulInteger whose second factor is computed. A first stage lays it out as quads of signed bytes, with what
// the first factor's zero point takes off each column; then each step of a sum is four products. What the second factor's zero
// point takes off a row is summed up beside the products.
#include <algorithm>

#include "compiler/emit/block_cycles.h"
#include "compiler/emit/block_loops.h"
#include "compiler/emit/epilogue.h"
#include "compiler/emit/integer_math.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/emit/narrow_lanes.h"
#include "compiler/emit/register_block.h"
#include "compiler/gemm/matmul_shape.h"
#include "compiler/quant/quant_cut.h"
#include "compiler/tiled_plan.h"

namespace aoe::compiler {
namespace {

enum ByteInput : std::size_t { kLeft, kRight, kLeftZero, kRightZero };

struct ByteTiling {
  std::int64_t m_block = 1;    ///< register block: rows
  std::int64_t n_vectors = 1;  ///< register block: vectors of columns
  std::int64_t k_unroll = 1;   ///< quads written out in the innermost body
  std::int64_t m_tile = 1;     ///< row blocks per parallel iteration
};

/// The product cut up for one tiling.
class ByteCut {
 public:
  ByteCut(const Task& task, int lanes, const ByteTiling& tiling)
      : shape_(matmul_shape(as_quant_product(task)).value()), lanes_(lanes), tiling_(tiling) {}

  ByteCut with(const ByteTiling& tiling) const {
    ByteCut cut = *this;
    cut.tiling_ = tiling;
    return cut;
  }

  const MatMulShape& shape() const { return shape_; }
  const ByteTiling& tiling() const { return tiling_; }
  int lanes() const { return lanes_; }
  std::int64_t quads() const { return ceil_div(shape_.k, 4); }
  std::int64_t vectors() const { return ceil_div(shape_.n, lanes_); }
  std::int64_t columns() const { return vectors() * lanes_; }
  std::int64_t right_matrices() const { return shape_.is_b_shared() ? 1 : shape_.batch(); }
  /// [matrix][quads, then one row that sums begin with][column], of int32.
  std::int64_t matrix_elements() const { return (quads() + 1) * columns(); }
  std::int64_t row_tiles() const {
    return ceil_div(ceil_div(shape_.m, tiling_.m_block), tiling_.m_tile);
  }
  std::int64_t vector_blocks() const { return ceil_div(vectors(), tiling_.n_vectors); }
  std::int64_t parallel_extent() const { return shape_.batch() * row_tiles() * vector_blocks(); }
  std::int64_t registers() const {
    return tiling_.m_block * (tiling_.n_vectors + 1) + tiling_.n_vectors + 2;
  }

  double core_cycles(bool has_vnni) const {
    constexpr double kDotWithoutVnni = 3;
    double cycles = 0;
    for (const BlockRun& rows : even_runs(shape_.m, tiling_.m_block)) {
      for (const BlockRun& run : block_runs(vectors(), tiling_.n_vectors)) {
        const auto m = static_cast<double>(rows.size), v = static_cast<double>(run.size);
        const double dots = m * (v + 1) * (has_vnni ? 1 : kDotWithoutVnni);
        cycles += static_cast<double>(rows.count * run.count) *
                  block_cycles(std::int64_t{4} * lanes_, dots, m, v, 1);
      }
    }
    return cycles * static_cast<double>(quads() * shape_.batch());
  }

 private:
  MatMulShape shape_;
  int lanes_;
  ByteTiling tiling_;
};

class ByteNest {
 public:
  ByteNest(const Task& task, const ByteCut& cut)
      : task_(task), cut_(cut), s_(cut.shape()), t_(cut.tiling()) {}

  Kernel build(const Soc& soc) {
    Kernel kernel = kernel_for("jit");
    if (soc.has(Feature::kVnni)) kernel.needs.add(Feature::kVnni);
    const std::int64_t elements = cut_.right_matrices() * cut_.matrix_elements();
    kernel.workspace_bytes = static_cast<std::size_t>(elements) * sizeof(std::int32_t);
    kernel.stages.push_back(pack_right());
    kernel.stages.push_back(multiply());
    return kernel;
  }

 private:
  struct Block {
    Int batch, row, vector;
    std::int64_t rows, vectors;
    std::vector<Local> sums = {}, row_sums = {};  ///< [row][vector]; of the left factor, by row
  };

  bool is_signed(ByteInput i) const { return task_.in(i).dtype == DataType::kInt8; }
  Vec number(std::int64_t value) const { return int_splat(value, cut_.lanes(), Type::kInt32); }

  KernelBuffers declare(Builder& builder) const {
    return declare_buffers(builder, task_, std::vector<Elements>(), true, DataType::kInt32);
  }

  /// Moved with the bytes: the left factor becomes unsigned, the right one signed.
  Vec zero_point(Builder& builder, const KernelBuffers& buffers, ByteInput i) const {
    const std::int64_t moved =
        i == kLeftZero ? (is_signed(kLeft) ? 128 : 0) : (is_signed(kRight) ? 0 : -128);
    if (!task_.has_input(i)) return number(moved);
    if (const auto known = scalar_constant(task_.inputs[i]))
      return number(static_cast<std::int64_t>(*known) + moved);
    return builder.load_as(Type::kInt32, *buffers.inputs[i], 0, cut_.lanes(), {}, 0) +
           number(moved);
  }

  /// Whether the right factor's zero point is known to be none when its bytes are signed.
  bool is_centred() const {
    const auto known = task_.has_input(kRightZero) ? scalar_constant(task_.inputs[kRightZero])
                                                   : std::optional(0.0);
    return known && *known == (is_signed(kRight) ? 0 : 128);
  }

  std::optional<Int> active(Int vector) const {
    if (s_.n % cut_.lanes() == 0) return {};
    return Int(s_.n) - vector * cut_.lanes();
  }

  /// A vector of columns per iteration.
  loopnest::Function pack_right() const {
    Builder builder("pack_right");
    const KernelBuffers buffers = declare(builder);
    builder.parallel(cut_.right_matrices() * cut_.vectors(), [&](Int p) {
      const Int matrix = p / cut_.vectors(), vector = p % cut_.vectors();
      const Int from = matrix * (s_.k * s_.n) + vector * cut_.lanes();
      const Int to = matrix * cut_.matrix_elements() + vector * cut_.lanes();
      const Local total = builder.local(number(0));
      const auto write = [&](Int quad, std::int64_t bytes) {
        Vec packed = number(0);
        for (std::int64_t b = 0; b < bytes; ++b) {
          const Vec loaded =
              builder.load_as(Type::kInt32, *buffers.inputs[kRight], from + (quad * 4 + b) * s_.n,
                              cut_.lanes(), active(vector));
          const Vec x =
              builder.get(builder.local(is_signed(kRight) ? loaded : loaded - number(128)));
          builder.assign(total, builder.get(total) + x);
          packed = builder.get(
              builder.local(bit_or(packed, shift_left(bit_and(x, number(255)), number(8 * b)))));
        }
        builder.store(*buffers.workspace, to + quad * cut_.columns(), packed);
      };
      builder.loop("quad", 0, s_.k / 4, 1, [&](Int quad) { write(quad, 4); });
      if (s_.k % 4 != 0) write(s_.k / 4, s_.k % 4);
      const Vec left = zero_point(builder, buffers, kLeftZero);
      const Vec right = zero_point(builder, buffers, kRightZero);
      builder.store(*buffers.workspace, to + cut_.quads() * cut_.columns(),
                    left * (right * number(s_.k) - builder.get(total)));
    });
    return builder.finish();
  }

  loopnest::Function multiply() {
    Builder builder("matmul_integer");
    buffers_ = declare(builder);
    builder.parallel(cut_.parallel_extent(), [&](Int p) {
      const Int batch = p / (cut_.row_tiles() * cut_.vector_blocks());
      const Int block = p / cut_.row_tiles() % cut_.vector_blocks(), tile = p % cut_.row_tiles();
      each_block(builder, block_runs(cut_.vectors(), t_.n_vectors), block, 1, "column",
                 [&](Int vector, std::int64_t vectors, Int) {
                   each_block(builder, even_runs(s_.m, t_.m_block), tile, t_.m_tile, "row",
                              [&](Int row, std::int64_t rows, Int) {
                                write_block(builder, {batch, row, vector, rows, vectors});
                              });
                 });
    });
    return builder.finish();
  }

  void write_block(Builder& builder, Block block) const {
    const Int matrix = s_.is_b_shared() ? Int(0) : block.batch;
    const Int right = matrix * cut_.matrix_elements() + block.vector * cut_.lanes();
    const Int left = s_.a.matrix(block.batch, s_.batch_dims) + block.row * s_.a.row;
    for (std::int64_t r = 0; r < block.rows; ++r) {
      if (!is_centred()) block.row_sums.push_back(builder.local(number(0)));
      for (std::int64_t v = 0; v < block.vectors; ++v) {
        const Int first = right + cut_.quads() * cut_.columns() + v * cut_.lanes();
        block.sums.push_back(
            builder.local(builder.load_as(Type::kInt32, *buffers_.workspace, first, cut_.lanes())));
      }
    }
    const std::int64_t whole = s_.k / 4, unrolled = whole / t_.k_unroll * t_.k_unroll;
    builder.loop("quad", 0, unrolled, t_.k_unroll, [&](Int quad) {
      for (std::int64_t u = 0; u < t_.k_unroll; ++u)
        write_step(builder, block, left, right, quad + u, 4);
    });
    for (std::int64_t quad = unrolled; quad < whole; ++quad)
      write_step(builder, block, left, right, quad, 4);
    if (s_.k % 4 != 0) write_step(builder, block, left, right, whole, s_.k % 4);
    store(builder, block);
  }

  void write_step(Builder& builder, const Block& block, Int left, Int right, Int quad,
                  std::int64_t bytes) const {
    const RegisterBlock products{.rows = block.rows,
                                 .vectors = block.vectors,
                                 .sums = block.sums,
                                 .multiply_add = loopnest::dot};
    products.step(
        builder,
        [&](std::int64_t v) {
          const Vec words =
              builder.load_as(Type::kInt32, *buffers_.workspace,
                              right + quad * cut_.columns() + v * cut_.lanes(), cut_.lanes());
          return builder.local(bits_as(words, Type::kInt8));
        },
        [&](std::int64_t r) {
          const Local x = builder.local(left_quad(builder, left + r * s_.a.row + quad * 4, bytes));
          if (!is_centred()) {
            const Local& sum = block.row_sums[static_cast<std::size_t>(r)];
            const Vec ones = int_splat(1, 4 * cut_.lanes(), Type::kInt8);
            builder.assign(sum, dot(builder.get(x), ones, builder.get(sum)));
          }
          return x;
        });
  }

  /// Of unsigned bytes; one at the end of a row is put together.
  Vec left_quad(Builder& builder, Int at, std::int64_t bytes) const {
    const loopnest::Buffer x = *buffers_.inputs[kLeft];
    if (bytes == 4) {
      const Type type = is_signed(kLeft) ? Type::kInt8 : Type::kUint8;
      const Vec all = broadcast(builder.load_as(type, x, at, 4), 4 * cut_.lanes());
      return is_signed(kLeft) ? flip_signs(all) : all;
    }
    Vec quad = number(0);
    for (std::int64_t b = 0; b < bytes; ++b) {
      const Vec byte = builder.load_as(Type::kInt32, x, at + b, cut_.lanes(), {}, 0) +
                       number(is_signed(kLeft) ? 128 : 0);
      quad = bit_or(quad, shift_left(byte, number(8 * b)));
    }
    return bits_as(quad, Type::kUint8);
  }

  void store(Builder& builder, const Block& block) const {
    std::size_t next = 0;
    for (std::int64_t r = 0; r < block.rows; ++r) {
      for (std::int64_t v = 0; v < block.vectors; ++v) {
        Vec sum = builder.get(block.sums[next++]);
        if (!is_centred())
          sum = sum - zero_point(builder, buffers_, kRightZero) *
                          builder.get(block.row_sums[static_cast<std::size_t>(r)]);
        const Int row = block.batch * s_.m + block.row + r, vector = block.vector + v;
        builder.store(buffers_.outputs[0], row * s_.n + vector * cut_.lanes(), sum, active(vector));
      }
    }
  }

  const Task& task_;
  const ByteCut& cut_;
  const MatMulShape& s_;
  const ByteTiling& t_;
  KernelBuffers buffers_;
};

TilingAxes<ByteTiling> byte_axes(const ByteCut& any, const Soc&) {
  using T = ByteTiling;
  const MatMulShape& s = any.shape();
  return {{"m_block", &T::m_block, least_blocks(s.m, 12)},
          {"n_vectors", &T::n_vectors, up_to(any.vectors(), {1, 2, 3, 4, 6})},
          {"k_unroll", &T::k_unroll, powers_of_two(std::clamp<std::int64_t>(s.k / 4, 1, 8))},
          {"m_tile", &T::m_tile, powers_of_two(std::min<std::int64_t>(64, s.m))}};
}

class BytePlan final : public RetiledPlan<ByteTiling, ByteCut> {
 public:
  BytePlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : RetiledPlan(task, format, soc, ByteCut(task, soc.vector_lanes(), {}), byte_axes) {}

 private:
  using T = ByteTiling;

  bool fits(const ByteCut& cut) const override {
    const T& t = cut.tiling();
    const int spare = soc().has(Feature::kVnni) ? 0 : 4;  // widened factors
    return cut.registers() + spare <= soc().vector_registers() && t.n_vectors <= cut.vectors() &&
           t.m_tile <= ceil_div(cut.shape().m, t.m_block) &&
           t.m_block * (t.n_vectors + 1) * t.k_unroll <= kMaxBodyDots;
  }

  double cycles(const ByteCut& cut) const override {
    return shared(cut.core_cycles(soc().has(Feature::kVnni)), cut);
  }

  T best() const override {
    T best = fewest_cycles_in_l1(tilings().all({}, {&T::m_block, &T::n_vectors}),
                                 any().shape().a.row, [](const T& t) { return t.m_block; });
    best = tilings().with_last(best, &T::k_unroll, [&](const T& t) {
      return t.m_block * t.n_vectors * t.k_unroll <= kGoodBodyFmas && is_legal(t);
    });
    return with_tile_for_threads(best, &T::m_tile);
  }

  Features features_of(const ByteCut& cut) const override {
    const T& t = cut.tiling();
    return {{"flops", flops(task())},
            {"bytes", bytes_moved(task())},
            {"core_cycles", cut.core_cycles(soc().has(Feature::kVnni))},
            {"accumulators", static_cast<double>(t.m_block * t.n_vectors)},
            {"k_unroll", static_cast<double>(t.k_unroll)},
            {"iterations", static_cast<double>(cut.parallel_extent())},
            {"balance", parallel_balance(soc(), cut.parallel_extent())}};
  }

  double estimate_of(const ByteCut& cut) const override {
    const double packed = static_cast<double>(cut.right_matrices() * cut.matrix_elements()) * 8;
    const double compute = shared(cycles_ns(cut.core_cycles(soc().has(Feature::kVnni))), cut);
    return 2 * launch_ns(soc()) + memory_ns(soc(), packed) +
           std::max(compute, memory_ns(soc(), bytes_moved(task())));
  }

  Kernel kernel_of(const ByteCut& cut) const override { return ByteNest(task(), cut).build(soc()); }

  static constexpr std::int64_t kMaxBodyDots = 1024;
};

class MatMulInteger final : public ImplBy<BytePlan> {
 public:
  std::string_view name() const override { return "matmul_integer"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (task.op.type != "MatMulInteger") return Unexpected("does not compute " + task.op.type);
    const Result<MatMulShape> shape = matmul_shape(as_quant_product(task));
    if (!shape) return Unexpected(shape.error());
    for (const ByteInput i : {kLeft, kRight}) {
      if (task.inputs[i].constant)
        return Unexpected("factor " + std::to_string(i) + " is constant");
      if (size_bytes(task.in(i).dtype) != 1)
        return Unexpected(to_string(task.in(i)) + ", needs int8 or uint8");
    }
    for (std::size_t i = kLeftZero; i < task.inputs.size(); ++i)
      if (task.inputs[i].is_present() && element_count(task.in(i).shape) != 1)
        return Unexpected("zero points " + to_string(task.in(i)) + ", needs one");
    const std::int64_t matrices = element_count(task.in(kRight).shape) / (shape->k * shape->n);
    if (!shape->is_b_shared() && matrices != shape->batch())
      return Unexpected(std::to_string(matrices) + " right factors for " +
                        std::to_string(shape->batch()) + " products");
    return {};
  }
};

}  // namespace

void register_matmul_integer(ImplRegistry& registry) {
  registry.add(std::make_unique<MatMulInteger>());
}

}  // namespace aoe::compiler
