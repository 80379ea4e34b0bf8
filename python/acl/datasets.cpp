// acl.mdl: datasets, and executions on them.
#include "handles.h"

namespace aoe::pyacl {
namespace {

/// (dataset, ret), as pyACL has it.
std::tuple<Address, aclError> add_dataset_buffer(Address dataset, Address buffer) {
  const aclError code =
      aclmdlAddDatasetBuffer(datasets().find(dataset).get(), data_buffers().find(buffer).get());
  return {dataset, code};
}

std::tuple<Address, aclError> set_dataset_tensor_desc(Address dataset, Address desc,
                                                      std::size_t index) {
  const auto found = find_tensor_desc(desc);
  const bool is_dead = desc != 0 && found == nullptr;  // NULL itself takes a description away
  const aclError code = aclmdlSetDatasetTensorDesc(
      is_dead ? nullptr : datasets().find(dataset).get(), found.get(), index);
  return {dataset, code};
}

/// Makes outputs whose size only the run could tell, and which it allocated, releasable with acl.rt.free.
template <typename Run>
aclError execute(Address input, Address output, Run&& run) {
  const DatasetInUse inputs(input);
  const DatasetInUse outputs(output);
  std::vector<aclDataBuffer*> unallocated;
  for (const auto& buffer : outputs.buffers)
    if (aclGetDataBufferAddr(buffer.get()) == nullptr) unallocated.push_back(buffer.get());
  const aclError code = without_gil([&] { return run(inputs.get(), outputs.get()); });
  for (const aclDataBuffer* buffer : unallocated)
    if (const void* const memory = aclGetDataBufferAddr(buffer); memory != nullptr)
      memory_blocks().insert(address_of(memory));
  return code;
}

aclError execute_now(std::uint32_t model, Address input, Address output) {
  return execute(input, output, [&](const aclmdlDataset* inputs, aclmdlDataset* outputs) {
    return aclmdlExecute(model, inputs, outputs);
  });
}

aclError execute_async(std::uint32_t model, Address input, Address output, Address stream) {
  return execute(input, output, [&](const aclmdlDataset* inputs, aclmdlDataset* outputs) {
    return aclmdlExecuteAsync(model, inputs, outputs, pointer_to(stream));
  });
}

/// There are no options of an execution: any `handle` but 0 is refused by the C API.
aclError execute_v2(std::uint32_t model, Address input, Address output, Address stream,
                    Address handle) {
  return execute(input, output, [&](const aclmdlDataset* inputs, aclmdlDataset* outputs) {
    return aclmdlExecuteV2(model, inputs, outputs, pointer_to(stream),
                           pointer_to<aclmdlExecConfigHandle>(handle));
  });
}

}  // namespace

Handles<aclmdlDataset>& datasets() {
  static auto& made = immortal<Handles<aclmdlDataset>>(
      [](aclmdlDataset* dataset) { return aclmdlDestroyDataset(dataset); });
  return made;
}

DatasetInUse::DatasetInUse(Address handle) : dataset(datasets().find(handle)) {
  for (std::size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset.get()); ++i) {
    buffers.push_back(data_buffers().find(address_of(aclmdlGetDatasetBuffer(dataset.get(), i))));
    if (buffers.back() != nullptr) continue;
    dataset = nullptr;
    buffers.clear();
    return;
  }
}

void bind_datasets(py::module_& mdl) {
  mdl.def("create_dataset", [] { return datasets().add(aclmdlCreateDataset()); });
  mdl.def(
      "destroy_dataset", [](Address dataset) { return datasets().destroy(dataset); }, "dataset"_a);
  mdl.def("add_dataset_buffer", &add_dataset_buffer, "dataset"_a, "data_buffer"_a);
  mdl.def(
      "get_dataset_num_buffers",
      [](Address dataset) { return aclmdlGetDatasetNumBuffers(datasets().find(dataset).get()); },
      "dataset"_a);
  mdl.def(
      "get_dataset_buffer",
      [](Address dataset, std::size_t index) {
        return address_of(aclmdlGetDatasetBuffer(datasets().find(dataset).get(), index));
      },
      "dataset"_a, "index"_a);
  mdl.def("set_dataset_tensor_desc", &set_dataset_tensor_desc, "dataset"_a, "tensor_desc"_a,
          "index"_a);
  mdl.def(
      "get_dataset_tensor_desc",
      [](Address dataset, std::size_t index) {
        return address_of(aclmdlGetDatasetTensorDesc(datasets().find(dataset).get(), index));
      },
      "dataset"_a, "index"_a);
  mdl.def("execute", &execute_now, "model_id"_a, "input"_a, "output"_a);
  mdl.def("execute_async", &execute_async, "model_id"_a, "input"_a, "output"_a, "stream"_a);
  mdl.def("execute_v2", &execute_v2, "model_id"_a, "input"_a, "output"_a, "stream"_a,
          "handle"_a = 0);
}

}  // namespace aoe::pyacl
