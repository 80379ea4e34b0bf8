// Model descriptions: names, shapes, types and sizes of inputs and outputs.
#include <algorithm>
#include <cstring>

#include "runtime/acl/model.h"
#include "runtime/acl/objects.h"
#include "runtime/acl/process.h"
#include "runtime/acl/wall.h"

using namespace aoe::runtime::acl;

namespace {

using Ports = std::vector<aclmdlDesc::Port>;

void describe(const aoe::runtime::Om& om, aclmdlDesc& desc) {
  const auto ports = [&](const std::vector<int>& ids) {
    Ports result;
    for (const int id : ids) result.push_back({om.tensors[id].name, om.tensors[id].desc});
    return result;
  };
  desc.inputs = ports(om.inputs);
  desc.outputs = ports(om.outputs);
}

const aclmdlDesc::Port* port_at(const aclmdlDesc* desc, Ports aclmdlDesc::*ports, size_t index) {
  if (desc == nullptr || index >= (desc->*ports).size()) return nullptr;
  return &(desc->*ports)[index];
}

const aclmdlDesc::Port& port_or_fail(const aclmdlDesc* desc, Ports aclmdlDesc::*ports,
                                     size_t index) {
  require_pointer(desc, "modelDesc");
  const aclmdlDesc::Port* const port = port_at(desc, ports, index);
  if (port == nullptr)
    throw AclFailure(ACL_ERROR_INVALID_PARAM, "index " + std::to_string(index) + " of " +
                                                  std::to_string((desc->*ports).size()));
  return *port;
}

size_t size_of(const aclmdlDesc* desc, Ports aclmdlDesc::*ports, size_t index) {
  const aclmdlDesc::Port* const port = port_at(desc, ports, index);
  return port == nullptr ? 0 : port->size_bytes();
}

const char* name_of(const aclmdlDesc* desc, Ports aclmdlDesc::*ports, size_t index) {
  const aclmdlDesc::Port* const port = port_at(desc, ports, index);
  return port == nullptr ? "" : port->name.c_str();
}

aclFormat format_of(const aclmdlDesc* desc, Ports aclmdlDesc::*ports, size_t index) {
  const aclmdlDesc::Port* const port = port_at(desc, ports, index);
  return port == nullptr ? ACL_FORMAT_UNDEFINED : static_cast<aclFormat>(port->desc.format);
}

aclDataType type_of(const aclmdlDesc* desc, Ports aclmdlDesc::*ports, size_t index) {
  const aclmdlDesc::Port* const port = port_at(desc, ports, index);
  return port == nullptr ? ACL_DT_UNDEFINED : static_cast<aclDataType>(port->desc.dtype);
}

void write_dims(const std::string& name, const aoe::Shape& shape, aclmdlIODims* dims) {
  require_pointer(dims, "dims");
  require(shape.size() <= ACL_MAX_DIM_CNT, ACL_ERROR_GE_SHAPE_INVALID, "more than 128 dimensions");
  std::memset(dims->name, 0, sizeof dims->name);
  name.copy(dims->name, sizeof dims->name - 1);
  dims->dimCount = shape.size();
  std::copy(shape.begin(), shape.end(), dims->dims);
}

void find_by_name(const aclmdlDesc* desc, Ports aclmdlDesc::*ports, const char* name,
                  size_t* index) {
  require_pointer(desc, "modelDesc");
  require_pointer(name, "name");
  require_pointer(index, "index");
  const Ports& all = desc->*ports;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& port) { return port.name == name; });
  if (found == all.end())
    throw AclFailure(ACL_ERROR_INVALID_PARAM, std::string("the model has no '") + name + "' there");
  *index = static_cast<size_t>(found - all.begin());
}

/// The shape of an output as the model's last execution left it; the declared one when there is none.
aoe::Shape current_output_shape(const aclmdlDesc& desc, size_t index) {
  const aoe::Shape& declared = desc.outputs[index].desc.shape;
  if (!desc.model) return declared;
  const auto model = find_model(*desc.model);
  const std::lock_guard lock(model->mutex);
  return model->output_shapes.empty() ? declared : model->output_shapes[index];
}

aclError refuse_gear(const char* function, uint32_t model_id, const aclmdlDataset* dataset) {
  return guarded(function, [&] {
    require_initialized();
    require_pointer(dataset, "dataset");
    find_model(model_id);
    throw AclFailure(ACL_ERROR_MODEL_NOT_DYNAMIC, "the model has no dynamic gears");
  });
}

}  // namespace

aclmdlDesc* aclmdlCreateDesc() {
  return guarded_or<aclmdlDesc*>(__func__, nullptr,
                                 [] { return std::make_unique<aclmdlDesc>().release(); });
}

aclError aclmdlDestroyDesc(aclmdlDesc* modelDesc) {
  return guarded(__func__, [&] {
    require_pointer(modelDesc, "modelDesc");
    std::default_delete<aclmdlDesc>()(modelDesc);
  });
}

aclError aclmdlGetDesc(aclmdlDesc* modelDesc, uint32_t modelId) {
  return guarded(__func__, [&] {
    require_initialized();
    require_pointer(modelDesc, "modelDesc");
    describe(find_model(modelId)->executor.om(), *modelDesc);
    modelDesc->model = modelId;
  });
}

