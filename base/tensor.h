// TensorDesc: what a tensor is (type, logical shape, format); Tensor: a non-owning view of its bytes;
// Constant: owned, immutable bytes shared between graph, tasks and om.
//
// The logical shape is always the one ONNX speaks of (N,C,H,W for images), whatever the format stores:
//   ND, NCHW   dense, row-major, in the order of the logical shape
//   NHWC       dense N,H,W,C
//   NC1HWC0    N, ceil(C/c0), H, W, c0. Lanes beyond C hold zeros: a kernel that writes this format keeps it so, and a
//              kernel that reads it may rely on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/data_type.h"

namespace aoe {

using Shape =
    std::vector<std::int64_t>;  ///< kUnknownDim where a dimension is not known before the run
inline constexpr std::int64_t kUnknownDim = -1;

struct TensorDesc {
  DataType dtype = DataType::kUndefined;
  Shape shape;
  Format format = Format::kND;
  int c0 = 0;  ///< lanes of NC1HWC0 (16 with AVX-512, 8 with AVX2); 0 in other formats
  bool operator==(const TensorDesc&) const = default;
};

/// Number of elements; 1 for a scalar; kUnknownDim if any dimension is unknown.
std::int64_t element_count(const Shape& shape);
bool is_static(const Shape& shape);
/// "1x3x224x224"; "scalar"; unknown dimensions print as "?".
std::string to_string(const Shape& shape);
/// "float32 1x64x56x56 NC1HWC0"
std::string to_string(const TensorDesc& desc);
/// Bytes that the tensor takes in its format, padding included. The shape must be static.
std::size_t storage_bytes(const TensorDesc& desc);

/// A view: does not own. `data == nullptr` means "value not known" (shape inference) or "absent" (dtype kUndefined).
struct Tensor {
  TensorDesc desc;
  void* data = nullptr;

  bool is_present() const { return desc.dtype != DataType::kUndefined; }
  std::int64_t elements() const { return element_count(desc.shape); }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

/// Immutable bytes with their description; 64-byte aligned.
class Constant {
 public:
  Constant(TensorDesc desc, const void* bytes);  ///< copies storage_bytes(desc) from `bytes`
  explicit Constant(TensorDesc desc);  ///< zeros; fill through mutable_data() before sharing
  const TensorDesc& desc() const { return desc_; }
  const void* data() const { return bytes_.get(); }
  void* mutable_data() { return bytes_.get(); }
  std::size_t size_bytes() const { return size_bytes_; }
  /// A view for readers; the pointer is non-const only because Tensor serves outputs too.
  Tensor view() const { return {desc_, bytes_.get()}; }

 private:
  struct Free {
    void operator()(void* p) const;
  };
  TensorDesc desc_;
  std::size_t size_bytes_;
  std::unique_ptr<void, Free> bytes_;
};
using ConstantPtr = std::shared_ptr<const Constant>;

}  // namespace aoe
