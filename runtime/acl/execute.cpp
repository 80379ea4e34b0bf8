// Running a model on datasets.
#include <cstring>
#include <optional>

#include "runtime/acl/model.h"
#include "runtime/acl/objects.h"
#include "runtime/acl/process.h"
#include "runtime/acl/profiling.h"
#include "runtime/acl/wall.h"
#include "runtime/aligned_memory.h"

using namespace aoe::runtime::acl;

namespace {

using aoe::Tensor;
using aoe::runtime::OmTensor;

[[noreturn]] void mismatch(aclError code, const std::string& name, const std::string& what) {
  throw AclFailure(code, "'" + name + "': " + what);
}

void require_count(const aclmdlDataset* dataset, size_t expected, aclError code, const char* what) {
  require_pointer(dataset, what);
  if (dataset->entries.size() != expected)
    throw AclFailure(code, std::string(what) + " has " + std::to_string(dataset->entries.size()) +
                               " buffers, the model has " + std::to_string(expected));
}

/// A view of the buffer as the tensor that the model declares; `given` replaces a declared shape with unknown dimensions.
Tensor view_of(const aclDataBuffer& buffer, const OmTensor& declared, const aclTensorDesc* given,
               aclError code) {
  Tensor tensor{declared.desc, buffer.data};
  if (!aoe::is_static(tensor.desc.shape)) {
    if (given == nullptr || !aoe::is_static(given->desc.shape))
      mismatch(code, declared.name,
               "has unknown dimensions; aclmdlSetDatasetTensorDesc tells them");
    tensor.desc.shape = given->desc.shape;
  }
  const size_t needed_bytes = storage_bytes(tensor.desc);
  if (buffer.size_bytes < needed_bytes)
    mismatch(code, declared.name,
             "the buffer has " + std::to_string(buffer.size_bytes) + " bytes, the tensor " +
                 std::to_string(needed_bytes));
  return tensor;
}

/// The gear that the dataset's last buffer names.
size_t gear_of(const Model& model, const aclmdlDataset& input) {
  const aoe::Gears& gears = model.executor.gears();
  if (gears.empty()) return 0;
  const aclDataBuffer& buffer = *input.entries.back().buffer;
  aoe::GearValues values(gears.values.front().size());
  const size_t needed_bytes = values.size() * sizeof(values[0]);
  if (buffer.data == nullptr || buffer.size_bytes < needed_bytes)
    mismatch(ACL_ERROR_MODEL_INPUT_NOT_MATCH, ACL_DYNAMIC_TENSOR_NAME,
             "the buffer has " + std::to_string(buffer.size_bytes) + " bytes, the gear " +
                 std::to_string(needed_bytes));
  if (input.gear_memory != buffer.data)
    mismatch(ACL_ERROR_GE_SHAPE_INVALID, ACL_DYNAMIC_TENSOR_NAME,
             "holds no gear; set one of " + to_string(gears));
  std::memcpy(values.data(), buffer.data, needed_bytes);
  const auto gear = gears.find(values);
  if (!gear)
    mismatch(ACL_ERROR_GE_SHAPE_INVALID, ACL_DYNAMIC_TENSOR_NAME,
             "holds no gear (" + aoe::gear_text(values) + "); set one of " + to_string(gears));
  return *gear;
}

void require_shape_of_gear(const aclTensorDesc* given, const OmTensor& declared,
                           const aoe::Gears& gears, size_t gear) {
  if (gears.empty() || given == nullptr || given->desc.shape == declared.desc.shape) return;
  mismatch(ACL_ERROR_GE_SHAPE_INVALID, declared.name,
           "its shape was set to " + aoe::to_string(given->desc.shape) + ", gear " +
               aoe::gear_text(gears.values[gear]) + " has " + aoe::to_string(declared.desc.shape) +
               "; the gears are " + to_string(gears));
}

/// Copies an output whose size was not known before into the caller's buffer, or into a new one.
void hand_over(const Tensor& result, const std::string& name, aclDataBuffer& buffer) {
  const size_t size_bytes = storage_bytes(result.desc);
  if (buffer.data == nullptr) {
    buffer = {aoe::runtime::AlignedMemory(size_bytes).release(), size_bytes};
  } else if (buffer.size_bytes < size_bytes) {
    mismatch(ACL_ERROR_MODEL_OUTPUT_NOT_MATCH, name,
             "the buffer has " + std::to_string(buffer.size_bytes) + " bytes, the result " +
                 std::to_string(size_bytes));
  }
  if (size_bytes > 0) std::memcpy(buffer.data, result.data, size_bytes);
}

/// The dataset's own, which have to be the model's; nullptr where it has none.
aoe::TextPool* texts_of(const aclmdlDataset& input, const Model& model) {
  if (input.texts == nullptr) return nullptr;
  const aoe::TextIndex &given = input.texts->known(), &own = *model.executor.gear(0).texts();
  require(&given == &own || given.list() == own.list(),  // another, where a file was described
          ACL_ERROR_MODEL_INPUT_NOT_MATCH, "the dataset has the texts of another model");
  return input.texts.get();
}

void execute(Model& model, const aclmdlDataset* input, aclmdlDataset* output) {
  const aoe::Gears& gears = model.executor.gears();
  const size_t input_count = model.executor.gear(0).input_count();
  require_count(input, input_count + (gears.empty() ? 0 : 1), ACL_ERROR_MODEL_INPUT_NOT_MATCH,
                "input");
  const size_t gear = gear_of(model, *input);
  aoe::runtime::Executor& executor = model.executor.gear(gear);
  require_count(output, executor.output_count(), ACL_ERROR_MODEL_OUTPUT_NOT_MATCH, "output");

  std::vector<Tensor> inputs;
  for (size_t i = 0; i < input_count; ++i) {
    const auto& [buffer, desc] = input->entries[i];
    require_shape_of_gear(desc.get(), executor.input(i), gears, gear);
    inputs.push_back(
        view_of(*buffer, executor.input(i), desc.get(), ACL_ERROR_MODEL_INPUT_NOT_MATCH));
  }
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < executor.output_count(); ++i) {
    const OmTensor& declared = executor.output(i);
    outputs.push_back(aoe::is_static(declared.desc.shape)
                          ? view_of(*output->entries[i].buffer, declared, nullptr,
                                    ACL_ERROR_MODEL_OUTPUT_NOT_MATCH)
                          : Tensor{declared.desc, nullptr});
  }

