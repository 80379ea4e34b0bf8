// FusedInferAttentionScore of float32.
#include "native/attention/attention.h"

#include "native/kernel.h"
#include "reference/products/attention_tensors.h"

namespace aoe::native {
namespace {

void run_attention(const Run& run) {
  const Tensor& out = run.output(0);
  if (out.data == nullptr || out.elements() == 0) return;
  const reference::AttentionTensors tensors = attention_tensors(run.attrs, run.inputs);
  const auto input = [&](std::size_t i) { return run.inputs[i].as<const float>(); };
  attend(attention_shape(run.attrs, tensors),
         {.query = input(0),
          .key = input(1),
          .value = input(2),
          .mask = tensors.has_mask ? input(reference::kAttentionMask) : nullptr,
          .output = out.as<float>()},
         run.threads);
}

}  // namespace

void register_attention(KernelRegistry& registry) {
  registry.add({.type = "FusedInferAttentionScore",
                .supports = takes_floats(reference::kAttentionMask + 1),
                .run = run_attention,
                .skips_zero_factors = true});
}

}  // namespace aoe::native
