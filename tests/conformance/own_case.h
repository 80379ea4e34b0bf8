// Cases of our own, cases/*.json (make_cases.py writes them): operators that are newer than the packaged node tests, or
// that are not ONNX's.
#pragma once

#include "tests/conformance/node_case.h"

namespace aoe::conformance {

/// Names of all cases, sorted.
std::vector<std::string> own_case_names();

/// The case, its model written into `directory`. Throws Error(kData) when the file is no case.
NodeCase load_own_case(const std::string& name, const std::filesystem::path& directory);

}  // namespace aoe::conformance
