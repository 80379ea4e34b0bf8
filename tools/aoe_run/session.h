// Session: one om loaded through the C API with buffers for all inputs and outputs, the way any user's program does it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "base/gears.h"
#include "base/tensor.h"
#include "runtime/om/om.h"

namespace aoe::tools {

struct Port {
  std::string name;
  TensorDesc desc;
};

/// One of the sizes that a dynamic model serves.
struct Gear {
  GearKind kind;
  GearValues sizes;           ///< of the open dimensions; of kBatch and kImage those of one input
  std::vector<Shape> inputs;  ///< by input
};

/// The library, initialized; a process has one.
class AscendCl {
 public:
  /// `config`: acl.json, or nullptr.
  explicit AscendCl(const char* config = nullptr);
  ~AscendCl();
  AscendCl(const AscendCl&) = delete;
  AscendCl& operator=(const AscendCl&) = delete;

  /// Before a thread that did not make this one runs a session.
  static void use_in_this_thread();
};

/// Of one thread at a time. Several of them, each with its own load of the model, may run at once.
class Session {
 public:
  /// The library is used until the end of the session. Throws Error(kOm) that says why the model cannot be loaded.
  Session(const AscendCl& library, const std::string& model_path);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// As the gear has them that was selected last; before, dimensions that gears change are unknown.
  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }

  const std::vector<Gear>& gears() const { return gears_; }  ///< empty: one shape
  /// What the library has loaded, which its C API does not tell: one per gear, at least one; valid as long as this.
  std::vector<const runtime::Om*> oms() const;
  /// Before set_input().
  void select_gear(std::size_t index);

  /// `tensor` stays the caller's until the last run(). Throws Error(kData) when it does not fit.
  void set_input(std::size_t index, const Tensor& tensor);
  /// Throws Error(kFailure) when the execution fails.
  void run();
  /// What the last run() wrote, valid until the next one.
  Tensor output(std::size_t index) const;

 private:
  using Desc = std::unique_ptr<aclmdlDesc, aclError (*)(aclmdlDesc*)>;

  void describe();
  void describe_gears();
  void allocate_outputs();

  std::uint32_t model_ = 0;
  Desc desc_{nullptr, aclmdlDestroyDesc};
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  std::vector<Gear> gears_;
  std::vector<std::int64_t> gear_values_;  ///< the buffer of ACL_DYNAMIC_TENSOR_NAME
  aclmdlDataset* input_set_ = nullptr;
  aclmdlDataset* output_set_ = nullptr;
};

}  // namespace aoe::tools
