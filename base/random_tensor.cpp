// Random tensors from a small fast generator: weights of 100 MB must not take seconds.
#include "base/random_tensor.h"

#include <bit>
#include <cstring>

#include "base/check.h"

namespace aoe {
namespace {

/// SplitMix64 (Steele, Lea, Flood, 2014).
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

template <typename T, typename Draw>
void fill(Constant& tensor, Draw&& draw) {
  T* const values = static_cast<T*>(tensor.mutable_data());
  const std::int64_t count = element_count(tensor.desc().shape);
  for (std::int64_t i = 0; i < count; ++i) values[i] = draw();
}

/// Upper half of the float32 pattern: exact enough for random data.
std::uint16_t to_bfloat16(double value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}

}  // namespace

ConstantPtr random_tensor(const TensorDesc& desc, std::uint64_t seed, double low, double high) {
  auto tensor = std::make_shared<Constant>(desc);
  Generator random(seed);
  const auto real = [&] { return low + (high - low) * random.unit(); };
  const auto bit = [&] { return random.next() >> 63; };
  switch (desc.dtype) {
    case DataType::kFloat:
      fill<float>(*tensor, [&] { return static_cast<float>(real()); });
      break;
    case DataType::kDouble:
      fill<double>(*tensor, real);
      break;
    case DataType::kFloat16:
      fill<_Float16>(*tensor, [&] { return static_cast<_Float16>(real()); });
      break;
    case DataType::kBFloat16:
      fill<std::uint16_t>(*tensor, [&] { return to_bfloat16(real()); });
      break;
    case DataType::kBool:
      fill<std::uint8_t>(*tensor, [&] { return static_cast<std::uint8_t>(bit()); });
      break;
    case DataType::kInt8:
    case DataType::kUint8:  // quantised numbers: every byte is one
      fill<std::uint8_t>(*tensor, [&] { return static_cast<std::uint8_t>(random.next() >> 56); });
      break;
    case DataType::kInt16:
    case DataType::kUint16:
      fill<std::uint16_t>(*tensor, [&] { return static_cast<std::uint16_t>(bit()); });
      break;
    case DataType::kInt32:
    case DataType::kUint32:
      fill<std::uint32_t>(*tensor, [&] { return static_cast<std::uint32_t>(bit()); });
      break;
    case DataType::kInt64:
    case DataType::kUint64:
      fill<std::uint64_t>(*tensor, bit);
      break;
    case DataType::kUndefined:
    case DataType::kString:
      AOE_CHECK(false, "no random values of this type");
  }
  return tensor;
}

}  // namespace aoe
