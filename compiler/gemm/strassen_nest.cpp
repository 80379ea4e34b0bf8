// Writes the two stages of Strassen's product for one StrassenCut.
#include "compiler/gemm/strassen_nest.h"

#include <algorithm>
#include <array>

#include "compiler/emit/integer_math.h"
#include "compiler/emit/register_block.h"

namespace aoe::compiler {
namespace {

/// Signs of the blocks 11, 12, 21 and 22: what product i multiplies, and where it is added.
using Signs = std::array<int, 4>;
struct Product {
  Signs a, b, c;
};
constexpr std::array<Product, kStrassenProducts> kProducts = {{
    {{1, 0, 0, 1}, {1, 0, 0, 1}, {1, 0, 0, 1}},
    {{0, 0, 1, 1}, {1, 0, 0, 0}, {0, 0, 1, -1}},
    {{1, 0, 0, 0}, {0, 1, 0, -1}, {0, 1, 0, 1}},
    {{0, 0, 0, 1}, {-1, 0, 1, 0}, {1, 0, 1, 0}},
    {{1, 1, 0, 0}, {0, 0, 0, 1}, {-1, 1, 0, 0}},
    {{-1, 0, 1, 0}, {1, 1, 0, 0}, {0, 0, 0, 1}},
    {{0, 1, 0, -1}, {0, 0, 1, 1}, {1, 0, 0, 0}},
}};

bool is_first(std::size_t product, std::size_t block) {
  return std::all_of(kProducts.begin(), kProducts.begin() + static_cast<std::ptrdiff_t>(product),
                     [&](const Product& p) { return p.c[block] == 0; });
}
bool is_last(std::size_t product, std::size_t block) {
  return std::all_of(kProducts.begin() + static_cast<std::ptrdiff_t>(product) + 1, kProducts.end(),
                     [&](const Product& p) { return p.c[block] == 0; });
}

PackedConstant pack_sums(const StrassenCut& cut,
                         const std::shared_ptr<StrassenOperands>& operands) {
  const auto elements = static_cast<std::size_t>(cut.b_elements());
  return {.size_bytes = elements * sizeof(float), .pack = [cut, operands](void* destination) {
            const MatMulShape& s = cut.shape();
            auto* to = static_cast<float*>(destination);
            const auto at = [&](std::size_t block, std::int64_t k, std::int64_t column) {
              if (block >= 2) k += cut.half_k();
              if (block % 2 == 1) column += cut.half_n();
              return k < s.k && column < s.n ? operands->b_at(k, column) : 0.0f;
            };
            const auto sum_at = [&](const Product& product, std::int64_t k, std::int64_t column) {
              float sum = 0;
              for (std::size_t block = 0; block < 4 && column < cut.half_n(); ++block) {
                if (product.b[block] == 0) continue;
                sum += static_cast<float>(product.b[block]) * at(block, k, column);
              }
              return sum;
            };
            const std::int64_t width = cut.half().panel_columns(), tile = cut.tiling().n_tile;
            const std::int64_t steps = cut.k_per_tile();
            for (std::int64_t first = 0; first < cut.half().panels(); first += tile)
              for (std::int64_t first_k = 0; first_k < cut.half_k(); first_k += steps)
                for (const Product& product : kProducts)
                  for (std::int64_t panel = first; panel < first + tile; ++panel)
                    for (std::int64_t k = first_k; k < first_k + steps; ++k)
                      for (std::int64_t j = panel * width; j < (panel + 1) * width; ++j)
                        *to++ = sum_at(product, k, j);
          }};
}

class StrassenNest {
 public:
  StrassenNest(const Task& task, const StrassenCut& cut,
               const std::shared_ptr<StrassenOperands>& operands)
      : task_(task), cut_(cut), t_(cut.tiling()), operands_(*operands) {
    constants_.push_back(pack_sums(cut, operands));
    operands_.add_constants(constants_);
  }

  Kernel build() {
    Kernel kernel = kernel_for("jit");
    kernel.workspace_bytes = static_cast<std::size_t>(cut_.a_elements()) * sizeof(float);
    kernel.stages = {add_rows(), multiply()};
    kernel.constants = std::move(constants_);
    return kernel;
  }

