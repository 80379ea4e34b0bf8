// Strides of dense tensors, collapsing of loop nests, and copies between strided views.
#include "reference/tensors/strided.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "reference/elements/typed.h"

namespace aoe::reference {

Strides dense_strides(const Shape& shape) {
  Strides strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

void collapse(Shape& shape, std::span<Strides> strides) {
  std::size_t kept = 0;  // dimensions [0, kept) are final; the last of them may still grow
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    const bool merges =
        kept > 0 && std::all_of(strides.begin(), strides.end(),
                                [&](const Strides& s) { return s[kept - 1] == s[d] * shape[d]; });
    if (merges) {
      --kept;
      shape[kept] *= shape[d];
    } else {
      shape[kept] = shape[d];
    }
    for (Strides& s : strides) s[kept] = s[d];
    ++kept;
  }
  if (kept == 0) {
    shape.assign(1, 1);
    for (Strides& s : strides) s.assign(1, 0);
    return;
  }
  shape.resize(kept);
  for (Strides& s : strides) s.resize(kept);
}

void copy_strided(DataType dtype, const Shape& shape, const StridedView& from,
                  const StridedView& to) {
  visit_word(dtype, [&]<typename Word>() {
    const Word* source = static_cast<const Word*>(from.data) + from.offset;
    Word* target = static_cast<Word*>(to.data) + to.offset;
    for_each_row<2>(shape, {from.strides, to.strides},
                    [&](auto offsets, auto steps, std::int64_t count) {
                      const Word* s = source + offsets[0];
                      Word* t = target + offsets[1];
                      if (steps[0] == 1 && steps[1] == 1) {
                        std::memcpy(t, s, static_cast<std::size_t>(count) * sizeof(Word));
                      } else {
                        for (std::int64_t i = 0; i < count; ++i) t[i * steps[1]] = s[i * steps[0]];
                      }
                    });
  });
}

void copy_dense(const Tensor& from, const Tensor& to) {
  const std::size_t bytes = storage_bytes(from.desc);
  AOE_CHECK(bytes == storage_bytes(to.desc), to_string(from.desc) + " into " + to_string(to.desc));
  if (bytes > 0) std::memmove(to.data, from.data, bytes);
}

void fill(const Tensor& tensor, const void* value) {
  visit_word(tensor.desc.dtype, [&]<typename Word>() {
    Word word;
    std::memcpy(&word, value, sizeof word);
    std::fill_n(tensor.as<Word>(), tensor.elements(), word);
  });
}

}  // namespace aoe::reference
