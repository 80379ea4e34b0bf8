// The flow of values through an om in running order: nothing is read before it is written, and nothing in the arena is
// overwritten while it is needed.
#pragma once

#include <optional>
#include <string>

#include "runtime/om/om.h"

namespace aoe::runtime {

/// Of an om whose tensors and steps were looked at one by one. Nothing: no fault; else what is wrong.
std::optional<std::string> flow_fault(const Om& om);

}  // namespace aoe::runtime
