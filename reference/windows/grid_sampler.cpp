// See grid_sampler.h.
#include "reference/windows/grid_sampler.h"

#include <string>

#include "reference/fail.h"

namespace aoe::reference {

GridSampler::Mode GridSampler::mode_of(const Attrs& attrs) {
  const std::string mode = attrs.get_string("mode", "bilinear");
  if (mode == "nearest") return Mode::kNearest;
  if (mode == "bilinear" || mode == "linear") return Mode::kLinear;
  if (mode == "bicubic" || mode == "cubic") return Mode::kCubic;
  fail_model("mode \"" + mode + "\" is unknown");
}

GridSampler::Padding GridSampler::padding_of(const Attrs& attrs) {
  const std::string padding = attrs.get_string("padding_mode", "zeros");
  if (padding == "zeros") return Padding::kZeros;
  if (padding == "border") return Padding::kBorder;
  if (padding == "reflection") return Padding::kReflection;
  fail_model("padding_mode \"" + padding + "\" is unknown");
}

GridSampler::GridSampler(const Attrs& attrs)
    : mode_(mode_of(attrs)),
      padding_(padding_of(attrs)),
      aligns_corners_(attrs.get_int("align_corners", 0) != 0) {
}

std::size_t GridSampler::most_taps() const {
  return mode_ == Mode::kNearest ? 1 : mode_ == Mode::kLinear ? 2 : 4;
}

}  // namespace aoe::reference
