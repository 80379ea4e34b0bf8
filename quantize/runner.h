// Runner: a model that is compiled and run here.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/tensor.h"
#include "compiler/soc.h"
#include "quantize/samples.h"

namespace aoe::quantize {

class Runner {
 public:
  /// Compiled for the shapes of `sample`. Throws as atc does: Error(kModel) with `name`.
  Runner(std::string model_bytes, const std::filesystem::path& name, const Sample& sample,
         const compiler::Soc& soc);
  Runner(Runner&&) noexcept;
  ~Runner();

  /// The outputs by name, valid until the next run, and the inputs.
  std::map<std::string, Tensor> run(const Sample& sample);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aoe::quantize
