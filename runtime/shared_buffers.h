// SharedBuffers: what a caller may do with one buffer as an input and an output of a run: anything, and the result is the
// same as with two. An op that writes its result over an input (the cache of a decoder) does so then, where nobody reads
// that input afterwards; any other input that an output would overwrite is set aside first.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "runtime/aligned_memory.h"
#include "runtime/om/om.h"

namespace aoe::runtime {

class SharedBuffers {
 public:
  explicit SharedBuffers(const Om& om);

  /// Where the run shall read the input: itself, or a copy that is valid until the next call for it. `outputs` have no
  /// data where no buffer is given.
  void* input(std::size_t i, const Tensor& given, std::span<const Tensor> outputs);

 private:
  std::map<std::size_t, std::size_t> overwritten_;  ///< output -> the input that it may overwrite
  std::vector<AlignedMemory> aside_;                ///< by input; empty until it is needed
};

}  // namespace aoe::runtime
