// Session: runs an om from C++17, over the C API, in the shape that the Python package has.
//
//   aoe::Session session("model.om");
//   std::vector<float> image = ...;
//   std::vector<aoe::Tensor> outputs = session.run({{"input", aoe::view(image, {1, 3, 224, 224})}});
//   const float* scores = outputs[0].data<float>();
//
// Inputs are not copied. run() may be called by several threads; executions of one model follow each other. What goes wrong
// is an aoe::Error with the code of the C API, or std::invalid_argument for names, types and sizes that the model does not have.
//
// Link aoe::ascendcl, of find_package(aoe_runtime), or what pkg-config says of aoe_runtime.
#ifndef AOE_SESSION_HPP_
#define AOE_SESSION_HPP_

#include <acl/acl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace aoe {

class Error : public std::runtime_error {
 public:
  Error(const std::string& call, aclError code) : Error(call, code, aclGetRecentErrMsg()) {}
  aclError code() const { return code_; }

 private:
  /// The library's own text names the call and the code.
  Error(const std::string& call, aclError code, const char* message)
      : std::runtime_error(message != nullptr ? message
                                              : call + " failed with " + std::to_string(code)),
        code_(code) {}
  aclError code_;
};

namespace internal {

inline void check(const char* call, aclError code) {
  if (code != ACL_SUCCESS) throw Error(call, code);
}

/// The runtime, which counts its users; current in every thread that uses it.
class Runtime {
 public:
  Runtime() {
    const aclError code = aclInit(nullptr);
    if (code != ACL_ERROR_REPEAT_INITIALIZE) check("aclInit", code);
  }
  ~Runtime() { aclFinalizeReference(nullptr); }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  static void use_device() {
    std::int32_t device = 0;
    if (aclrtGetDevice(&device) != ACL_SUCCESS) check("aclrtSetDevice", aclrtSetDevice(0));
  }
};

template <typename T>
struct TypeOf;
#define AOE_TYPE(CPP, ACL)                      \
  template <>                                   \
  struct TypeOf<CPP> {                          \
    static constexpr aclDataType value = (ACL); \
  };
AOE_TYPE(float, ACL_FLOAT)
AOE_TYPE(double, ACL_DOUBLE)
AOE_TYPE(std::int8_t, ACL_INT8)
AOE_TYPE(std::uint8_t, ACL_UINT8)
AOE_TYPE(std::int16_t, ACL_INT16)
AOE_TYPE(std::uint16_t, ACL_UINT16)
AOE_TYPE(std::int32_t, ACL_INT32)
AOE_TYPE(std::uint32_t, ACL_UINT32)
AOE_TYPE(std::int64_t, ACL_INT64)
AOE_TYPE(std::uint64_t, ACL_UINT64)
AOE_TYPE(bool, ACL_BOOL)
#undef AOE_TYPE

inline std::string text(const std::vector<std::int64_t>& shape) {
  std::string all;
  for (const std::int64_t size : shape) all += (all.empty() ? "" : "x") + std::to_string(size);
  return "[" + all + "]";
}

/// Bytes of a tensor whose sizes are all known.
inline std::size_t bytes_of(const std::vector<std::int64_t>& shape, aclDataType type) {
  std::size_t bytes = aclDataTypeSize(type);
  for (const std::int64_t size : shape) bytes *= static_cast<std::size_t>(size);
  return bytes;
}

}  // namespace internal

using Shape = std::vector<std::int64_t>;

/// An input or output.
struct Port {
  std::string name;
  Shape shape;  ///< -1: gears vary it, or only a run can tell it
  aclDataType type = ACL_DT_UNDEFINED;
  std::size_t bytes = 0;  ///< of its buffer, for the largest gear; 0: only a run can tell
};

/// Memory of somebody else, seen as a dense tensor.
struct TensorView {
  const void* data = nullptr;
  Shape shape;
  aclDataType type = ACL_DT_UNDEFINED;
};

template <typename T>
TensorView view(const T* data, Shape shape) {
  return {data, std::move(shape), internal::TypeOf<T>::value};
}

