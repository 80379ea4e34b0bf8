// gemm_packed, gemm_bf16, gemm_amx, gemm_fp16: generated matrix products, MatMulV2 and Gemm, gemm_packed of float64 and integers as well. A constant B is packed into panels that are read
// in order: strong for matrix-vector products, few rows, batches of small matrices and fused epilogues. gemm_bf16 rounds both factors to bfloat16, gemm_amx does and multiplies them in tiles, gemm_fp16
// to float16 with short sums in it, where the graph allows it and the machine has the instructions.
// The nest: compiler/gemm/gemm_nest.h. Tested like every Impl by tests/compiler/impls_test.cpp.
#include <algorithm>

#include "compiler/gemm/gemm_plan.h"
#include "compiler/gemm/matrix_store.h"
#include "graph/precision.h"

namespace aoe::compiler {
namespace {

/// What rounding needs beyond what every product does.
Result<void> supports_rounding(const Task& task, const MatMulShape& shape) {
  if (task.inputs[1].constant == nullptr || !shape.is_b_shared()) {
    return Unexpected("the second factor is not one constant matrix");
  }
  if (shape.batch() != 1) return Unexpected("batches that do not fold into rows");
  if (shape.a.column != 1) return Unexpected("transA");
  return {};
}

class GemmPacked final : public Impl {
 public:
  explicit GemmPacked(GemmPrecision precision) : precision_(precision) {}

  std::string_view name() const override {
    switch (precision_) {
      case GemmPrecision::kBFloat16:
        return "gemm_bf16";
      case GemmPrecision::kBFloat16Tiles:
        return "gemm_amx";
      case GemmPrecision::kFloat16:
        return "gemm_fp16";
      case GemmPrecision::kFloat32:
        break;
    }
    return "gemm_packed";
  }
  int version() const override { return 3; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    const Result<MatMulShape> shape = matmul_shape(task);
    if (!shape) return Unexpected(shape.error());
    if (Result<void> typed = supports_types(task); !typed) return typed;
    const bool is_b_constant = task.inputs[1].constant != nullptr;
    if (!is_b_constant && shape->b.column != 1 && shape->n > 1) {
      return Unexpected("transB of a factor that is not constant");
    }
    if (!is_b_constant && shape->alpha != 1.0f) {
      return Unexpected("alpha is " + std::to_string(shape->alpha) +
                        ", needs 1 when the second factor is not constant");
    }
    if (precision_ != GemmPrecision::kFloat32) {
      const bool is_fp16 = precision_ == GemmPrecision::kFloat16;
      const bool is_allowed = is_fp16 ? graph::allows_fp16(task.op) : graph::allows_bf16(task.op);
      if (!is_allowed) return Unexpected("precision_mode asks for more");
      const Feature needed = is_fp16                                       ? Feature::kFp16
                             : precision_ == GemmPrecision::kBFloat16Tiles ? Feature::kAmx
                                                                           : Feature::kBf16;
      if (!soc.has(needed))
        return Unexpected(soc.version + " has no " + std::string(runtime::name(needed)));
      if (Result<void> possible = supports_rounding(task, *shape); !possible) return possible;
    }
    if (task.in(0).dtype != DataType::kFloat) return {};
    return supports_matrix_epilogue(task, *shape);
  }

  std::unique_ptr<Plan> plan(const Task& task, const FormatChoice&, const Soc& soc) const override {
    return std::make_unique<GemmPlan>(task, soc, precision_);
  }

 private:
  Result<void> supports_types(const Task& task) const {
    const DataType type = task.in(0).dtype;
    const bool is_integer_product = is_integer(type) && task.anchor().type == "MatMulV2";
    if (size_bytes(type) < 4 || (!is_floating(type) && !is_integer_product))
      return Unexpected(task.anchor().type + " of " + aoe::to_string(task.in(0)));
    if (type == DataType::kFloat && task.in(1).dtype == type) return {};
    if (precision_ != GemmPrecision::kFloat32) return Unexpected("rounds float32 only");
    const auto is_other = [&](const TaskInput& input) {
      return input.is_present() && input.desc.dtype != type;
    };
    if (std::ranges::any_of(task.inputs, is_other) || task.outputs.size() != 1 ||
        task.out().dtype != type)
      return Unexpected("inputs and outputs of several types");
    if (task.op.body != nullptr) return Unexpected("an epilogue of what is not float32");
    return {};
  }

  GemmPrecision precision_;
};

}  // namespace

void register_gemm_packed(ImplRegistry& registry) {
  registry.add(std::make_unique<GemmPacked>(GemmPrecision::kFloat32));
  registry.add(std::make_unique<GemmPacked>(GemmPrecision::kBFloat16));
  registry.add(std::make_unique<GemmPacked>(GemmPrecision::kBFloat16Tiles));
  registry.add(std::make_unique<GemmPacked>(GemmPrecision::kFloat16));
}

}  // namespace aoe::compiler
