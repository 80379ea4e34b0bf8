// See packed_matrix.h.
#include "tools/make_model/packed_matrix.h"

#include <cmath>

namespace aoe::make_model {

constexpr int kMiddle = 8;  // what four bits say for zero

PackedMatrix PackedMatrix::draw(OnnxWriter& model, std::int64_t in, std::int64_t out) {
  constexpr double kDeviation = 4.6;  // of 0 to 15
  const double scale = std::sqrt(1.0 / static_cast<double>(in)) / kDeviation;
  PackedMatrix packed;
  packed.in_ = in;
  packed.out_ = out;
  const auto count = static_cast<std::size_t>(out * packed.blocks());
  for (const float number : model.draw(count * kBlock, 0, 16))
    packed.numbers_.push_back(static_cast<std::uint8_t>(number));
  packed.scales_ = model.draw(count, 0.8 * scale, 1.2 * scale);
  return packed;
}

std::vector<std::uint8_t> PackedMatrix::pairs() const {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < numbers_.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(numbers_[i] | (numbers_[i + 1] << 4)));
  return bytes;
}

std::vector<float> PackedMatrix::transposed() const {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(in_ * out_));
  for (std::int64_t i = 0; i < in_; ++i) {
    for (std::int64_t row = 0; row < out_; ++row) {
      const auto number = static_cast<std::size_t>(row * blocks() * kBlock + i);
      const auto block = static_cast<std::size_t>(row * blocks() + i / kBlock);
      values.push_back(static_cast<float>(numbers_[number] - kMiddle) * scales_[block]);
    }
  }
  return values;
}

}  // namespace aoe::make_model
