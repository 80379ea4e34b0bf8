// DFT and STFT as plain numbers: which lines are transformed, and how long they are. For who carries them out, with all inputs known.
#pragma once

#include <cstdint>
#include <span>

#include "base/tensor.h"
#include "reference/attrs.h"
#include "reference/tensors/axes.h"

namespace aoe::reference {

/// A DFT's axis is an input since.
inline constexpr int kDftAxisInputVersion = 20;

struct DftLines {
  AxisView samples;         ///< of complex numbers, or of real ones
  std::int64_t parts = 1;   ///< of a sample: 1 real, 2 complex
  std::int64_t length = 1;  ///< of a line: shorter ones are continued with zeros, longer ones cut
  std::int64_t bins = 1;    ///< of a line's results, the first of them
  bool is_inverse = false;
  /// From half a spectrum, which the other half mirrors, to real numbers.
  bool is_to_real = false;
};
/// `result`: the output's shape.
DftLines dft_lines(const Attrs& attrs, int version, std::span<const Tensor> inputs,
                   const Shape& result);

enum StftInput : std::size_t { kSignal, kFrameStep, kWindow, kFrameLength };

struct StftFrames {
  std::int64_t batch = 1, samples = 1;  ///< of signals, and of each
  std::int64_t parts = 1;
  std::int64_t frames = 1, step = 1, length = 1;
  std::int64_t bins = 1;
};
StftFrames stft_frames(std::span<const Tensor> inputs, const Shape& result);

}  // namespace aoe::reference
