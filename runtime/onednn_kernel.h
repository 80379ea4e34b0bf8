// OneDnnKernel: one oneDNN primitive, rebuilt from the parameters that an om stores, run on plain buffers.
// What the parameters say is described in onednn_primitive.h.
//
// The compiler asks probe() what oneDNN would do, and repack() for weights in the layout that it wants.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "base/result.h"

namespace aoe::runtime {

class OneDnnKernel {
 public:
  /// For a team of `threads` threads, which the caller of run() must have set for OpenMP. Throws Error(kOm) when oneDNN
  /// has another version than the one that made `params`, or cannot make the primitive here.
  static std::unique_ptr<OneDnnKernel> create(const nlohmann::json& params, int threads);
  ~OneDnnKernel();

  /// Buffers in the order of Kernel (compiler/impl.h); `args` of the parameters says which is which. One caller at a time.
  void run(std::span<void* const> buffers);

 private:
  struct State;
  explicit OneDnnKernel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// What oneDNN chose for some parameters on this machine.
struct OneDnnChoice {
  std::string implementation;  ///< "jit:avx512_core", "brgconv:avx512_core", "ref:any", ...
  std::size_t scratchpad_bytes = 0;
  nlohmann::json
      weights;  ///< exact descriptor, for repack() and for `params`; null when there are none
  std::size_t weights_bytes = 0;
};
/// "No" when oneDNN has no implementation; says for what.
Result<OneDnnChoice> probe(const nlohmann::json& params, int threads);

/// Copies a tensor from one layout into another; both are descriptors as in `params`. Single-threaded callers may run
/// several at once.
void repack(const nlohmann::json& from, const void* source, const nlohmann::json& to,
            void* destination);

/// "2.6.3": to be stored in `params` as "onednn".
std::string onednn_version();

}  // namespace aoe::runtime
