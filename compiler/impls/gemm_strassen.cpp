// gemm_strassen: seven products of half the size instead of eight, for large matrix products with a constant factor that
// the rewrite `strassen` marks. Less to multiply, 7/4 of the weights to read, and results that are rounded differently:
// that is for a whole model to judge, so no product is computed like this unless it is marked.
// The nest: compiler/gemm/strassen_nest.h. Tested like every Impl by tests/compiler/impls_test.cpp.
#include "compiler/gemm/matrix_store.h"
#include "compiler/gemm/strassen_plan.h"
#include "graph/analysis/strassen_product.h"

namespace aoe::compiler {
namespace {

class MatrixOperands final : public StrassenOperands {
 public:
  MatrixOperands(const Task& task, const MatMulShape& shape, int lanes)
      : shape_(shape), weights_(task.inputs[1].constant), store_(task, shape_, lanes) {}

  loopnest::Int a_index(loopnest::Int row, loopnest::Int k) const override {
    return row * shape_.a.row + k;
  }
  bool is_a_padded() const override { return false; }
  float b_at(std::int64_t k, std::int64_t column) const override {
    return shape_.alpha * weights_->view().as<float>()[k * shape_.b.row + column * shape_.b.column];
  }
  void add_constants(std::vector<PackedConstant>& constants) override {
    store_.add_constants(constants);
  }
  void store(loopnest::Builder& builder, const KernelBuffers& buffers, loopnest::Int row,
             loopnest::Int column, std::optional<loopnest::Int> active,
             loopnest::Vec value) const override {
    const MatrixPosition at{0, row, column, active};
    if (shape_.has_bias) value = store_.initial(builder, buffers, at) + value;
    store_.store(builder, buffers, at, value);
  }

 private:
  MatMulShape shape_;
  ConstantPtr weights_;
  MatrixStore store_;
};

class GemmStrassen final : public Impl {
 public:
  std::string_view name() const override { return "gemm_strassen"; }
  int version() const override { return 2; }
  /// Sums of blocks cancel less well, by two bits.
  double error_growth(const Task&) const override { return 4; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    if (!graph::is_by_strassen(task.op)) return Unexpected("not marked by the rewrite `strassen`");
    const Result<MatMulShape> shape = matmul_shape(task);
    if (!shape) return Unexpected(shape.error());
    for (std::size_t i = 0; i < 2; ++i)
      if (task.in(i).dtype != DataType::kFloat)
        return Unexpected("input " + std::to_string(i) + " is " + aoe::to_string(task.in(i)) +
                          ", needs float32");
    if (task.inputs[0].constant || !task.inputs[1].constant || !shape->is_b_shared())
      return Unexpected("the second factor is not one constant matrix");
    if (shape->batch() != 1) return Unexpected("batches that do not fold into rows");
    if (shape->a.column != 1) return Unexpected("transA");
    if (auto halves = supports_strassen(*shape, soc); !halves) return halves;
    return supports_matrix_epilogue(task, *shape);
  }

  std::unique_ptr<Plan> plan(const Task& task, const FormatChoice& format,
                             const Soc& soc) const override {
    const MatMulShape shape = matmul_shape(task).value();
    return std::make_unique<StrassenPlan>(task, format, soc, shape, [=](const StrassenCut& cut) {
      return std::make_shared<MatrixOperands>(task, shape, cut.lanes());
    });
  }
};

}  // namespace

void register_gemm_strassen(ImplRegistry& registry) {
  registry.add(std::make_unique<GemmStrassen>());
}

}  // namespace aoe::compiler
