// LoadedOm: a hand-made om behind the C API, with buffers to execute it on.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "acl/acl.h"
#include "tests/runtime/om_builder.h"

namespace aoe::runtime::tests {

/// After aclInit() and aclrtSetDevice(). Inputs are ones. Destroyed before or after aclFinalize().
class LoadedOm {
 public:
  explicit LoadedOm(const Om& om) {
    const std::string bytes = om.serialize();
    EXPECT_EQ(aclmdlLoadFromMem(bytes.data(), bytes.size(), &id_), ACL_SUCCESS)
        << aclGetRecentErrMsg();
    for (const int id : om.inputs) add(inputs_, om.tensors[id].desc);
    for (const int id : om.outputs) add(outputs_, om.tensors[id].desc);
  }
  ~LoadedOm() {
    for (aclmdlDataset* const dataset : {inputs_, outputs_}) {
      for (std::size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset); ++i)
        aclDestroyDataBuffer(aclmdlGetDatasetBuffer(dataset, i));
      aclmdlDestroyDataset(dataset);
    }
  }
  LoadedOm(const LoadedOm&) = delete;
  LoadedOm& operator=(const LoadedOm&) = delete;

  std::uint32_t id() const { return id_; }
  aclError execute() const { return aclmdlExecute(id_, inputs_, outputs_); }
  void execute(int runs) const {
    for (int i = 0; i < runs; ++i) ASSERT_EQ(execute(), ACL_SUCCESS) << aclGetRecentErrMsg();
  }

 private:
  void add(aclmdlDataset* dataset, const TensorDesc& desc) {
    auto& memory = memory_.emplace_back(storage_bytes(desc) / sizeof(float), 1.0f);
    aclmdlAddDatasetBuffer(dataset,
                           aclCreateDataBuffer(memory.data(), memory.size() * sizeof(float)));
  }

  std::uint32_t id_ = 0;
  std::vector<std::vector<float>> memory_;
  aclmdlDataset* const inputs_ = aclmdlCreateDataset();
  aclmdlDataset* const outputs_ = aclmdlCreateDataset();
};

/// relu(x + w) in reference steps.
inline Om two_op_om() {
  Om om = small_om();
  om.code.clear();
  return om;
}

}  // namespace aoe::runtime::tests
