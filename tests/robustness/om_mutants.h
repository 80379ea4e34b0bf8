// Mutants of oms: fields of their sections changed to what no compiler writes, with checksums that are right.
#pragma once

#include <random>
#include <string>

namespace aoe::tests {

struct OmMutant {
  std::string bytes;
  std::string what;  ///< was changed, in words
};

/// Changes one to three fields of the graph sections, of those of bodies, now and then of the tuning or gears section.
OmMutant mutate_om(const std::string& bytes, std::mt19937& random);

}  // namespace aoe::tests
