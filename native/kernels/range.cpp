// Range, whose length only a run can tell.
#include "reference/elements/range.h"

#include "native/by_type.h"

namespace aoe::native {
namespace {

template <typename T>
void run_range(const Run& run) {
  using C = reference::ComputeType<T>;
  const std::int64_t count =
      reference::range_count(reference::read_scalar<C>(run.inputs[0], "start"),
                             reference::read_scalar<C>(run.inputs[1], "limit"),
                             reference::read_scalar<C>(run.inputs[2], "delta"));
  const Tensor y = run.make(0, {count});
  if (y.data == nullptr) return;
  constexpr double kCostNs = 1;
  run.threads.share(count, kCostNs, [&](std::int64_t begin, std::int64_t end) {
    reference::write_range(run.inputs[0], run.inputs[2], begin, end, y.as<T>());
  });
}

}  // namespace

void register_range(KernelRegistry& registry) {
  registry.add({.type = "Range",
                .supports = takes_all,
                .run = by_type<reference::NumericTypes>(
                    []<typename T>(const Run& run) { run_range<T>(run); }),
                .makes_shapes = true});
}

}  // namespace aoe::native
