// Images whose channels come last: shapes as operators with channels behind the batch have them.
#pragma once

#include "base/tensor.h"
#include "reference/attrs.h"
#include "reference/fail.h"

namespace aoe::reference {

inline Shape channels_first(const Shape& x) {
  if (x.size() != 4) fail_model("input " + to_string(x) + " is no batch of images");
  return {x[0], x[3], x[1], x[2]};
}

inline Shape channels_last(const Shape& x) {
  return {x[0], x[2], x[3], x[1]};
}

/// Of a NhwcConv2D: its input has channels behind the batch all the same, as few as images have at first.
inline constexpr const char* kReadsPlanes = "reads_planes";
inline bool reads_planes(const Attrs& attrs) {
  return attrs.get_int(kReadsPlanes, 0) != 0;
}

}  // namespace aoe::reference
