// OneDnnKernel: an oneDNN primitive of an om, made once and run often.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>

namespace aoe::runtime {

class OneDnnKernel {
 public:
  /// `params` is what the compiler left in the step (OmStep::params). Throws Error(kOm) when this
  /// machine's oneDNN cannot make the same primitive.
  static std::unique_ptr<OneDnnKernel> create(const nlohmann::json& params, int threads);
  virtual ~OneDnnKernel() = default;

  /// `buffers` in the order of Kernel in compiler/impl.h: inputs, outputs, constants, workspace.
  virtual void run(std::span<void* const> buffers) = 0;
};

}  // namespace aoe::runtime
