// What aoe says at the end, on stdout: the documented line, the before/after table, the files.
#pragma once

#include <ostream>
#include <span>

#include "aoe/aoe.h"

namespace aoe::tools {

void print_report(std::ostream& out, const AoeTuningResult& result);

/// A row for each of several models.
void print_summary(std::ostream& out, std::span<const AoeTuningResult* const> results);

}  // namespace aoe::tools
