// The report of --mode=6: what an om was made of, what it needs, how big it is.
#pragma once

#include <ostream>

#include "runtime/om/geared_om.h"

namespace aoe::tools {

/// The part of the tuning section that atc itself fills in.
void note_origin(runtime::Om& om, const std::string& command_line);

/// `model` must have been loaded: sections of one that was just built have no sizes yet.
void print_om_report(std::ostream& out, const runtime::GearedOm& model);

}  // namespace aoe::tools