aclError aclmdlGetDescFromFile(aclmdlDesc* modelDesc, const char* modelPath) {
  return guarded(__func__, [&] {
    require_initialized();
    require_pointer(modelDesc, "modelDesc");
    describe(load_om(modelPath), *modelDesc);
    modelDesc->model.reset();
  });
}

size_t aclmdlGetNumInputs(aclmdlDesc* modelDesc) {
  return modelDesc == nullptr ? 0 : modelDesc->inputs.size();
}

size_t aclmdlGetNumOutputs(aclmdlDesc* modelDesc) {
  return modelDesc == nullptr ? 0 : modelDesc->outputs.size();
}

size_t aclmdlGetInputSizeByIndex(aclmdlDesc* modelDesc, size_t index) {
  return size_of(modelDesc, &aclmdlDesc::inputs, index);
}

size_t aclmdlGetOutputSizeByIndex(aclmdlDesc* modelDesc, size_t index) {
  return size_of(modelDesc, &aclmdlDesc::outputs, index);
}

aclError aclmdlGetInputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return guarded(__func__, [&] {
    const auto& port = port_or_fail(modelDesc, &aclmdlDesc::inputs, index);
    write_dims(port.name, port.desc.shape, dims);
  });
}

aclError aclmdlGetOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return guarded(__func__, [&] {
    const auto& port = port_or_fail(modelDesc, &aclmdlDesc::outputs, index);
    write_dims(port.name, port.desc.shape, dims);
  });
}

aclError aclmdlGetCurOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return guarded(__func__, [&] {
    const auto& port = port_or_fail(modelDesc, &aclmdlDesc::outputs, index);
    write_dims(port.name, current_output_shape(*modelDesc, index), dims);
  });
}

const char* aclmdlGetInputNameByIndex(const aclmdlDesc* modelDesc, size_t index) {
  return name_of(modelDesc, &aclmdlDesc::inputs, index);
}

const char* aclmdlGetOutputNameByIndex(const aclmdlDesc* modelDesc, size_t index) {
  return name_of(modelDesc, &aclmdlDesc::outputs, index);
}

aclFormat aclmdlGetInputFormat(const aclmdlDesc* modelDesc, size_t index) {
  return format_of(modelDesc, &aclmdlDesc::inputs, index);
}

aclFormat aclmdlGetOutputFormat(const aclmdlDesc* modelDesc, size_t index) {
  return format_of(modelDesc, &aclmdlDesc::outputs, index);
}

aclDataType aclmdlGetInputDataType(const aclmdlDesc* modelDesc, size_t index) {
  return type_of(modelDesc, &aclmdlDesc::inputs, index);
}

aclDataType aclmdlGetOutputDataType(const aclmdlDesc* modelDesc, size_t index) {
  return type_of(modelDesc, &aclmdlDesc::outputs, index);
}

aclError aclmdlGetInputIndexByName(const aclmdlDesc* modelDesc, const char* name, size_t* index) {
  return guarded(__func__, [&] { find_by_name(modelDesc, &aclmdlDesc::inputs, name, index); });
}

aclError aclmdlGetOutputIndexByName(const aclmdlDesc* modelDesc, const char* name, size_t* index) {
  return guarded(__func__, [&] { find_by_name(modelDesc, &aclmdlDesc::outputs, name, index); });
}

aclError aclmdlGetDynamicBatch(const aclmdlDesc* modelDesc, aclmdlBatch* batch) {
  return guarded(__func__, [&] {
    require_pointer(modelDesc, "modelDesc");
    require_pointer(batch, "batch");
    batch->batchCount = 0;
  });
}

aclError aclmdlGetDynamicHW(const aclmdlDesc* modelDesc, size_t, aclmdlHW* hw) {
  return guarded(__func__, [&] {
    require_pointer(modelDesc, "modelDesc");
    require_pointer(hw, "hw");
    hw->hwCount = 0;
  });
}

aclError aclmdlGetInputDynamicGearCount(const aclmdlDesc* modelDesc, size_t, size_t* gearCount) {
  return guarded(__func__, [&] {
    require_pointer(modelDesc, "modelDesc");
    require_pointer(gearCount, "gearCount");
    *gearCount = 0;
  });
}

aclError aclmdlGetInputDynamicDims(const aclmdlDesc* modelDesc, size_t, aclmdlIODims*,
                                   size_t gearCount) {
  return guarded(__func__, [&] {
    require_pointer(modelDesc, "modelDesc");
    require(gearCount == 0, ACL_ERROR_INVALID_PARAM, "the model has no gears");
  });
}

aclError aclmdlSetDynamicBatchSize(uint32_t modelId, aclmdlDataset* dataset, size_t, uint64_t) {
  return refuse_gear(__func__, modelId, dataset);
}

aclError aclmdlSetDynamicHWSize(uint32_t modelId, aclmdlDataset* dataset, size_t, uint64_t,
                                uint64_t) {
  return refuse_gear(__func__, modelId, dataset);
}

aclError aclmdlSetInputDynamicDims(uint32_t modelId, aclmdlDataset* dataset, size_t,
                                   const aclmdlIODims*) {
  return refuse_gear(__func__, modelId, dataset);
}
