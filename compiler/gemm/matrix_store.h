// MatrixStore: the last step of every matrix kernel. Reads the epilogue's operands and Gemm's bias at a vector of
// neighbouring columns of one row, applies the epilogue, and writes the result row-major.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "compiler/emit/epilogue.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/gemm/matmul_shape.h"
#include "compiler/impl.h"

namespace aoe::compiler {

/// Columns [column, column + lanes) of a row; only the first `active` exist.
struct MatrixPosition {
  loopnest::Int batch, row, column;
  std::optional<loopnest::Int> active = {};
};

/// Can the epilogue and the bias of this matrix product be fused? Says why not.
Result<void> supports_matrix_epilogue(const Task& task, const MatMulShape& shape,
                                      EpilogueTypes types = EpilogueTypes::kFloat);

class MatrixStore {
 public:
  /// `type` of the sums; an epilogue is float32's.
  MatrixStore(const Task& task, const MatMulShape& shape, int lanes,
              loopnest::Type type = loopnest::Type::kFloat);

  /// Appends the constants that bias and epilogue read, and remembers their places.
  void add_constants(std::vector<PackedConstant>& constants);

  /// What a sum starts from: beta times the bias, or zeros.
  loopnest::Vec initial(loopnest::Builder& builder, const KernelBuffers& buffers,
                        const MatrixPosition& at) const;
  void store(loopnest::Builder& builder, const KernelBuffers& buffers, const MatrixPosition& at,
             loopnest::Vec value) const;
  /// Partial sums: written and read back without the epilogue.
  void store_partial(loopnest::Builder& builder, const KernelBuffers& buffers,
                     const MatrixPosition& at, loopnest::Vec value) const;
  loopnest::Vec load_partial(loopnest::Builder& builder, const KernelBuffers& buffers,
                             const MatrixPosition& at) const;

 private:
  struct Operand {
    MatrixLayout layout;
    std::optional<std::size_t> constant;  ///< index of the packed constant
  };
  loopnest::Int index(const MatrixLayout& layout, const MatrixPosition& at) const;
  loopnest::Vec load_operand(loopnest::Builder& builder, const KernelBuffers& buffers,
                             std::size_t input, const MatrixPosition& at) const;

  Task task_;
  MatMulShape shape_;
  int lanes_;
  loopnest::Type type_;
  MatrixLayout layout_;
  std::vector<std::optional<Operand>> operands_;  ///< by task input; factors and scalars have none
};

}  // namespace aoe::compiler
