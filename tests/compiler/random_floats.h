// Numbers for kernels under test.
#pragma once

#include <random>
#include <vector>

namespace aoe::compiler::loopnest {

inline std::vector<float> random_floats(std::size_t count, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-4.0f, 4.0f);
  std::vector<float> values(count);
  for (float& v : values) v = uniform(engine);
  return values;
}

}  // namespace aoe::compiler::loopnest
