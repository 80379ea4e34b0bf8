// A small model that is loaded through the C API, with its datasets: aclInit() and aclrtSetDevice(0) come before.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "acl/acl.h"
#include "tests/runtime/om_builder.h"

namespace aoe::runtime::tests {

/// Two ops on the reference path, one input and one output of six floats.
class LoadedModel {
 public:
  LoadedModel() {
    Om om = small_om();
    om.code.clear();
    const std::string bytes = om.serialize();
    EXPECT_EQ(aclmdlLoadFromMem(bytes.data(), bytes.size(), &id_), ACL_SUCCESS);
    aclmdlAddDatasetBuffer(input_, x_buffer_);
    aclmdlAddDatasetBuffer(output_, y_buffer_);
  }
  ~LoadedModel() {
    aclDestroyDataBuffer(x_buffer_);
    aclDestroyDataBuffer(y_buffer_);
    aclmdlDestroyDataset(input_);
    aclmdlDestroyDataset(output_);
    aclmdlUnload(id_);
  }
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;

  std::uint32_t id() const { return id_; }
  aclError execute() { return aclmdlExecute(id_, input_, output_); }

 private:
  std::uint32_t id_ = 0;
  std::vector<float> x_ = std::vector<float>(6);
  std::vector<float> y_ = std::vector<float>(6);
  aclmdlDataset* input_ = aclmdlCreateDataset();
  aclmdlDataset* output_ = aclmdlCreateDataset();
  aclDataBuffer* x_buffer_ = aclCreateDataBuffer(x_.data(), x_.size() * sizeof(float));
  aclDataBuffer* y_buffer_ = aclCreateDataBuffer(y_.data(), y_.size() * sizeof(float));
};

}  // namespace aoe::runtime::tests
