// OnnxRuntimePeer: ONNX Runtime in a Node.js child process (onnxruntime/server.js), asked over a
// pipe.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace aoe::benchmarks {

struct NamedTensor {
  std::string name;
  ConstantPtr value;
};

class OnnxRuntimePeer {
 public:
  /// Starts `node server.js` and loads the model. Throws Error(kFailure) when Node or the package
  /// is missing, or ONNX Runtime refuses the model.
  OnnxRuntimePeer(const std::filesystem::path& server, const std::filesystem::path& model,
                  int threads);
  ~OnnxRuntimePeer();
  OnnxRuntimePeer(const OnnxRuntimePeer&) = delete;
  OnnxRuntimePeer& operator=(const OnnxRuntimePeer&) = delete;

  const std::string& version() const { return version_; }
  void feed(const std::vector<NamedTensor>& inputs, const std::filesystem::path& scratch);
  /// Milliseconds of each run, for at least `seconds` and `least` runs.
  std::vector<double> run(double seconds, int least);
  std::vector<NamedTensor> outputs(const std::filesystem::path& scratch);

 private:
  nlohmann::json ask(const nlohmann::json& request);
  int process_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
  std::string pending_;
  std::string version_;
};

}  // namespace aoe::benchmarks
