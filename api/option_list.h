// Options as the library's callers give them: keys and values as text, checked against the table of flags.
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <utility>
#include <vector>

#include "aoe/aoe.h"

namespace aoe::api {

using OptionList = std::vector<std::pair<std::string, std::string>>;

/// Copies. Error(kUsage) on null pointers, text that is not UTF-8, and keys that come twice.
OptionList copy_options(const AoeOption* options, size_t count);

/// Error(kUsage) on unknown keys, with near ones, and on values that are not of their kind. Those of `first` win.
boost::program_options::variables_map parse_options(const OptionList& first,
                                                    const OptionList& second);

}  // namespace aoe::api
