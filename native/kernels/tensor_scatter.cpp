// TensorScatter of all element types, in place where the caller binds one buffer to past and present.
#include "native/kernel.h"
#include "reference/tensors/cache_rows.h"

namespace aoe::native {
namespace {

void run_tensor_scatter(const Run& run) {
  const Tensor& present = run.output(0);
  if (present.data == nullptr) return;
  const reference::CacheRows rows(run.attrs, run.inputs);
  constexpr double kBytesPerNs = 10;
  run.threads.share(rows.slabs(), static_cast<double>(rows.slab_bytes()) / kBytesPerNs,
                    [&](std::int64_t begin, std::int64_t end) { rows.write(present, begin, end); });
}

}  // namespace

void register_tensor_scatter(KernelRegistry& registry) {
  registry.add({.type = "TensorScatter", .supports = takes_all, .run = run_tensor_scatter});
}

}  // namespace aoe::native
