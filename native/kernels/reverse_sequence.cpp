// ReverseSequence of all element types: whole blocks are copied, those of [time, batch] one by one, in either order.
#include <cstring>

#include "native/kernel.h"
#include "reference/elements/typed.h"
#include "reference/fail.h"
#include "reference/tensors/indices.h"

namespace aoe::native {
namespace {

/// Where step `t` of a sequence is taken from.
std::int64_t source(std::int64_t t, std::int64_t length) {
  return t < length ? length - 1 - t : t;
}

void run_reverse(const Run& run) {
  const Tensor &x = run.inputs[0], &y = run.output(0);
  if (y.data == nullptr || y.elements() == 0) return;
  const bool is_time_first = run.attrs.get_int("time_axis", 0) == 0;
  const Shape& shape = run.shape(0);
  const std::int64_t times = shape[is_time_first ? 0 : 1], batch = shape[is_time_first ? 1 : 0];
  const std::vector<std::int64_t> lengths = reference::read_ints(run.inputs[1]);
  for (const std::int64_t length : lengths)
    if (length < 0 || length > times)
      reference::fail_model("a sequence of " + std::to_string(length) + " in " +
                            std::to_string(times) + " steps");
  const std::size_t bytes = static_cast<std::size_t>(x.elements() / (times * batch)) *
                            reference::element_bytes(x.desc.dtype);
  const char* from = x.as<char>();
  run.threads.share(shape[0] * shape[1], 4 + static_cast<double>(bytes) / 16,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t i = begin; i < end; ++i) {
                        const std::int64_t t = is_time_first ? i / batch : i % times,
                                           b = is_time_first ? i % batch : i / times;
                        const std::int64_t taken = source(t, lengths[static_cast<std::size_t>(b)]);
                        const std::int64_t block =
                            is_time_first ? taken * batch + b : b * times + taken;
                        std::memcpy(y.as<char>() + static_cast<std::size_t>(i) * bytes,
                                    from + static_cast<std::size_t>(block) * bytes, bytes);
                      }
                    });
}

}  // namespace

void register_reverse_sequence(KernelRegistry& registry) {
  registry.add({.type = "ReverseSequence", .supports = takes_all, .run = run_reverse});
}

}  // namespace aoe::native
