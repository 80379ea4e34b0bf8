// The structures behind the opaque handles of the C API.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acl/acl_mdl.h"
#include "base/gears.h"
#include "base/tensor.h"
#include "base/text_pool.h"

struct aclDataBuffer {
  void* data;
  size_t size_bytes;
};

struct aclTensorDesc {
  aoe::TensorDesc desc;
};

struct aclmdlDataset {
  struct Entry {
    aclDataBuffer* buffer;                ///< the caller's
    std::unique_ptr<aclTensorDesc> desc;  ///< nullptr when not known
  };
  std::vector<Entry> entries;
  /// The memory that a gear was written to for this dataset: what else lies there is what its owner before left behind.
  mutable const void* gear_memory = nullptr;
  std::unique_ptr<aoe::TextPool> texts;  ///< nullptr: it has none of its own
};

struct aclmdlDesc {
  struct Port {
    std::string name;
    aoe::TensorDesc desc;   ///< dimensions that gears change are unknown
    size_t size_bytes = 0;  ///< of the largest gear; 0 when only a run can tell
    bool is_text = false;   ///< holds places in `texts`
  };
  std::vector<Port> inputs;  ///< with gears one more than the model has: ACL_DYNAMIC_TENSOR_NAME
  std::vector<Port> outputs;
  aoe::Gears gears;
  std::vector<std::vector<aoe::Shape>> gear_shapes;  ///< of the model's inputs, by gear
  std::shared_ptr<const aoe::TextIndex> texts;       ///< nullptr before it describes a model
  bool reads_texts = false;
  std::optional<uint32_t> model;  ///< when it was described from a loaded one
};
