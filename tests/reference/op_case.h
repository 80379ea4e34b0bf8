// A table row of the operator tests: one call with its inputs and what was worked out by hand for it.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "op_runner.h"

namespace aoe::reference {

struct OpCase {
  const char* name;
  const char* type;
  std::vector<ConstantPtr> inputs;
  Shape shape;                 ///< expected of output 0
  std::vector<double> values;  ///< expected of output 0, within a relative error of 1e-6
  std::vector<std::pair<std::string, Attr>> attrs = {};
  int version = 21;
};

void check(const OpCase& test);

inline void PrintTo(const OpCase& test, std::ostream* out) {
  *out << test.name;
}

}  // namespace aoe::reference
