// fail_model(): how an operator says that a model contradicts itself. infer() and run() add the
// op's name.
#pragma once

#include <string>

#include "base/error.h"

namespace aoe::reference {

[[noreturn]] inline void fail_model(std::string what) {
  throw Error(ExitCode::kModel, std::move(what));
}

}  // namespace aoe::reference
