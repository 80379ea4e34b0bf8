// Datasets: lists of the caller's data buffers.
#include "runtime/acl/objects.h"
#include "runtime/acl/wall.h"

using namespace aoe::runtime::acl;

aclmdlDataset* aclmdlCreateDataset() {
  return guarded_or<aclmdlDataset*>(__func__, nullptr,
                                    [] { return std::make_unique<aclmdlDataset>().release(); });
}

aclError aclmdlDestroyDataset(const aclmdlDataset* dataset) {
  return guarded(__func__, [&] {
    require_pointer(dataset, "dataset");
    std::default_delete<const aclmdlDataset>()(dataset);
  });
}

aclError aclmdlAddDatasetBuffer(aclmdlDataset* dataset, aclDataBuffer* dataBuffer) {
  return guarded(__func__, [&] {
    require_pointer(dataset, "dataset");
    require_pointer(dataBuffer, "dataBuffer");
    dataset->entries.push_back({dataBuffer, nullptr});
  });
}

size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset* dataset) {
  return dataset == nullptr ? 0 : dataset->entries.size();
}

aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset, size_t index) {
  return index < aclmdlGetDatasetNumBuffers(dataset) ? dataset->entries[index].buffer : nullptr;
}

aclError aclmdlSetDatasetTensorDesc(aclmdlDataset* dataset, aclTensorDesc* tensorDesc,
                                    size_t index) {
  return guarded(__func__, [&] {
    require_pointer(dataset, "dataset");
    require(index < dataset->entries.size(), ACL_ERROR_INVALID_PARAM, "index is too large");
    dataset->entries[index].desc =
        tensorDesc == nullptr ? nullptr : std::make_unique<aclTensorDesc>(*tensorDesc);
  });
}

aclTensorDesc* aclmdlGetDatasetTensorDesc(const aclmdlDataset* dataset, size_t index) {
  return index < aclmdlGetDatasetNumBuffers(dataset) ? dataset->entries[index].desc.get() : nullptr;
}
