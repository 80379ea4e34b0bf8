// Checked arithmetic on sizes.
#include "base/size.h"

#include <algorithm>

#include "base/error.h"

namespace aoe {
namespace {

bool is_within(std::int64_t value) {
  return value >= -kMostBytes && value <= kMostBytes;
}

[[noreturn]] void fail(std::int64_t a, const char* sign, std::int64_t b) {
  throw Error(ExitCode::kModel, "a size of " + std::to_string(a) + sign + std::to_string(b) +
                                    " is more than 2^48 bytes");
}

}  // namespace

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  if (a == kUnknownDim || b == kUnknownDim) return kUnknownDim;
  std::int64_t product = 0;
  if (!is_within(a) || !is_within(b) || __builtin_mul_overflow(a, b, &product) ||
      !is_within(product))
    fail(a, " * ", b);
  return product;
}

std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
  if (!is_within(a) || !is_within(b) || !is_within(a + b)) fail(a, " + ", b);
  return a + b;
}

void check_size(const TensorDesc& desc, const std::string& where) {
  if (desc.shape.size() > kMostRank)
    throw Error(ExitCode::kModel,
                "has " + std::to_string(desc.shape.size()) + " dimensions, at most " +
                    std::to_string(kMostRank) + " are supported",
                where);
  // Dimensions of 0 do not hide what stands beside them: strides are products, too.
  std::int64_t bytes = std::max<std::int64_t>(1, static_cast<std::int64_t>(size_bytes(desc.dtype)));
  for (const std::int64_t dim : desc.shape) {
    if (dim < 0 && dim != kUnknownDim)
      throw Error(ExitCode::kModel, "has a dimension of " + std::to_string(dim), where);
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(dim, 1), &bytes) || bytes > kMostBytes)
      throw Error(ExitCode::kModel,
                  std::string(name(desc.dtype)) + " " + to_string(desc.shape) +
                      " is larger than 2^48 bytes",
                  where);
  }
}

}  // namespace aoe
