// Sigmoid and hyperbolic tangent of float32, in place, by vectors: their errors are some units in the last place of 1.
#pragma once

#include <cstdint>

namespace aoe::native {

void write_sigmoids(float* x, std::int64_t count);
void write_tanhs(float* x, std::int64_t count);

}  // namespace aoe::native
