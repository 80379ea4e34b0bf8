// Runs one operator in a test and checks the promises every operator makes.
#include "op_runner.h"

#include <gtest/gtest.h>

#include <cstring>

namespace aoe::reference {
namespace {

constexpr std::size_t kGuardBytes = 64;

std::vector<Tensor> views(const std::vector<ConstantPtr>& inputs) {
  std::vector<Tensor> result;
  for (const ConstantPtr& input : inputs) result.push_back(input ? input->view() : Tensor{});
  return result;
}

bool agrees(const TensorDesc& partial, const TensorDesc& full) {
  if (partial.dtype != full.dtype || partial.shape.size() != full.shape.size()) return false;
  for (std::size_t d = 0; d < full.shape.size(); ++d) {
    if (partial.shape[d] != kUnknownDim && partial.shape[d] != full.shape[d]) return false;
  }
  return true;
}

void check_partial(const OpCall& call, const std::vector<Tensor>& inputs,
                   const std::vector<TensorDesc>& full) {
  try {
    const auto partial = infer(call, inputs, full.size());
    for (std::size_t i = 0; i < full.size(); ++i) {
      EXPECT_TRUE(agrees(partial[i], full[i])) << call.type << " infers " << to_string(partial[i])
                                               << ", in truth " << to_string(full[i]);
    }
  } catch (const Undetermined&) {
  }
}

/// Forgets values, then dimensions too.
void check_with_less_known(const OpCall& call, std::vector<Tensor> inputs,
                           const std::vector<TensorDesc>& full) {
  for (Tensor& input : inputs) input.data = nullptr;
  check_partial(call, inputs, full);
  for (Tensor& input : inputs) std::ranges::fill(input.desc.shape, kUnknownDim);
  check_partial(call, inputs, full);
}

using Buffers = std::vector<std::vector<unsigned char>>;

/// The outputs' bytes after a run into memory that was full of `filler`, guards behind them included.
Buffers run_into(const OpCall& call, const std::vector<Tensor>& inputs,
                 const std::vector<TensorDesc>& descs, unsigned char filler) {
  Buffers buffers;
  for (const TensorDesc& desc : descs)
    buffers.emplace_back(storage_bytes(desc) + kGuardBytes, filler);
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < descs.size(); ++i) outputs.push_back({descs[i], buffers[i].data()});
  run(call, inputs, outputs);
  for (std::size_t i = 0; i < descs.size(); ++i) {
    const std::size_t end = storage_bytes(descs[i]);
    for (std::size_t b = end; b < buffers[i].size(); ++b)
      EXPECT_EQ(buffers[i][b], filler) << call.type << " wrote behind output " << i;
    buffers[i].resize(end);
  }
  return buffers;
}

}  // namespace

std::vector<OpOutput> run_checked(const OpCall& call, const std::vector<ConstantPtr>& inputs,
                                  std::size_t output_count) {
  const std::vector<Tensor> tensors = views(inputs);
  const std::vector<TensorDesc> descs = infer(call, tensors, output_count);
  check_with_less_known(call, tensors, descs);
  Buffers first = run_into(call, tensors, descs, 0x00);
  const Buffers second = run_into(call, tensors, descs, 0x01);  // 0 and 1 are legal bools
  EXPECT_EQ(first, second) << call.type << " leaves elements unwritten";
  std::vector<OpOutput> outputs;
  for (std::size_t i = 0; i < descs.size(); ++i)
    outputs.push_back({descs[i], read_as<double>(Tensor{descs[i], first[i].data()})});
  return outputs;
}

}  // namespace aoe::reference
