// Bias, epilogue and the store of matrix kernels.
#include "compiler/gemm/matrix_store.h"

#include "compiler/emit/epilogue.h"
#include "compiler/emit/packed_constant.h"

namespace aoe::compiler {

namespace {

/// Bias and operands of the epilogue; a quantised product deals with its own inputs itself.
std::size_t first_operand(const Task& task) {
  return reference::is_quantised(task.anchor().type) ? task.anchor_inputs() : 2;
}

}  // namespace

Result<void> supports_matrix_epilogue(const Task& task, const MatMulShape& shape,
                                      EpilogueTypes types) {
  if (!is_epilogue_type(task.out().dtype, types)) {
    return Unexpected("output is " + aoe::to_string(task.out()) + ", needs float32");
  }
  if (task.outputs.size() != 1) {
    return Unexpected(std::to_string(task.outputs.size()) + " outputs, needs 1");
  }
  const std::size_t first = reference::is_quantised(task.anchor().type) ? first_operand(task)
                            : shape.has_bias                            ? 2
                                                                        : 0;
  for (std::size_t i = first; i < task.inputs.size(); ++i) {
    if (!task.inputs[i].is_present()) continue;
    const TensorDesc& operand = task.in(i);
    if (!is_epilogue_type(operand.dtype, types)) {
      return Unexpected("input " + std::to_string(i) + " is " + aoe::to_string(operand) +
                        ", needs float32");
    }
    if (i >= 2 && operand.shape.size() > task.out().shape.size()) {
      return Unexpected("epilogue operand " + aoe::to_string(operand.shape) +
                        " has more dimensions than the output");
    }
  }
  return supports_epilogue(task);
}

MatrixStore::MatrixStore(const Task& task, const MatMulShape& shape, int lanes, Type type)
    : task_(task),
      shape_(shape),
      lanes_(lanes),
      type_(type),
      layout_(operand_layout(task, shape, task.out().shape)),
      operands_(task.inputs.size()) {
  for (std::size_t i = first_operand(task); i < task.inputs.size(); ++i) {
    if (!task.inputs[i].is_present()) continue;
    const bool is_byte = size_bytes(task.in(i).dtype) == 1;
    if (is_byte && task.inputs[i].constant) continue;  // a zero point, which the epilogue knows
    operands_[i] = Operand{operand_layout(task, shape, task.in(i).shape), {}};
  }
}

void MatrixStore::add_constants(std::vector<PackedConstant>& constants) {
  for (std::size_t i = 2; i < operands_.size(); ++i) {
    if (!operands_[i] || !task_.inputs[i].constant) continue;
    operands_[i]->constant = constants.size();
    constants.push_back(packed_as_is(task_.inputs[i].constant));
  }
}

Int MatrixStore::index(const MatrixLayout& layout, const MatrixPosition& at) const {
  return layout.matrix(at.batch, shape_.batch_dims) + at.row * layout.row +
         at.column * layout.column;
}

Vec MatrixStore::load_operand(Builder& builder, const KernelBuffers& buffers, std::size_t input,
                              const MatrixPosition& at) const {
  const Operand& operand = *operands_[input];
  const loopnest::Buffer buffer =
      operand.constant ? buffers.constants[*operand.constant] : *buffers.inputs[input];
  if (operand.layout.column == 0) {
    return builder.load_as(type_, buffer, index(operand.layout, at), lanes_, {}, 0);
  }
  return builder.load_as(type_, buffer, index(operand.layout, at), lanes_, at.active);
}

Vec MatrixStore::initial(Builder& builder, const KernelBuffers& buffers,
                         const MatrixPosition& at) const {
  if (!shape_.has_bias) return loopnest::splat(0, lanes_, type_);
  const Vec bias = load_operand(builder, buffers, 2, at);
  return shape_.beta == 1.0f ? bias : bias * loopnest::splat(shape_.beta, lanes_, type_);
}

void MatrixStore::store(Builder& builder, const KernelBuffers& buffers, const MatrixPosition& at,
                        Vec value) const {
  value = emit_epilogue(builder, task_, value, [&](int input) {
    return load_operand(builder, buffers, static_cast<std::size_t>(input), at);
  });
  store_partial(builder, buffers, at, value);
}

void MatrixStore::store_partial(Builder& builder, const KernelBuffers& buffers,
                                const MatrixPosition& at, Vec value) const {
  builder.store(buffers.outputs[0], index(layout_, at), value, at.active);
}

Vec MatrixStore::load_partial(Builder& builder, const KernelBuffers& buffers,
                              const MatrixPosition& at) const {
  return builder.load_as(type_, buffers.outputs[0], index(layout_, at), lanes_, at.active);
}

}  // namespace aoe::compiler
