// The canonical AscendCL sequence around one model.
#include "tools/aoe_run/session.h"

#include <memory>

#include "base/error.h"
#include "runtime/acl/model.h"

namespace aoe::tools {
namespace {

/// Turns a failed call into an Error with the library's own words. What the process lacks (memory, descriptors) is no file's fault,
/// whatever was called.
void check(aclError status, ExitCode code) {
  if (status == ACL_SUCCESS) return;
  if (status == ACL_ERROR_BAD_ALLOC || status == ACL_ERROR_FAILURE) code = ExitCode::kFailure;
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

constexpr std::size_t kAllInputs = static_cast<std::size_t>(-1);  // "reserved" in the C API
constexpr std::size_t kHeightAxis = 2;

/// The sizes of the dimensions that the model leaves open, over all inputs.
std::vector<std::int64_t> sizes_of_open_dims(const std::vector<Port>& ports,
                                             const std::vector<Shape>& shapes) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < ports.size(); ++i)
    for (std::size_t axis = 0; axis < shapes[i].size(); ++axis)
      if (ports[i].desc.shape[axis] == kUnknownDim) sizes.push_back(shapes[i][axis]);
  return sizes;
}

/// `size_of` tells the size of an open axis, whatever the input.
template <typename SizeOf>
Gear gear_from(GearKind kind, const std::vector<Port>& ports, SizeOf&& size_of) {
  Gear gear{.kind = kind, .sizes = {}, .inputs = {}};
  for (const Port& port : ports) {
    Shape shape = port.desc.shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] == kUnknownDim) shape[axis] = size_of(axis);
    if (gear.sizes.empty()) gear.sizes = sizes_of_open_dims({port}, {shape});
    gear.inputs.push_back(std::move(shape));
  }
  return gear;
}

}  // namespace

AscendCl::AscendCl(const char* config) {
  check(aclInit(config), ExitCode::kFailure);
  use_in_this_thread();
}

void AscendCl::use_in_this_thread() {
  check(aclrtSetDevice(0), ExitCode::kFailure);
}

AscendCl::~AscendCl() {
  aclrtResetDevice(0);
  aclFinalize();
}

Session::Session(const AscendCl&, const std::string& model_path) {
  check(aclmdlLoadFromFile(model_path.c_str(), &model_), ExitCode::kOm);
  describe();
  input_set_ = aclmdlCreateDataset();
  output_set_ = aclmdlCreateDataset();
  for (std::size_t i = 0; i < inputs_.size(); ++i) add_buffer(input_set_, nullptr, 0);
  if (!gears_.empty())
    add_buffer(input_set_, gear_values_.data(), gear_values_.size() * sizeof(gear_values_[0]));
  allocate_outputs();
}

Session::~Session() {
  destroy(input_set_, /*owns_memory=*/false);
  destroy(output_set_, /*owns_memory=*/true);
  aclmdlUnload(model_);
}

std::vector<const runtime::Om*> Session::oms() const {
  return runtime::acl::find_model(model_)->executor.oms();
}

void Session::describe() {
  desc_.reset(aclmdlCreateDesc());
  check(aclmdlGetDesc(desc_.get(), model_), ExitCode::kFailure);
  aclmdlIODims dims;
  for (std::size_t i = 0; i < aclmdlGetNumInputs(desc_.get()); ++i) {
    check(aclmdlGetInputDims(desc_.get(), i, &dims), ExitCode::kFailure);
    const Port port = port_from(dims, aclmdlGetInputNameByIndex(desc_.get(), i),
                                aclmdlGetInputDataType(desc_.get(), i));
    if (port.name == ACL_DYNAMIC_TENSOR_NAME)
      gear_values_.resize(static_cast<std::size_t>(element_count(port.desc.shape)));
    else
      inputs_.push_back(port);
  }
  for (std::size_t i = 0; i < aclmdlGetNumOutputs(desc_.get()); ++i) {
    check(aclmdlGetOutputDims(desc_.get(), i, &dims), ExitCode::kFailure);
    outputs_.push_back(port_from(dims, aclmdlGetOutputNameByIndex(desc_.get(), i),
                                 aclmdlGetOutputDataType(desc_.get(), i)));
  }
  if (!gear_values_.empty()) describe_gears();
}

void Session::describe_gears() {
  aclmdlBatch batch;
  check(aclmdlGetDynamicBatch(desc_.get(), &batch), ExitCode::kFailure);
  for (std::size_t i = 0; i < batch.batchCount; ++i) {
    const auto size = static_cast<std::int64_t>(batch.batch[i]);
    gears_.push_back(gear_from(GearKind::kBatch, inputs_, [&](std::size_t) { return size; }));
  }
  aclmdlHW hw;
  check(aclmdlGetDynamicHW(desc_.get(), kAllInputs, &hw), ExitCode::kFailure);
  for (std::size_t i = 0; i < hw.hwCount; ++i)
    gears_.push_back(gear_from(GearKind::kImage, inputs_, [&](std::size_t axis) {
      return static_cast<std::int64_t>(hw.hw[i][axis - kHeightAxis]);
    }));
  std::size_t count = 0;
  check(aclmdlGetInputDynamicGearCount(desc_.get(), kAllInputs, &count), ExitCode::kFailure);
  std::vector<aclmdlIODims> dims(count);
  check(aclmdlGetInputDynamicDims(desc_.get(), kAllInputs, dims.data(), count), ExitCode::kFailure);
  for (const aclmdlIODims& gear : dims) {
    const std::int64_t* next = gear.dims;
    std::vector<Shape> shapes;
    for (const Port& port : inputs_) {
      shapes.emplace_back(next, next + port.desc.shape.size());
      next += port.desc.shape.size();
    }
    gears_.push_back({GearKind::kDims, sizes_of_open_dims(inputs_, shapes), std::move(shapes)});
  }
}

void Session::select_gear(std::size_t index) {
  const Gear& gear = gears_.at(index);
  const std::size_t at = inputs_.size();  // ACL_DYNAMIC_TENSOR_NAME is the last input
  aclError status = ACL_SUCCESS;
  if (gear.kind == GearKind::kBatch) {
    status = aclmdlSetDynamicBatchSize(model_, input_set_, at,
                                       static_cast<std::uint64_t>(gear.sizes[0]));
  } else if (gear.kind == GearKind::kImage) {
    status =
        aclmdlSetDynamicHWSize(model_, input_set_, at, static_cast<std::uint64_t>(gear.sizes[0]),
                               static_cast<std::uint64_t>(gear.sizes[1]));
  } else {
    aclmdlIODims dims{};
    for (const Shape& shape : gear.inputs)
      for (const std::int64_t size : shape) dims.dims[dims.dimCount++] = size;
    status = aclmdlSetInputDynamicDims(model_, input_set_, at, &dims);
  }
  check(status, ExitCode::kFailure);
  for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i].desc.shape = gear.inputs[i];
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    aclmdlIODims dims;
    check(aclmdlGetCurOutputDims(desc_.get(), i, &dims), ExitCode::kFailure);
    outputs_[i].desc.shape.assign(dims.dims, dims.dims + dims.dimCount);
  }
}

/// Large enough for every gear.
void Session::allocate_outputs() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const std::size_t size_bytes = aclmdlGetOutputSizeByIndex(desc_.get(), i);
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
