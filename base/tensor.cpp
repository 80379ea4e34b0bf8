// Sizes, texts and storage of tensors.
#include "base/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"

namespace aoe {

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  bool is_unknown = false, is_too_large = false;
  for (const std::int64_t dim : shape) {
    is_unknown |= dim < 0;
    is_too_large |= __builtin_mul_overflow(count, dim, &count) || count > kMostBytes;
  }
  if (is_unknown) return kUnknownDim;
  if (is_too_large) {
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
    throw Error(ExitCode::kModel, "a tensor of " + to_string(shape) + " is larger than 2^48 bytes");
  }
  return count;
}

bool is_static(const Shape& shape) {
  return std::none_of(shape.begin(), shape.end(), [](std::int64_t dim) { return dim < 0; });
}

std::string to_string(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const std::int64_t dim : shape) {
    if (!text.empty()) text += 'x';
    text += dim < 0 ? "?" : std::to_string(dim);
  }
  return text;
}

std::string to_string(const TensorDesc& desc) {
  return std::string(name(desc.dtype)) + " " + to_string(desc.shape) + " " +
         std::string(name(desc.format));
}

std::size_t storage_bytes(const TensorDesc& desc) {
  AOE_CHECK(is_static(desc.shape), "storage_bytes of " + to_string(desc));
  std::int64_t count = element_count(desc.shape);
  if (desc.format == Format::kNC1HWC0) {
    AOE_CHECK(desc.shape.size() >= 2 && desc.c0 > 0, "NC1HWC0 needs channels and c0");
    const std::int64_t channels = desc.shape[1];
    if (channels > 0)
      count = checked_product(count / channels, (channels + desc.c0 - 1) / desc.c0 * desc.c0);
  }
  return static_cast<std::size_t>(
      checked_product(count, static_cast<std::int64_t>(size_bytes(desc.dtype))));
}

void Constant::Free::operator()(void* p) const {
  std::free(p);
}

Constant::Constant(TensorDesc desc) : Constant(std::move(desc), nullptr) {
}

Constant::Constant(TensorDesc desc, const void* bytes)
    : desc_(std::move(desc)), size_bytes_(storage_bytes(desc_)) {
  check_memory(size_bytes_, "a tensor of " + to_string(desc_));
  const std::size_t rounded = (size_bytes_ + 63) / 64 * 64 + 64;
  bytes_.reset(std::aligned_alloc(64, rounded));
  if (!bytes_) throw std::bad_alloc();
  const std::size_t given = bytes == nullptr ? 0 : size_bytes_;
  if (given > 0) std::memcpy(bytes_.get(), bytes, given);
  std::memset(static_cast<char*>(bytes_.get()) + given, 0, rounded - given);
}

}  // namespace aoe