  {
    const ExecutionSpan span(model);
    std::optional<aoe::TextPool::Scope> scope;
    if (aoe::TextPool* const texts = texts_of(*input, model)) scope.emplace(*texts);
    executor.run(inputs, outputs, span.tag());
  }

  model.output_shapes.clear();  // all of them, even if one does not fit into its buffer
  for (const Tensor& result : outputs) model.output_shapes.push_back(result.desc.shape);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OmTensor& declared = executor.output(i);
    if (aoe::is_static(declared.desc.shape)) continue;
    hand_over(outputs[i], declared.name, *output->entries[i].buffer);
    output->entries[i].desc = std::make_unique<aclTensorDesc>(aclTensorDesc{outputs[i].desc});
  }
}

void execute(uint32_t model_id, const aclmdlDataset* input, aclmdlDataset* output,
             aclrtStream stream) {
  require_stream(stream);
  const std::shared_ptr<Model> model = find_model(model_id);
  const std::lock_guard lock(model->mutex);
  execute(*model, input, output);
}

}  // namespace

aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output) {
  return guarded(__func__, [&] { execute(modelId, input, output, nullptr); });
}

aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output,
                            aclrtStream stream) {
  return guarded(__func__, [&] { execute(modelId, input, output, stream); });
}

aclError aclmdlExecuteV2(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output,
                         aclrtStream stream, const aclmdlExecConfigHandle* handle) {
  return guarded(__func__, [&] {
    require(handle == nullptr, ACL_ERROR_API_NOT_SUPPORT, "execution options are not supported");
    execute(modelId, input, output, stream);
  });
}
