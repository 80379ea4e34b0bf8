// See quant_store.h.
#include "compiler/quant/quant_store.h"

namespace aoe::compiler {

Result<void> supports_quant_epilogue(const Task& task) {
  if (gives_sums(task)) return {};
  if (is_convolution(task)) return supports_image_epilogue(task, EpilogueTypes::kBytes);
  return supports_matrix_epilogue(task, matmul_shape(task).value(), EpilogueTypes::kBytes);
}

QuantStore::QuantStore(const Task& task, const FormatChoice& format, const QuantCut& cut)
    : cut_(cut) {
  if (is_convolution(task)) {
    constexpr std::int64_t kAnyRow = 1;  // all pixels have row 0
    image_.emplace(task, format, cut.lanes(),
                   cut.is_flat() ? std::optional(kAnyRow) : std::nullopt);
  } else {
    matrix_.emplace(task, matmul_shape(task).value(), cut.lanes());
  }
}

void QuantStore::add_constants(std::vector<PackedConstant>& constants) {
  image_ ? image_->add_constants(constants) : matrix_->add_constants(constants);
}

void QuantStore::store(Builder& builder, const KernelBuffers& buffers, const ImagePosition& at,
                       Vec value) const {
  if (image_) return image_->store(builder, buffers, at, value);
  const Int column = at.vector * cut_.lanes();
  MatrixPosition position{Int(0), at.column, column, {}};
  if (cut_.shape().out_channels % cut_.lanes() != 0) {
    position.active = min(Int(cut_.lanes()), Int(cut_.shape().out_channels) - column);
  }
  matrix_->store(builder, buffers, position, value);
}

}  // namespace aoe::compiler