/// std::invalid_argument when the shape has another number of elements, or a size below 0.
template <typename T>
TensorView view(const std::vector<T>& values, Shape shape) {
  const TensorView made = view(values.data(), std::move(shape));
  bool is_shape = true;
  for (const std::int64_t size : made.shape) is_shape = is_shape && size >= 0;
  if (!is_shape || internal::bytes_of(made.shape, made.type) != values.size() * sizeof(T))
    throw std::invalid_argument(std::to_string(values.size()) + " values are no tensor " +
                                internal::text(made.shape));
  return made;
}

/// A result, which owns its memory.
class Tensor {
 public:
  Tensor(std::string name, Shape shape, aclDataType type, std::vector<unsigned char> bytes)
      : name_(std::move(name)), shape_(std::move(shape)), type_(type), bytes_(std::move(bytes)) {}

  const std::string& name() const { return name_; }
  const Shape& shape() const { return shape_; }
  aclDataType type() const { return type_; }
  std::size_t bytes() const { return bytes_.size(); }
  const void* data() const { return bytes_.data(); }
  /// std::invalid_argument when the elements are of another type.
  template <typename T>
  const T* data() const {
    if (internal::TypeOf<T>::value != type_)
      throw std::invalid_argument(name_ + " has elements of another type");
    return reinterpret_cast<const T*>(bytes_.data());
  }
  /// To be fed back.
  TensorView view() const { return {bytes_.data(), shape_, type_}; }

 private:
  std::string name_;
  Shape shape_;
  aclDataType type_;
  std::vector<unsigned char> bytes_;
};

