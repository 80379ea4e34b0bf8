// Whoever wants the log instead of stderr: a library's caller.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/log.h"

namespace aoe {

/// Gets what is logged from now on, one line at a time, instead of stderr; nullptr gives it back. Must not log itself.
using LogListener =
    std::function<void(LogLevel level, const std::string& folder, std::string_view line)>;
void set_log_listener(LogListener listener);

}  // namespace aoe
