// MaxUnpool of any 2 or 4 bytes: maxima scattered over zeros. In their order, since two may have one place.
#include <cstring>

#include "native/kernel.h"
#include "reference/elements/typed.h"
#include "reference/fail.h"
#include "reference/tensors/strided.h"
#include "reference/windows/block_window.h"

namespace aoe::native {
namespace {

/// Where an index, which counts in `natural`, lies in a tensor of shape `given`; -1 outside.
std::int64_t place_of(std::int64_t index, const Shape& natural, const Shape& given,
                      const reference::Strides& strides) {
  std::int64_t place = 0;
  for (std::size_t axis = natural.size(); axis-- > 0; index /= natural[axis]) {
    const std::int64_t position = index % natural[axis];
    if (position >= given[axis]) return -1;
    place += position * strides[axis];
  }
  return place;
}

void run_max_unpool(const Run& run) {
  const Tensor& y = run.output(0);
  if (y.data == nullptr) return;
  const Shape& given = y.desc.shape;
  const Shape natural = reference::unpooled_shape(run.attrs, run.shape(0));
  const std::int64_t count = run.inputs[0].elements(), places = element_count(natural);
  const auto* indices = run.inputs[1].as<std::int64_t>();
  const reference::Strides strides = reference::dense_strides(given);
  const auto refuse = [](std::int64_t index, const Shape& shape) {
    reference::fail_model("index " + std::to_string(index) + " is outside " + to_string(shape));
  };
  const bool is_same = natural == given;
  std::memset(y.data, 0, storage_bytes(y.desc));
  reference::visit_word(y.desc.dtype, [&]<typename Word>() {
    const Word* x = run.inputs[0].as<Word>();
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t place = indices[i];
      if (place < 0 || place >= places) refuse(place, natural);
      if (!is_same) place = place_of(place, natural, given, strides);
      if (place < 0) refuse(indices[i], given);
      y.as<Word>()[place] = x[i];
    }
  });
}

}  // namespace

void register_max_unpool(KernelRegistry& registry) {
  registry.add({.type = "MaxUnpool", .supports = takes_all, .run = run_max_unpool});
}

}  // namespace aoe::native
