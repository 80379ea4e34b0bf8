// What the tuning section of an om says of its ops.
#pragma once

#include <string>
#include <vector>

#include "runtime/om.h"

namespace aoe::runtime {

struct TunedOps {
  std::size_t ops = 0;
  std::vector<std::string> bank_keys;  ///< repo_keys of those that have a strategy of a bank
};

/// Those in bodies of control flow, too. Throws Error(kOm) as bodies_of() does; what is malformed in the section counts nothing.
TunedOps tuned_ops(const Om& om);

}  // namespace aoe::runtime