class Session {
 public:
  explicit Session(const std::string& path) : Session() {
    internal::Runtime::use_device();
    internal::check("aclmdlLoadFromFile", aclmdlLoadFromFile(path.c_str(), &model_));
    describe();
  }
  /// An om in memory; it is copied.
  Session(const void* om, std::size_t bytes) : Session() {
    internal::Runtime::use_device();
    internal::check("aclmdlLoadFromMem", aclmdlLoadFromMem(om, bytes, &model_));
    describe();
  }
  ~Session() {
    if (desc_ != nullptr) aclmdlDestroyDesc(desc_);
    if (model_ != 0) aclmdlUnload(model_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }

  /// One execution. `feed` has a tensor for every input, in a shape that the model (its open sizes are any), or one of its
  /// gears, takes; the results are all outputs, in their order.
  std::vector<Tensor> run(const std::map<std::string, TensorView>& feed) const {
    internal::Runtime::use_device();
    // The shapes of outputs are those of the model's last execution.
    std::unique_lock<std::mutex> lock(gears_, std::defer_lock);
    if (has_gears_) lock.lock();
    std::vector<unsigned char> gear(has_gears_ ? gear_bytes_ : 0);
    Dataset given;
    for (const auto& each : feed) require(inputs_, each.first);
    for (const Port& port : inputs_) {
      const TensorView& tensor = fed(port, feed);
      given.add(const_cast<void*>(tensor.data), internal::bytes_of(tensor.shape, tensor.type));
      if (is_open(port)) given.tell_shape(tensor);
    }
    if (has_gears_) given.add(gear.data(), gear.size());
    Dataset results;
    std::vector<std::vector<unsigned char>> memory;
    for (const Port& port : outputs_) {
      memory.emplace_back(is_open(port) ? 0 : port.bytes + 1);
      if (is_open(port))
        results.add_open();
      else
        results.add(memory.back().data(), memory.back().size());
    }
    if (has_gears_) choose_gear(given, feed);
    internal::check("aclmdlExecute", aclmdlExecute(model_, given.handle(), results.handle()));
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      tensors.push_back(is_open(outputs_[i]) ? allocated(i, results)
                                             : tensor(i, std::move(memory[i])));
    return tensors;
  }

 private:
  /// Others begin with it, so that its destructor ends what they have begun when they throw.
  Session() = default;

  class Dataset {
   public:
    Dataset() : handle_(aclmdlCreateDataset()) {}
    ~Dataset() {
      for (const aclDataBuffer* buffer : open_)
        if (void* const made = aclGetDataBufferAddr(buffer)) aclrtFree(made);
      for (const aclDataBuffer* buffer : buffers_) aclDestroyDataBuffer(buffer);
      aclmdlDestroyDataset(handle_);
    }
    Dataset(const Dataset&) = delete;
    Dataset& operator=(const Dataset&) = delete;

    void add(void* data, std::size_t bytes) {
      buffers_.push_back(aclCreateDataBuffer(data, bytes));
      internal::check("aclmdlAddDatasetBuffer", aclmdlAddDatasetBuffer(handle_, buffers_.back()));
    }
    /// Of the last, whose sizes the model leaves open.
    void tell_shape(const TensorView& tensor) {
      aclTensorDesc* const desc =
          aclCreateTensorDesc(tensor.type, static_cast<int>(tensor.shape.size()),
                              tensor.shape.data(), ACL_FORMAT_ND);
      const aclError code = aclmdlSetDatasetTensorDesc(handle_, desc, buffers_.size() - 1);
      aclDestroyTensorDesc(desc);
      internal::check("aclmdlSetDatasetTensorDesc", code);
    }
    /// For what the execution allocates.
    void add_open() {
      add(nullptr, 0);
      open_.push_back(buffers_.back());
    }
    aclmdlDataset* handle() const { return handle_; }
    const aclDataBuffer* buffer(std::size_t i) const { return buffers_[i]; }

   private:
    aclmdlDataset* handle_;
    std::vector<aclDataBuffer*> buffers_, open_;
  };

  static bool is_open(const Port& port) {
    if (port.bytes != 0) return false;
    for (const std::int64_t size : port.shape)
      if (size < 0) return true;
    return false;
  }

  static const Port& require(const std::vector<Port>& ports, const std::string& name) {
    std::string known;
    for (const Port& port : ports) {
      if (port.name == name) return port;
      known += (known.empty() ? "" : ", ") + port.name;
    }
    throw std::invalid_argument("the model has no input " + name + "; there are " + known);
  }

  /// What is given for the input, if it fits.
  static const TensorView& fed(const Port& port, const std::map<std::string, TensorView>& feed) {
    const auto found = feed.find(port.name);
    if (found == feed.end())
      throw std::invalid_argument("nothing is given for the input " + port.name);
    const TensorView& given = found->second;
    if (given.type != port.type)
      throw std::invalid_argument("the input " + port.name + " has elements of another type");
    bool fits = given.shape.size() == port.shape.size();
    for (std::size_t i = 0; fits && i < port.shape.size(); ++i)
      fits = port.shape[i] == -1 ? given.shape[i] >= 0 : given.shape[i] == port.shape[i];
    if (!fits)
      throw std::invalid_argument("the input " + port.name + " is " + internal::text(port.shape) +
                                  ", not " + internal::text(given.shape));
    if (given.data == nullptr && internal::bytes_of(given.shape, given.type) > 0)
      throw std::invalid_argument("the data of the input " + port.name + " are a null pointer");
    return given;
  }

  void describe() {
    desc_ = aclmdlCreateDesc();
    internal::check("aclmdlGetDesc", aclmdlGetDesc(desc_, model_));
    for (std::size_t i = 0; i < aclmdlGetNumInputs(desc_); ++i) {
      aclmdlIODims dims{};
      internal::check("aclmdlGetInputDims", aclmdlGetInputDims(desc_, i, &dims));
      const std::string name = aclmdlGetInputNameByIndex(desc_, i);
      if (name == ACL_DYNAMIC_TENSOR_NAME) {
        has_gears_ = true;
        gear_bytes_ = aclmdlGetInputSizeByIndex(desc_, i);
        continue;
      }
      inputs_.push_back({name, shape_of(dims), aclmdlGetInputDataType(desc_, i),
                         aclmdlGetInputSizeByIndex(desc_, i)});
    }
    for (std::size_t i = 0; i < aclmdlGetNumOutputs(desc_); ++i) {
      aclmdlIODims dims{};
      internal::check("aclmdlGetOutputDims", aclmdlGetOutputDims(desc_, i, &dims));
      outputs_.push_back({aclmdlGetOutputNameByIndex(desc_, i), shape_of(dims),
                          aclmdlGetOutputDataType(desc_, i), aclmdlGetOutputSizeByIndex(desc_, i)});
    }
  }

  static Shape shape_of(const aclmdlIODims& dims) {
    return Shape(dims.dims, dims.dims + dims.dimCount);
  }

  /// By the shapes of what is fed.
  void choose_gear(const Dataset& given, const std::map<std::string, TensorView>& feed) const {
    std::vector<std::uint64_t> varying;
    for (const Port& port : inputs_)
      for (std::size_t i = 0; i < port.shape.size(); ++i)
        if (port.shape[i] == -1)
          varying.push_back(static_cast<std::uint64_t>(feed.at(port.name).shape[i]));
    aclmdlBatch batches{};
    aclmdlHW images{};
    const std::size_t place = inputs_.size();
    if (aclmdlGetDynamicBatch(desc_, &batches) == ACL_SUCCESS && batches.batchCount > 0)
      internal::check("aclmdlSetDynamicBatchSize",
                      aclmdlSetDynamicBatchSize(model_, given.handle(), place, varying.at(0)));
    else if (aclmdlGetDynamicHW(desc_, 0, &images) == ACL_SUCCESS && images.hwCount > 0)
      internal::check(
          "aclmdlSetDynamicHWSize",
          aclmdlSetDynamicHWSize(model_, given.handle(), place, varying.at(0), varying.at(1)));
    else
      choose_dims(given, feed);
  }

  /// The sizes of all inputs, of which the C API takes so many.
  void choose_dims(const Dataset& given, const std::map<std::string, TensorView>& feed) const {
    aclmdlIODims all{};
    for (const Port& port : inputs_)
      for (const std::int64_t size : feed.at(port.name).shape) {
        if (all.dimCount == ACL_MAX_DIM_CNT)
          throw std::invalid_argument("the inputs have more than " +
                                      std::to_string(ACL_MAX_DIM_CNT) + " sizes, by which no gear can be chosen");
        all.dims[all.dimCount++] = size;
      }
    internal::check("aclmdlSetInputDynamicDims",
                    aclmdlSetInputDynamicDims(model_, given.handle(), inputs_.size(), &all));
  }

  Tensor tensor(std::size_t i, std::vector<unsigned char> memory) const {
    Shape shape = outputs_[i].shape;
    if (has_gears_) {
      aclmdlIODims dims{};
      internal::check("aclmdlGetCurOutputDims", aclmdlGetCurOutputDims(desc_, i, &dims));
      shape = shape_of(dims);
    }
    memory.resize(internal::bytes_of(shape, outputs_[i].type));
    return {outputs_[i].name, std::move(shape), outputs_[i].type, std::move(memory)};
  }

  /// Of an output that the execution allocated.
  Tensor allocated(std::size_t i, const Dataset& results) const {
    const aclTensorDesc* const desc = aclmdlGetDatasetTensorDesc(results.handle(), i);
    Shape shape(aclGetTensorDescNumDims(desc));
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      internal::check("aclGetTensorDescDimV2", aclGetTensorDescDimV2(desc, axis, &shape[axis]));
    const auto* const begin =
        static_cast<const unsigned char*>(aclGetDataBufferAddr(results.buffer(i)));
    const std::size_t bytes = begin == nullptr ? 0 : internal::bytes_of(shape, outputs_[i].type);
    std::vector<unsigned char> memory(begin, begin + bytes);
    return {outputs_[i].name, std::move(shape), outputs_[i].type, std::move(memory)};
  }

  internal::Runtime runtime_;  // the first member: the others need it
  std::uint32_t model_ = 0;
  aclmdlDesc* desc_ = nullptr;
  std::vector<Port> inputs_, outputs_;
  bool has_gears_ = false;
  std::size_t gear_bytes_ = 0;
  mutable std::mutex gears_;
};

}  // namespace aoe

#endif  // AOE_SESSION_HPP_
