// QuantStore: the last step of the kernels of quantised products, for images and matrices alike: scales a vector of
// neighbouring output channels of one pixel, applies the epilogue, and writes bytes or float32.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/conv/image_store.h"
#include "compiler/gemm/matrix_store.h"
#include "compiler/quant/quant_cut.h"

namespace aoe::compiler {

/// Can the epilogue be fused? Says why not.
Result<void> supports_quant_epilogue(const Task& task);

class QuantStore {
 public:
  QuantStore(const Task& task, const FormatChoice& format, const QuantCut& cut);

  /// Appends the constants that the epilogue reads.
  void add_constants(std::vector<PackedConstant>& constants);

  /// `value`: float32 at `at`.
  void store(loopnest::Builder& builder, const KernelBuffers& buffers, const ImagePosition& at,
             loopnest::Vec value) const;

 private:
  QuantCut cut_;
  std::optional<ImageStore> image_;    ///< of a convolution
  std::optional<MatrixStore> matrix_;  ///< of a product
};

}  // namespace aoe::compiler
