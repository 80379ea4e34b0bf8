// Programs speak of flags, variables and the places of files as options/ has them.
#pragma once

#include "options/flags.h"

namespace aoe::tools {

namespace po = boost::program_options;
using namespace options;

}  // namespace aoe::tools
