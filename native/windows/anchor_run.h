// A convolution in a body, as its kernel runs it: with what the body gives it, and what stands behind it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "native/kernel.h"

namespace aoe::native {

/// What a convolution in a body reads and makes.
class AnchorRun final : public Run {
 public:
  AnchorRun(const Run& whole, const reference::BodyStep& anchor, std::span<const Tensor> given)
      : Run(anchor.call, given, whole.threads), whole_(whole), anchor_(anchor) {}
  const Tensor& output(std::size_t i) const override { return whole_.output(i); }
  Tensor make(std::size_t i, const Shape& shape) const override { return whole_.make(i, shape); }
  std::any* kept(std::size_t i) const override {
    const int value = i < anchor_.operands.size() ? anchor_.operands[i] : -1;
    return value < 0 ? nullptr : whole_.kept(static_cast<std::size_t>(value));
  }

 private:
  const Run& whole_;
  const reference::BodyStep& anchor_;
};

/// Of the inputs of a body those that a step reads.
template <typename T>
std::vector<T> read_by(const reference::BodyStep& step, std::span<const T> inputs) {
  std::vector<T> read;
  for (const int value : step.operands)
    read.push_back(
        value >= 0 && value < std::ssize(inputs) ? inputs[static_cast<std::size_t>(value)] : T{});
  return read;
}

/// Whether there are steps, each but the first reads what the one before makes, and the body has the inputs of the question and one output.
bool is_chain(const Question& question);

/// What Relu or ClipByValue leave.
struct Bounds {
  float low, high;
};
Bounds bounds_of(const reference::BodyStep& activation, std::span<const Tensor> inputs);

/// QuantConv2D, an activation with bounds or none, and Quantize by one scale: of bytes bytes.
Result<void> supports_byte_chain(const Question& question);
void run_byte_chain(const Run& run);

}  // namespace aoe::native