 private:
  /// One of the seven products, of one tile of k.
  struct Pass {
    std::size_t product;
    Int a, b;  ///< where its sums begin
    bool is_first_k, is_last_k;
  };
  struct Block {
    Int row, column;  ///< of the first output, in a block of C
    std::int64_t rows, vectors;
    Int row_number, panel_number;  ///< among the row blocks, and the panels of the tile
    std::vector<Local> sums;       ///< [row][vector]
  };

  KernelBuffers declare(Builder& builder) const {
    return declare_buffers(builder, task_, constants_.size(), true);
  }

  // ---- the sums of A ----

  loopnest::Function add_rows() const {
    Builder builder("strassen_rows");
    const KernelBuffers buffers = declare(builder);
    builder.parallel(cut_.half_m(), [&](Int row) {
      builder.loop("k_tile", 0, cut_.half_k(), cut_.k_per_tile(), [&](Int first_k) {
        builder.loop("k", 0, cut_.k_per_tile(), cut_.lanes(),
                     [&](Int k) { add_vectors(builder, buffers, row, first_k, k); });
      });
    });
    return builder.finish();
  }

  /// Step `step` of the tile of k that begins at `first_k`.
  void add_vectors(Builder& builder, const KernelBuffers& buffers, Int row, Int first_k,
                   Int step) const {
    const Int k = first_k + step;
    std::vector<Vec> a;
    for (std::int64_t block = 0; block < 4; ++block) {
      const bool is_lower = block >= 2, is_right = block % 2 == 1;
      const Int from =
          operands_.a_index(is_lower ? row + cut_.half_m() : row, is_right ? k + cut_.half_k() : k);
      a.push_back(builder.get(builder.local(builder.load(*buffers.inputs[0], from, cut_.lanes(),
                                                         existing(is_lower, is_right, row, k)))));
    }
    for (std::size_t i = 0; i < kProducts.size(); ++i) {
      const Int to = first_k * (kStrassenProducts * cut_.half_m()) +
                     (static_cast<std::int64_t>(i) * cut_.half_m() + row) * cut_.k_per_tile() +
                     step;
      builder.store(*buffers.workspace, to, signed_sum(a, kProducts[i].a));
    }
  }

  static Vec signed_sum(const std::vector<Vec>& blocks, const Signs& signs) {
    std::optional<Vec> sum;
    for (const int sign : {1, -1}) {  // what is subtracted has something to be subtracted from
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (signs[i] != sign) continue;
        sum = !sum ? blocks[i] : sign > 0 ? *sum + blocks[i] : *sum - blocks[i];
      }
    }
    return *sum;
  }

  /// Lanes of A that there are; nothing where all are.
  std::optional<Int> existing(bool is_lower, bool is_right, Int row, Int k) const {
    const bool may_lack_row = is_lower && cut_.rows_left() < cut_.half_m();
    const std::int64_t steps_left =
        operands_.is_a_padded() ? round_up(cut_.steps_left(), cut_.lanes()) : cut_.steps_left();
    const bool may_lack_steps = is_right && steps_left < cut_.half_k();
    if (!may_lack_row && !may_lack_steps) return std::nullopt;
    Int lanes = cut_.lanes();
    if (may_lack_steps) lanes = min(lanes, max(Int(steps_left) - k, 0));
    if (may_lack_row) lanes = lanes * min(max(Int(cut_.rows_left()) - row, 0), 1);
    return lanes;
  }

  // ---- the seven products ----

  loopnest::Function multiply() {
    Builder builder("strassen");
    const KernelBuffers buffers = declare(builder);
    const loopnest::Buffer c = builder.scratch("c", cut_.c_elements());
    builder.parallel(cut_.parallel_extent(), [&](Int panel_tile) {
      each_k_tile(builder, cut_.half_k(), cut_.k_per_tile(),
                  [&](Int first_k, std::int64_t, bool is_first, bool is_last) {
                    for (std::size_t product = 0; product < kProducts.size(); ++product)
                      write_pass(builder, buffers, c, panel_tile,
                                 pass_of(panel_tile, first_k, product, is_first, is_last));
                  });
    });
    return builder.finish();
  }

