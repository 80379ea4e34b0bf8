// The structures behind the opaque handles of the C API.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acl/acl_mdl.h"
#include "base/tensor.h"

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
};

struct aclmdlDesc {
  struct Port {
    std::string name;
    aoe::TensorDesc desc;
    size_t size_bytes() const { return aoe::is_static(desc.shape) ? storage_bytes(desc) : 0; }
  };
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::optional<uint32_t> model;  ///< when it was described from a loaded one
};
