// The constants of quantised products as plain numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/conv/conv_shape.h"
#include "compiler/quant/quant_cut.h"
#include "compiler/task.h"

namespace aoe::compiler {

/// One value per output channel of an input that has one for all, or none (zeros).
std::vector<std::int64_t> quant_by_channel(const Task& task, QuantInput input,
                                           std::int64_t channels);

/// Weights less their zero points: at(output channel, input channel of its group, tap).
class CentredWeights {
 public:
  CentredWeights(const Task& task, const ConvShape& shape);

  std::int64_t at(std::int64_t oc, std::int64_t ic, std::int64_t tap) const {
    const std::int64_t index = oc * output_stride_ + ic * channel_stride_ + tap;
    return values_[static_cast<std::size_t>(index)] - zeros_[static_cast<std::size_t>(oc)];
  }

 private:
  std::vector<std::int64_t> values_, zeros_;
  std::int64_t taps_, channel_stride_ = 1, output_stride_ = 1;
};

}  // namespace aoe::compiler