  Pass pass_of(Int panel_tile, Int first_k, std::size_t product, bool is_first,
               bool is_last) const {
    const auto i = static_cast<std::int64_t>(product);
    const std::int64_t columns = t_.n_tile * cut_.half().panel_columns();
    const Int before = panel_tile * cut_.half_k() + first_k;  // steps, times products and columns
    return {
        .product = product,
        .a = first_k * (kStrassenProducts * cut_.half_m()) + i * cut_.half_m() * cut_.k_per_tile(),
        .b = before * (kStrassenProducts * columns) + i * cut_.k_per_tile() * columns,
        .is_first_k = is_first,
        .is_last_k = is_last};
  }

  /// Rows outside, panels inside: a block of A's rows stays in L1, the panels' part of B in L2.
  void write_pass(Builder& builder, const KernelBuffers& buffers, loopnest::Buffer c,
                  Int panel_tile, const Pass& pass) const {
    const auto panels = block_runs(cut_.half_n(), cut_.half().panel_columns());
    const auto row_blocks = even_runs(cut_.half_m(), t_.m_block);
    each_block(builder, row_blocks, 0, cut_.half().row_blocks(), "row",
               [&](Int row, std::int64_t rows, Int row_number) {
                 each_block(builder, panels, panel_tile, t_.n_tile, "panel",
                            [&](Int column, std::int64_t columns, Int number) {
                              Block block{row,        column, rows, columns / cut_.lanes(),
                                          row_number, number, {}};
                              write_block(builder, buffers, c, pass, block);
                            });
               });
  }

  void write_block(Builder& builder, const KernelBuffers& buffers, loopnest::Buffer c,
                   const Pass& pass, Block& block) const {
    for (std::int64_t i = 0; i < block.rows * block.vectors; ++i)
      block.sums.push_back(builder.local(loopnest::splat(0.0f, cut_.lanes())));
    const std::int64_t width = cut_.half().panel_columns(), steps = cut_.k_per_tile();
    const Int a = pass.a + block.row * steps, b = pass.b + block.panel_number * (steps * width);
    builder.loop("k", 0, steps, t_.k_unroll, [&](Int k) {
      for (std::int64_t u = 0; u < t_.k_unroll; ++u)
        write_step(builder, buffers, block, a + k + u, b + k * width + u * width);
      if (t_.prefetch_panel != 0) prefetch(builder, buffers, pass, block, k);
    });
    for (std::size_t at = 0; at < 4; ++at)
      if (kProducts[pass.product].c[at] != 0) add_to(builder, buffers, c, pass, at, block);
  }

  /// While row block n passes over the tile, it fetches the n-th part of what the next product multiplies with, which lies
  /// behind.
  void prefetch(Builder& builder, const KernelBuffers& buffers, const Pass& pass,
                const Block& block, Int k) const {
    const std::int64_t width = cut_.half().panel_columns(), steps = cut_.k_per_tile();
    const std::int64_t iterations = steps / t_.k_unroll;  // with one panel
    const Int passed = block.panel_number * iterations + k / t_.k_unroll;
    const std::int64_t rows = ceil_div(t_.k_unroll, cut_.half().row_blocks());
    const Int next = pass.b + t_.n_tile * steps * width +
                     (block.row_number * (t_.n_tile * iterations) + passed) * (rows * width);
    const std::int64_t line = 64 / std::int64_t{sizeof(float)};
    for (std::int64_t at = 0; at < rows * width; at += line)
      builder.prefetch(buffers.constants[0], next + at, t_.panel_cache_level());
  }

  void write_step(Builder& builder, const KernelBuffers& buffers, const Block& block, Int a,
                  Int b) const {
    const RegisterBlock products{.rows = block.rows, .vectors = block.vectors, .sums = block.sums};
    products.step(
        builder,
        [&](std::int64_t v) {
          return builder.local(
              builder.load(buffers.constants[0], b + v * cut_.lanes(), cut_.lanes()));
        },
        [&](std::int64_t r) {
          return builder.local(
              builder.load_broadcast(*buffers.workspace, a + r * cut_.k_per_tile(), cut_.lanes()));
        });
  }

