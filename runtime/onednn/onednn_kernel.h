// OneDnnKernel: oneDNN primitives that run one behind the other (nearly always just one), rebuilt from the parameters
// that an om stores, on plain buffers.
//
//   {"stages": [S, ...], "residual": 1}
//
// A stage S is described in onednn_primitive.h. `residual`, when present, is the buffer that the first stage's "sum"
// post-op adds to: it is copied into that stage's dst unless it lies there already.
//
// The compiler asks probe() what oneDNN would do, and repack() for weights in the layout that it wants.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace aoe::runtime {

class OneDnnKernel {
 public:
  /// For a team of `threads` threads, which the caller of run() must have set for OpenMP. `buffer_bytes`: the sizes of
  /// the buffers that run() will get; `buffers`: those of constants among them, null or missing for others. Throws
  /// Error(kOm) when oneDNN cannot make a primitive here, or when `params` do not fit the buffers: whatever they say, run()
  /// stays inside.
  static std::unique_ptr<OneDnnKernel> create(const nlohmann::json& params, int threads,
                                              std::span<const std::size_t> buffer_bytes,
                                              std::span<void* const> buffers = {});
  ~OneDnnKernel();

  /// What is wrong with parameters by themselves, in words behind a step's name, when these of its buffers may be written;
  /// empty: nothing. Sizes are for create() to check, which knows what the primitive makes of them.
  static std::string fault(const nlohmann::json& params, const std::vector<bool>& is_writable);

  /// Buffers in the order of Kernel (compiler/impl.h); `args` of the parameters says which is which. One caller at a time.
  void run(std::span<void* const> buffers);

 private:
  struct State;
  explicit OneDnnKernel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A layout that oneDNN chose for a constant, for repack() and for a stage's `stored`.
struct OneDnnLayout {
  nlohmann::json desc;  ///< null: it has no name
  std::size_t size_bytes = 0;
};

/// What oneDNN chose for a stage on this machine.
struct OneDnnChoice {
  std::string implementation;  ///< "jit:avx512_core", "brgconv:avx512_core", "ref:any", ...
  std::size_t scratchpad_bytes = 0;
  std::map<std::string, OneDnnLayout> weights;  ///< by argument: "weights", "weights_iter", ...
};
/// "No" when oneDNN has no implementation; says for what.
Result<OneDnnChoice> probe(const nlohmann::json& stage, int threads);

/// Copies a tensor from one layout into another; both are descriptors as in a stage. Single-threaded callers may run
/// several at once.
void repack(const nlohmann::json& from, const void* source, const nlohmann::json& to,
            void* destination);

}  // namespace aoe::runtime
