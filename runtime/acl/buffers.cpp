// Data buffers and tensor descriptions.
#include <algorithm>

#include "runtime/acl/objects.h"
#include "runtime/acl/wall.h"

using namespace aoe::runtime::acl;

size_t aclDataTypeSize(aclDataType dataType) {
  return aoe::size_bytes(static_cast<aoe::DataType>(dataType));
}

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  return guarded_or<aclDataBuffer*>(__func__, nullptr, [&] {
    require(data != nullptr || size == 0, ACL_ERROR_INVALID_PARAM, "a size without memory");
    return std::make_unique<aclDataBuffer>(aclDataBuffer{data, size}).release();
  });
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  return guarded(__func__, [&] {
    require_pointer(dataBuffer, "dataBuffer");
    std::default_delete<const aclDataBuffer>()(dataBuffer);
  });
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  return guarded(__func__, [&] {
    require_pointer(dataBuffer, "dataBuffer");
    require(data != nullptr || size == 0, ACL_ERROR_INVALID_PARAM, "a size without memory");
    *dataBuffer = {data, size};
  });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  return dataBuffer == nullptr ? nullptr : dataBuffer->data;
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  return dataBuffer == nullptr ? 0 : dataBuffer->size_bytes;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
  return static_cast<uint32_t>(aclGetDataBufferSizeV2(dataBuffer));
}

aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims,
                                   aclFormat format) {
  return guarded_or<aclTensorDesc*>(__func__, nullptr, [&] {
    require(numDims >= 0 && numDims <= ACL_MAX_DIM_CNT, ACL_ERROR_INVALID_PARAM,
            "numDims is not between 0 and 128");
    if (numDims > 0) require_pointer(dims, "dims");
    auto created = std::make_unique<aclTensorDesc>();
    created->desc.dtype = static_cast<aoe::DataType>(dataType);
    created->desc.format = static_cast<aoe::Format>(format);
    created->desc.shape.assign(dims, dims + numDims);
    return created.release();
  });
}

void aclDestroyTensorDesc(const aclTensorDesc* desc) {
  std::default_delete<const aclTensorDesc>()(desc);
}

aclDataType aclGetTensorDescType(const aclTensorDesc* desc) {
  return desc == nullptr ? ACL_DT_UNDEFINED : static_cast<aclDataType>(desc->desc.dtype);
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc) {
  return desc == nullptr ? ACL_FORMAT_UNDEFINED : static_cast<aclFormat>(desc->desc.format);
}

size_t aclGetTensorDescSize(const aclTensorDesc* desc) {
  if (desc == nullptr) return 0;
  size_t size = size_bytes(desc->desc.dtype);
  for (const int64_t dim : desc->desc.shape)
    if (dim < 0 || __builtin_mul_overflow(size, static_cast<size_t>(dim), &size)) return 0;
  return size;
}

size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) {
  return desc == nullptr ? 0 : desc->desc.shape.size();
}

aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize) {
  return guarded(__func__, [&] {
    require_pointer(desc, "desc");
    require_pointer(dimSize, "dimSize");
    require(index < desc->desc.shape.size(), ACL_ERROR_INVALID_PARAM, "index is too large");
    *dimSize = desc->desc.shape[index];
  });
}
