// Dynamic gears: what a description says of them, and choosing one for a dataset.
#include <algorithm>
#include <cstring>

#include "runtime/acl/model.h"
#include "runtime/acl/objects.h"
#include "runtime/acl/process.h"
#include "runtime/acl/wall.h"

using namespace aoe::runtime::acl;

namespace {

using aoe::GearKind;
using aoe::Gears;
using aoe::GearValues;

bool has_gears(const aclmdlDesc* desc, GearKind kind) {
  require_pointer(desc, "modelDesc");
  return !desc->gears.empty() && desc->gears.kind == kind;
}

/// The dimensions of all inputs, one input behind the other.
std::vector<int64_t> joined(const std::vector<aoe::Shape>& shapes) {
  std::vector<int64_t> dims;
  for (const aoe::Shape& shape : shapes) dims.insert(dims.end(), shape.begin(), shape.end());
  return dims;
}

const Gears& gears_or_fail(const Model& model, GearKind kind) {
  const Gears& gears = model.executor.gears();
  if (gears.empty())
    throw AclFailure(ACL_ERROR_MODEL_NOT_DYNAMIC, "the model has no dynamic gears");
  if (gears.kind != kind)
    throw AclFailure(ACL_ERROR_MODEL_NOT_DYNAMIC, "the model has other gears: " + to_string(gears));
  return gears;
}

/// Writes the gear into the dataset and, for aclmdlGetCurOutputDims(), remembers the outputs' shapes.
void set_gear(Model& model, const aclmdlDataset* dataset, size_t index, size_t gear) {
  const aoe::runtime::Executor& executor = model.executor.gear(gear);
  require_pointer(dataset, "dataset");
  if (index != executor.input_count() || index >= dataset->entries.size())
    throw AclFailure(ACL_ERROR_INVALID_PARAM, "index " + std::to_string(index) +
                                                  " is not that of " ACL_DYNAMIC_TENSOR_NAME
                                                  ", which is " +
                                                  std::to_string(executor.input_count()));
  const GearValues& values = model.executor.gears().values[gear];
  const aclDataBuffer& buffer = *dataset->entries[index].buffer;
  const size_t needed_bytes = values.size() * sizeof(values[0]);
  if (buffer.data == nullptr || buffer.size_bytes < needed_bytes)
    throw AclFailure(ACL_ERROR_INVALID_PARAM, "the buffer of " ACL_DYNAMIC_TENSOR_NAME " has " +
                                                  std::to_string(buffer.size_bytes) +
                                                  " bytes, the gear " +
                                                  std::to_string(needed_bytes));
  std::memcpy(buffer.data, values.data(), needed_bytes);
  dataset->gear_memory = buffer.data;
  const std::lock_guard lock(model.mutex);
  model.output_shapes.clear();
  for (size_t i = 0; i < executor.output_count(); ++i)
    model.output_shapes.push_back(executor.output(i).desc.shape);
}

aclError set_gear_of_sizes(const char* function, uint32_t model_id, const aclmdlDataset* dataset,
                           size_t index, GearKind kind, const GearValues& wanted,
                           aclError code_of_others) {
  return guarded(function, [&] {
    require_initialized();
    const std::shared_ptr<Model> model = find_model(model_id);
    const Gears& gears = gears_or_fail(*model, kind);
    const auto gear = gears.find(wanted);
    if (!gear)
      throw AclFailure(code_of_others,
                       aoe::gear_text(wanted) + " is no gear; the model has " + to_string(gears));
    set_gear(*model, dataset, index, *gear);
  });
}

size_t gear_with_dims(const Model& model, const Gears& gears, const std::vector<int64_t>& wanted) {
  std::string known;
  for (size_t gear = 0; gear < gears.count(); ++gear) {
    const aoe::runtime::Executor& executor = model.executor.gear(gear);
    std::vector<aoe::Shape> shapes;
    for (size_t i = 0; i < executor.input_count(); ++i)
      shapes.push_back(executor.input(i).desc.shape);
    if (joined(shapes) == wanted) return gear;
    known += (known.empty() ? "" : "; ") + aoe::gear_text(joined(shapes));
  }
  throw AclFailure(
      ACL_ERROR_GE_SHAPE_INVALID,
      aoe::gear_text(wanted) + " are the inputs' dimensions in no gear; they are " + known);
}

}  // namespace

