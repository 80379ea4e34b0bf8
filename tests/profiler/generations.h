// Tests of both generations of raw profiles: what to call them.
#pragma once

#include <gtest/gtest.h>

#include <ostream>

#include "profiler/raw/raw_format.h"

namespace aoe::profiler {

inline void PrintTo(Generation generation, std::ostream* out) {
  *out << (generation == Generation::kProf ? "Prof" : "Job");
}

}  // namespace aoe::profiler
