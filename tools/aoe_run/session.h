// Session: one om loaded through the C API with buffers for all inputs and outputs, the way any user's program does it.
#pragma once

#include <string>
#include <vector>

#include "acl/acl.h"
#include "base/tensor.h"

namespace aoe::tools {

struct Port {
  std::string name;
  TensorDesc desc;
};

class Session {
 public:
  /// `config`: acl.json, or nullptr. Throws Error(kOm) that says why the model cannot be loaded.
  explicit Session(const std::string& model_path, const char* config = nullptr);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }

  /// `tensor` stays the caller's until the last run(). Throws Error(kData) when it does not fit.
  void set_input(std::size_t index, const Tensor& tensor);
  /// Throws Error(kFailure) when the execution fails.
  void run();
  /// What the last run() wrote, valid until the next one.
  Tensor output(std::size_t index) const;

 private:
  void describe();
  void allocate_outputs();

  std::uint32_t model_ = 0;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  aclmdlDataset* input_set_ = nullptr;
  aclmdlDataset* output_set_ = nullptr;
};

}  // namespace aoe::tools
