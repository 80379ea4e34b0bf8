// Which types of ops are sums of products. Tested by tests/runtime/subscribe_test.cpp.
#include "runtime/om/op_flops.h"

#include <algorithm>
#include <string_view>

namespace aoe::runtime {
namespace {

double epilogue_flops(const Om& om, const OmStep& step) {
  if (step.outputs.empty() || step.outputs.front() < 0) return 0;
  const Shape& shape = om.tensors[step.outputs.front()].desc.shape;
  if (!is_static(shape)) return 0;
  return static_cast<double>(reference::epilogue(step.call).size()) *
         static_cast<double>(element_count(shape));
}

}  // namespace

OpFlops flops_of(const Om& om, const OmStep& step) {
  const double all = std::clamp(step.flops, 0.0, 1e18);  // an om may hold any number
  const bool is_chain = reference::is_chain(step.call);
  const bool has_product = is_chain ? std::ranges::any_of(step.op_types, reference::sums_products)
                                    : reference::sums_products(reference::anchor(step.call).type);
  double vector = all;
  if (has_product) vector = is_chain ? 0.0 : std::min(all, epilogue_flops(om, step));
  return {static_cast<std::uint64_t>(all - vector), static_cast<std::uint64_t>(vector)};
}

}  // namespace aoe::runtime
