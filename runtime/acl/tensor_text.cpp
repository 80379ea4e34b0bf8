// Names of types and formats as profiles have them.
#include "runtime/acl/tensor_text.h"

#include "runtime/acl/stamp_names.h"
#include "runtime/acl/wall.h"

namespace aoe::runtime::acl {
namespace {

constexpr std::uint32_t kMostTensors = 5;
constexpr std::uint32_t kMostDims = 8;

std::string format_name(std::uint32_t format) {
  struct Named {
    aclFormat format;
    const char* name;
  };
  constexpr Named kNames[] = {{ACL_FORMAT_NCHW, "NCHW"},
                              {ACL_FORMAT_NHWC, "NHWC"},
                              {ACL_FORMAT_ND, "ND"},
                              {ACL_FORMAT_NC1HWC0, "NC1HWC0"},
                              {ACL_FORMAT_FRACTAL_Z, "FRACTAL_Z"},
                              {ACL_FORMAT_HWCN, "HWCN"},
                              {ACL_FORMAT_NDHWC, "NDHWC"},
                              {ACL_FORMAT_FRACTAL_NZ, "FRACTAL_NZ"},
                              {ACL_FORMAT_NCDHW, "NCDHW"}};
  for (const Named& named : kNames)
    if (static_cast<std::uint32_t>(named.format) == format) return named.name;
  return std::to_string(format);
}

std::string type_name(std::uint32_t type) {
  struct Named {
    aclDataType type;
    const char* name;
  };
  constexpr Named kNames[] = {
      {ACL_FLOAT, "FLOAT"},   {ACL_FLOAT16, "FLOAT16"}, {ACL_INT8, "INT8"},
      {ACL_INT32, "INT32"},   {ACL_UINT8, "UINT8"},     {ACL_INT16, "INT16"},
      {ACL_UINT16, "UINT16"}, {ACL_UINT32, "UINT32"},   {ACL_INT64, "INT64"},
      {ACL_UINT64, "UINT64"}, {ACL_DOUBLE, "DOUBLE"},   {ACL_BOOL, "BOOL"},
      {ACL_BF16, "BF16"}};
  for (const Named& named : kNames)
    if (static_cast<std::uint32_t>(named.type) == type) return named.name;
  return std::to_string(type);
}

std::string name_of_id(std::uint64_t id, const char* parameter) {
  if (!stamp_names().is_known(id))
    throw AclFailure(ACL_ERROR_INVALID_PARAM,
                     std::string(parameter) + " is no id of aclprofStr2Id");
  return stamp_names().text_of(static_cast<std::uint32_t>(id));
}

}  // namespace

std::string tensor_text(const aclprofTensorInfo& info) {
  require(info.tensorNum <= kMostTensors, ACL_ERROR_INVALID_PARAM, "more than 5 tensors");
  if (info.tensorNum > 0) require_pointer(info.tensors, "tensors");
  std::string text =
      name_of_id(info.opNameId, "opNameId") + " " + name_of_id(info.opTypeId, "opTypeId");
  for (std::uint32_t i = 0; i < info.tensorNum; ++i) {
    const aclprofTensor& tensor = info.tensors[i];
    require(tensor.type <= 1, ACL_ERROR_INVALID_PARAM, "a tensor is neither input nor output");
    require(tensor.shapeDim <= kMostDims, ACL_ERROR_INVALID_PARAM, "more than 8 dimensions");
    text += (tensor.type == 0 ? " in " : " out ") + type_name(tensor.dataType) + " " +
            format_name(tensor.format) + " ";
    for (std::uint32_t axis = 0; axis < tensor.shapeDim; ++axis)
      text += (axis == 0 ? "" : "x") + std::to_string(tensor.shape[axis]);
    if (tensor.shapeDim == 0) text += "scalar";
  }
  if (info.blockNums > 0) text += " blocks " + std::to_string(info.blockNums);
  return text;
}

}  // namespace aoe::runtime::acl
