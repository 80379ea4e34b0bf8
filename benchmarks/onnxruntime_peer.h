// OnnxRuntimePeer: ONNX Runtime in a child process, of Node.js (onnxruntime/server.js) or Python (server.py), asked over a pipe.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/tensor.h"

namespace aoe::benchmarks {

struct NamedTensor {
  std::string name;
  ConstantPtr value;
};

class OnnxRuntimePeer {
 public:
  /// Starts `node server.js` or `python3 server.py`. All members throw Error(kFailure) when that or the package is missing, the process is gone
  /// (is_alive() is false from then on), or ONNX Runtime refuses what is asked.
  explicit OnnxRuntimePeer(const std::filesystem::path& server);
  ~OnnxRuntimePeer();
  OnnxRuntimePeer(const OnnxRuntimePeer&) = delete;
  OnnxRuntimePeer& operator=(const OnnxRuntimePeer&) = delete;

  bool is_alive() const { return is_alive_; }
  /// The child has started and ONNX Runtime's library is loaded.
  void wait_until_ready();
  /// In the place of the model before, whose inputs are forgotten.
  void load(const std::filesystem::path& model, int threads);
  void feed(const std::vector<NamedTensor>& inputs, const std::filesystem::path& scratch);
  /// Milliseconds of each run, for at least `seconds` and `least` runs.
  std::vector<double> run(double seconds, int least);
  /// Its threads spin behind a run, for a million pauses: 20 ms on a Zen 4, 60 on an Intel Xeon; who else is timed then shares its cores with
  /// them. Returns when they have gone to sleep, after 30 ms at least (our own spin as well) and a second at most.
  void wait_until_idle() const;
  std::vector<NamedTensor> outputs(const std::filesystem::path& scratch);

 private:
  nlohmann::json ask(const nlohmann::json& request);
  int process_ = -1;
  Descriptor child_;
  std::string pending_;
  bool is_alive_ = true;
};

}  // namespace aoe::benchmarks