  /// The product's share in block `at` of C, which is stored when it is complete.
  void add_to(Builder& builder, const KernelBuffers& buffers, loopnest::Buffer c, const Pass& pass,
              std::size_t at, const Block& block) const {
    const std::int64_t width = cut_.half().panel_columns();
    const Int first =
        ((static_cast<std::int64_t>(at) * t_.n_tile + block.panel_number) * cut_.half_m() +
         block.row) *
        width;
    const bool is_plus = kProducts[pass.product].c[at] > 0;
    for (std::int64_t r = 0; r < block.rows; ++r) {
      for (std::int64_t v = 0; v < block.vectors; ++v) {
        const Vec sum = builder.get(block.sums[static_cast<std::size_t>(r * block.vectors + v)]);
        const Int kept = first + r * width + v * cut_.lanes();
        const auto total = [&] {
          if (pass.is_first_k && is_first(pass.product, at)) return is_plus ? sum : -sum;
          const Vec before = builder.load(c, kept, cut_.lanes());
          return is_plus ? before + sum : before - sum;
        };
        if (pass.is_last_k && is_last(pass.product, at))
          store(builder, buffers, at, block.row + r, block.column + v * cut_.lanes(), total());
        else
          builder.store(c, kept, total());
      }
    }
  }

  void store(Builder& builder, const KernelBuffers& buffers, std::size_t block, Int row, Int column,
             Vec value) const {
    const bool is_lower = block >= 2, is_right = block % 2 == 1;
    const auto write = [&](std::optional<Int> active) {
      operands_.store(builder, buffers, is_lower ? row + cut_.half_m() : row,
                      is_right ? column + cut_.half_n() : column, active, value);
    };
    const auto write_columns = [&] {
      const std::int64_t left = cut_.columns_left(), tail = left % cut_.lanes();
      if (!is_right || left == cut_.half_n()) return write({});
      builder.if_(
          column + cut_.lanes() <= Int(left), [&] { write({}); },
          [&] {
            if (tail == 0) return;
            builder.if_(column < Int(left), [&] { write(Int(tail)); });
          });
    };
    if (is_lower && cut_.rows_left() < cut_.half_m())
      builder.if_(row < Int(cut_.rows_left()), write_columns);
    else
      write_columns();
  }

  const Task& task_;
  const StrassenCut& cut_;
  const GemmTiling& t_;
  StrassenOperands& operands_;
  std::vector<PackedConstant> constants_;
};

MatMulShape half_of(const MatMulShape& shape, int lanes) {
  MatMulShape half;
  half.m = ceil_div(shape.m, 2);
  half.n = round_up(ceil_div(shape.n, 2), lanes);
  half.k = round_up(ceil_div(shape.k, 2), lanes);
  return half;
}

}  // namespace

StrassenCut::StrassenCut(const MatMulShape& shape, int lanes, const GemmTiling& tiling)
    : shape_(shape), half_(half_of(shape, lanes), true, lanes, tiling) {
}

std::int64_t StrassenCut::b_elements() const {
  return kStrassenProducts * half_.panels() * half_k() * half_.panel_columns();
}

double StrassenCut::core_cycles() const {
  const auto a_vectors = static_cast<double>(ceil_div(half_m() * half_k(), lanes()));
  const auto c_vectors = static_cast<double>(ceil_div(half_m() * half_n(), lanes()));
  // By vector of a block: four loads, five sums and seven stores of A; twelve sums that go through the cache for C.
  constexpr double kCyclesOfA = 8, kCyclesOfC = 14;
  return kStrassenProducts * half_.core_cycles() + kCyclesOfA * a_vectors +
         kCyclesOfC * c_vectors * static_cast<double>(half_.k_tiles());
}

Kernel build_strassen(const Task& task, const StrassenCut& cut,
                      const std::shared_ptr<StrassenOperands>& operands) {
  return StrassenNest(task, cut, operands).build();
}

}  // namespace aoe::compiler
