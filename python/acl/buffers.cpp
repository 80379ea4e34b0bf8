// acl.*: data buffers and tensor descriptions.
#include <pybind11/stl.h>

#include <vector>

#include "handles.h"

namespace aoe::pyacl {
namespace {

Handles<aclTensorDesc>& tensor_descs() {
  static auto& made = immortal<Handles<aclTensorDesc>>([](aclTensorDesc* desc) {
    aclDestroyTensorDesc(desc);
    return ACL_SUCCESS;
  });
  return made;
}

Address create_data_buffer(Address data, std::size_t size) {
  return data_buffers().add(aclCreateDataBuffer(pointer_to(data), size));
}

Address create_tensor_desc(int data_type, const std::vector<std::int64_t>& dims, int format) {
  return tensor_descs().add(aclCreateTensorDesc(static_cast<aclDataType>(data_type),
                                                static_cast<int>(dims.size()), dims.data(),
                                                static_cast<aclFormat>(format)));
}

std::tuple<std::int64_t, aclError> get_tensor_desc_dim(Address desc, std::size_t index) {
  std::int64_t dim = 0;
  const aclError code = aclGetTensorDescDimV2(find_tensor_desc(desc).get(), index, &dim);
  return {dim, code};
}

}  // namespace

Handles<aclDataBuffer>& data_buffers() {
  static auto& made = immortal<Handles<aclDataBuffer>>(
      [](aclDataBuffer* buffer) { return aclDestroyDataBuffer(buffer); });
  return made;
}

std::shared_ptr<aclTensorDesc> find_tensor_desc(Address handle) {
  if (auto found = tensor_descs().find(handle)) return found;
  if (handle == 0) return nullptr;
  for (const auto& [address, dataset] : datasets().all())
    for (std::size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset.get()); ++i)
      if (aclTensorDesc* const desc = aclmdlGetDatasetTensorDesc(dataset.get(), i);
          address_of(desc) == handle)
        return {dataset, desc};
  return nullptr;
}

void bind_buffers(py::module_& acl) {
  acl.def("create_data_buffer", &create_data_buffer, "data"_a, "size"_a);
  acl.def(
      "destroy_data_buffer", [](Address buffer) { return data_buffers().destroy(buffer); },
      "data_buffer"_a);
  acl.def(
      "update_data_buffer",
      [](Address buffer, Address data, std::size_t size) {
        return aclUpdateDataBuffer(data_buffers().find(buffer).get(), pointer_to(data), size);
      },
      "data_buffer"_a, "data"_a, "size"_a);
  acl.def(
      "get_data_buffer_addr",
      [](Address buffer) {
        return address_of(aclGetDataBufferAddr(data_buffers().find(buffer).get()));
      },
      "data_buffer"_a);
  acl.def(
      "get_data_buffer_size",
      [](Address buffer) { return aclGetDataBufferSize(data_buffers().find(buffer).get()); },
      "data_buffer"_a);
  acl.def(
      "get_data_buffer_size_v2",
      [](Address buffer) { return aclGetDataBufferSizeV2(data_buffers().find(buffer).get()); },
      "data_buffer"_a);

  acl.def(
      "data_type_size", [](int type) { return aclDataTypeSize(static_cast<aclDataType>(type)); },
      "data_type"_a);
  acl.def("create_tensor_desc", &create_tensor_desc, "data_type"_a, "dims"_a, "format"_a);
  acl.def(
      "destroy_tensor_desc", [](Address desc) { tensor_descs().destroy(desc); }, "desc"_a);
  acl.def(
      "get_tensor_desc_type",
      [](Address desc) -> int { return aclGetTensorDescType(find_tensor_desc(desc).get()); },
      "desc"_a);
  acl.def(
      "get_tensor_desc_format",
      [](Address desc) -> int { return aclGetTensorDescFormat(find_tensor_desc(desc).get()); },
      "desc"_a);
  acl.def(
      "get_tensor_desc_size",
      [](Address desc) { return aclGetTensorDescSize(find_tensor_desc(desc).get()); }, "desc"_a);
  acl.def(
      "get_tensor_desc_num_dims",
      [](Address desc) { return aclGetTensorDescNumDims(find_tensor_desc(desc).get()); }, "desc"_a);
  acl.def("get_tensor_desc_dim_v2", &get_tensor_desc_dim, "desc"_a, "index"_a);
}

}  // namespace aoe::pyacl
