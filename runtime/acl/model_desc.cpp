// Model descriptions: names, shapes, types and sizes of inputs and outputs.
#include <algorithm>
#include <cstring>

#include "reference/texts/texts.h"
#include "runtime/acl/model.h"
#include "runtime/acl/objects.h"
#include "runtime/acl/process.h"
#include "runtime/acl/wall.h"
#include "runtime/om/om_bodies.h"

using namespace aoe::runtime::acl;

namespace {

using aoe::runtime::Om;
using aoe::runtime::OmTensor;
using Ports = std::vector<aclmdlDesc::Port>;

const OmTensor& tensor(const Om& om, const std::vector<int> Om::*ids, size_t index) {
  return om.tensors[(om.*ids)[index]];
}

/// As gear 0 has it, with the dimensions open that are different in another gear, and room for the largest.
aclmdlDesc::Port port_of(const std::vector<const Om*>& gears, const std::vector<int> Om::*ids,
                         size_t index) {
  const OmTensor& first = tensor(*gears.front(), ids, index);
  aclmdlDesc::Port port{first.name, first.desc};
  bool has_size = true;
  for (const Om* om : gears) {
    const aoe::TensorDesc& desc = tensor(*om, ids, index).desc;
    for (size_t axis = 0; axis < desc.shape.size(); ++axis)
      if (desc.shape[axis] != first.desc.shape[axis]) port.desc.shape[axis] = aoe::kUnknownDim;
    has_size = has_size && aoe::is_static(desc.shape);
    if (has_size) port.size_bytes = std::max(port.size_bytes, storage_bytes(desc));
  }
  if (!has_size) port.size_bytes = 0;
  return port;
}

/// The input that holds the gear of an execution; the functions of gears.cpp write it.
aclmdlDesc::Port gear_port(const aoe::Gears& gears) {
  const auto sizes = static_cast<std::int64_t>(gears.values.front().size());
  const aoe::TensorDesc desc{aoe::DataType::kInt64, {sizes}};
  return {ACL_DYNAMIC_TENSOR_NAME, desc, storage_bytes(desc)};
}

void mark_texts(Ports& ports, const std::vector<std::string>& names) {
  for (aclmdlDesc::Port& port : ports)
    port.is_text = port.desc.dtype == aoe::DataType::kInt64 &&
                   std::find(names.begin(), names.end(), port.name) != names.end();
}

/// Whether an operator of it looks at letters.
bool reads_texts(const Om& om) {
  bool is_found = false;
  if (om.texts.list.empty()) return is_found;
  aoe::runtime::for_each_om(om, [&](const Om& each, const std::string&) {
    for (const aoe::runtime::OmStep& step : each.steps)
      is_found = is_found || aoe::reference::reads_texts(step.call.type);
  });
  return is_found;
}

void describe(const aoe::Gears& gears, const std::vector<const Om*>& oms,
              std::shared_ptr<const aoe::TextIndex> texts, aclmdlDesc& desc) {
  desc = {};
  for (size_t i = 0; i < oms.front()->inputs.size(); ++i)
    desc.inputs.push_back(port_of(oms, &Om::inputs, i));
  for (size_t i = 0; i < oms.front()->outputs.size(); ++i)
    desc.outputs.push_back(port_of(oms, &Om::outputs, i));
  desc.texts = std::move(texts);
  desc.reads_texts = reads_texts(*oms.front());
  mark_texts(desc.inputs, oms.front()->texts.inputs);
  mark_texts(desc.outputs, oms.front()->texts.outputs);
  if (gears.empty()) return;
  desc.gears = gears;
  for (const Om* om : oms) {
    std::vector<aoe::Shape>& shapes = desc.gear_shapes.emplace_back();
    for (const int id : om->inputs) shapes.push_back(om->tensors[id].desc.shape);
  }
  for (size_t i = 0; i < gears.dynamic_axes.size(); ++i)
    for (const int axis : gears.dynamic_axes[i]) desc.inputs[i].desc.shape[axis] = aoe::kUnknownDim;
  desc.inputs.push_back(gear_port(gears));
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
  return port == nullptr ? 0 : port->size_bytes;
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

/// The shape of an output in the gear set last or as the last execution left it; the declared one before both.
aoe::Shape current_output_shape(const aclmdlDesc& desc, size_t index) {
  const aoe::Shape& declared = desc.outputs[index].desc.shape;
  if (!desc.model) return declared;
  const auto model = find_model(*desc.model);
  const std::lock_guard lock(model->mutex);
  return model->output_shapes.empty() ? declared : model->output_shapes[index];
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
    const std::shared_ptr<Model> model = find_model(modelId);
    describe(model->executor.gears(), model->executor.oms(), model->executor.gear(0).texts(),
             *modelDesc);
    modelDesc->model = modelId;
  });
}

aclError aclmdlGetDescFromFile(aclmdlDesc* modelDesc, const char* modelPath) {
  return guarded(__func__, [&] {
    require_initialized();
    require_pointer(modelDesc, "modelDesc");
    const aoe::runtime::GearedOm model = load_om(modelPath);
    std::vector<const Om*> oms;
    for (const Om& om : model.oms) oms.push_back(&om);
    describe(model.gears, oms, std::make_shared<const aoe::TextIndex>(model.oms.front().texts.list),
             *modelDesc);
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

bool aclmdlIsInputText(const aclmdlDesc* modelDesc, size_t index) {
  const aclmdlDesc::Port* const port = port_at(modelDesc, &aclmdlDesc::inputs, index);
  return port != nullptr && port->is_text;
}

bool aclmdlIsOutputText(const aclmdlDesc* modelDesc, size_t index) {
  const aclmdlDesc::Port* const port = port_at(modelDesc, &aclmdlDesc::outputs, index);
  return port != nullptr && port->is_text;
}