aclError aclmdlGetDynamicBatch(const aclmdlDesc* modelDesc, aclmdlBatch* batch) {
  return guarded(__func__, [&] {
    require_pointer(batch, "batch");
    batch->batchCount = 0;
    if (!has_gears(modelDesc, GearKind::kBatch)) return;
    for (const GearValues& values : modelDesc->gears.values)
      batch->batch[batch->batchCount++] = static_cast<uint64_t>(values[0]);
  });
}

aclError aclmdlGetDynamicHW(const aclmdlDesc* modelDesc, size_t, aclmdlHW* hw) {
  return guarded(__func__, [&] {
    require_pointer(hw, "hw");
    hw->hwCount = 0;
    if (!has_gears(modelDesc, GearKind::kImage)) return;
    for (const GearValues& values : modelDesc->gears.values) {
      hw->hw[hw->hwCount][0] = static_cast<uint64_t>(values[0]);
      hw->hw[hw->hwCount++][1] = static_cast<uint64_t>(values[1]);
    }
  });
}

aclError aclmdlGetInputDynamicGearCount(const aclmdlDesc* modelDesc, size_t, size_t* gearCount) {
  return guarded(__func__, [&] {
    require_pointer(gearCount, "gearCount");
    *gearCount = has_gears(modelDesc, GearKind::kDims) ? modelDesc->gears.count() : 0;
  });
}

aclError aclmdlGetInputDynamicDims(const aclmdlDesc* modelDesc, size_t, aclmdlIODims* dims,
                                   size_t gearCount) {
  return guarded(__func__, [&] {
    const size_t count = has_gears(modelDesc, GearKind::kDims) ? modelDesc->gears.count() : 0;
    if (gearCount < count || (count == 0 && gearCount > 0))
      throw AclFailure(ACL_ERROR_INVALID_PARAM, "gearCount is " + std::to_string(gearCount) +
                                                    ", the model has " + std::to_string(count));
    if (count > 0) require_pointer(dims, "dims");
    for (size_t gear = 0; gear < count; ++gear) {
      const std::vector<int64_t> all = joined(modelDesc->gear_shapes[gear]);
      require(all.size() <= ACL_MAX_DIM_CNT, ACL_ERROR_GE_SHAPE_INVALID,
              "the inputs have more than 128 dimensions");
      std::memset(dims[gear].name, 0, sizeof dims[gear].name);
      dims[gear].dimCount = all.size();
      std::copy(all.begin(), all.end(), dims[gear].dims);
    }
  });
}

aclError aclmdlSetDynamicBatchSize(uint32_t modelId, aclmdlDataset* dataset, size_t index,
                                   uint64_t batchSize) {
  return set_gear_of_sizes(__func__, modelId, dataset, index, GearKind::kBatch,
                           {static_cast<int64_t>(batchSize)},
                           ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID);
}

aclError aclmdlSetDynamicHWSize(uint32_t modelId, aclmdlDataset* dataset, size_t index,
                                uint64_t height, uint64_t width) {
  return set_gear_of_sizes(__func__, modelId, dataset, index, GearKind::kImage,
                           {static_cast<int64_t>(height), static_cast<int64_t>(width)},
                           ACL_ERROR_GE_SHAPE_INVALID);
}

aclError aclmdlSetInputDynamicDims(uint32_t modelId, aclmdlDataset* dataset, size_t index,
                                   const aclmdlIODims* dims) {
  return guarded(__func__, [&] {
    require_initialized();
    const std::shared_ptr<Model> model = find_model(modelId);
    const Gears& gears = gears_or_fail(*model, GearKind::kDims);
    require_pointer(dims, "dims");
    require(dims->dimCount <= ACL_MAX_DIM_CNT, ACL_ERROR_INVALID_PARAM,
            "dimCount is more than 128");
    const std::vector<int64_t> wanted(dims->dims, dims->dims + dims->dimCount);
    set_gear(*model, dataset, index, gear_with_dims(*model, gears, wanted));
  });
}
