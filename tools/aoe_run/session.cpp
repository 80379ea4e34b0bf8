// The canonical AscendCL sequence around one model.
#include "tools/aoe_run/session.h"

#include <memory>

#include "base/error.h"

namespace aoe::tools {
namespace {

/// Turns a failed call into an Error with the library's own words.
void check(aclError status, ExitCode code) {
  if (status == ACL_SUCCESS) return;
  const char* const message = aclGetRecentErrMsg();
  throw Error(code, message != nullptr ? message : "AscendCL error " + std::to_string(status));
}

Port port_from(const aclmdlIODims& dims, const char* name, aclDataType type) {
  Port port;
  port.name = name;
  port.desc.dtype = static_cast<DataType>(type);
  port.desc.shape.assign(dims.dims, dims.dims + dims.dimCount);
  return port;
}

void add_buffer(aclmdlDataset* dataset, void* data, std::size_t size_bytes) {
  aclDataBuffer* const buffer = aclCreateDataBuffer(data, size_bytes);
  if (buffer == nullptr) throw std::bad_alloc();
  check(aclmdlAddDatasetBuffer(dataset, buffer), ExitCode::kFailure);
}

/// Nothing here can be mended when it fails, and the process is about to end.
void destroy(aclmdlDataset* dataset, bool owns_memory) {
  for (std::size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset); ++i) {
    aclDataBuffer* const buffer = aclmdlGetDatasetBuffer(dataset, i);
    void* const memory = aclGetDataBufferAddr(buffer);
    if (owns_memory && memory != nullptr) aclrtFree(memory);
    aclDestroyDataBuffer(buffer);
  }
  if (dataset != nullptr) aclmdlDestroyDataset(dataset);
}

}  // namespace

Session::Session(const std::string& model_path, const char* config) {
  check(aclInit(config), ExitCode::kFailure);
  check(aclrtSetDevice(0), ExitCode::kFailure);
  check(aclmdlLoadFromFile(model_path.c_str(), &model_), ExitCode::kOm);
  describe();
  input_set_ = aclmdlCreateDataset();
  output_set_ = aclmdlCreateDataset();
  for (std::size_t i = 0; i < inputs_.size(); ++i) add_buffer(input_set_, nullptr, 0);
  allocate_outputs();
}

Session::~Session() {
  destroy(input_set_, /*owns_memory=*/false);
  destroy(output_set_, /*owns_memory=*/true);
  aclmdlUnload(model_);
  aclrtResetDevice(0);
  aclFinalize();
}

void Session::describe() {
  const std::unique_ptr<aclmdlDesc, aclError (*)(aclmdlDesc*)> desc(aclmdlCreateDesc(),
                                                                    aclmdlDestroyDesc);
  check(aclmdlGetDesc(desc.get(), model_), ExitCode::kFailure);
  aclmdlIODims dims;
  for (std::size_t i = 0; i < aclmdlGetNumInputs(desc.get()); ++i) {
    check(aclmdlGetInputDims(desc.get(), i, &dims), ExitCode::kFailure);
    inputs_.push_back(port_from(dims, aclmdlGetInputNameByIndex(desc.get(), i),
                                aclmdlGetInputDataType(desc.get(), i)));
  }
  for (std::size_t i = 0; i < aclmdlGetNumOutputs(desc.get()); ++i) {
    check(aclmdlGetOutputDims(desc.get(), i, &dims), ExitCode::kFailure);
    outputs_.push_back(port_from(dims, aclmdlGetOutputNameByIndex(desc.get(), i),
                                 aclmdlGetOutputDataType(desc.get(), i)));
  }
}

void Session::allocate_outputs() {
  for (const Port& port : outputs_) {
    const std::size_t size_bytes = is_static(port.desc.shape) ? storage_bytes(port.desc) : 0;
    void* memory = nullptr;  // stays so for an output that the execution itself must allocate
    if (size_bytes > 0)
      check(aclrtMalloc(&memory, size_bytes, ACL_MEM_MALLOC_HUGE_FIRST), ExitCode::kFailure);
    add_buffer(output_set_, memory, size_bytes);
  }
}

void Session::set_input(std::size_t index, const Tensor& tensor) {
  const Port& port = inputs_[index];
  bool fits =
      tensor.desc.dtype == port.desc.dtype && tensor.desc.shape.size() == port.desc.shape.size();
  for (std::size_t i = 0; fits && i < port.desc.shape.size(); ++i)
    fits = port.desc.shape[i] == kUnknownDim || port.desc.shape[i] == tensor.desc.shape[i];
  if (!fits)
    throw Error(ExitCode::kData,
                "is " + to_string(tensor.desc) + ", the model wants " + to_string(port.desc),
                "input '" + port.name + "'");
  check(aclUpdateDataBuffer(aclmdlGetDatasetBuffer(input_set_, index), tensor.data,
                            storage_bytes(tensor.desc)),
        ExitCode::kFailure);
  const std::unique_ptr<aclTensorDesc, void (*)(const aclTensorDesc*)> desc(
      aclCreateTensorDesc(static_cast<aclDataType>(tensor.desc.dtype),
                          static_cast<int>(tensor.desc.shape.size()), tensor.desc.shape.data(),
                          ACL_FORMAT_ND),
      aclDestroyTensorDesc);
  check(aclmdlSetDatasetTensorDesc(input_set_, desc.get(), index), ExitCode::kFailure);
}

void Session::run() {
  check(aclmdlExecute(model_, input_set_, output_set_), ExitCode::kFailure);
}

Tensor Session::output(std::size_t index) const {
  Tensor tensor{outputs_[index].desc,
                aclGetDataBufferAddr(aclmdlGetDatasetBuffer(output_set_, index))};
  const aclTensorDesc* const actual = aclmdlGetDatasetTensorDesc(output_set_, index);
  for (std::size_t i = 0; i < aclGetTensorDescNumDims(actual); ++i)
    check(aclGetTensorDescDimV2(actual, i, &tensor.desc.shape[i]), ExitCode::kFailure);
  return tensor;
}

}  // namespace aoe::tools
