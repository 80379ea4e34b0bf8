// Which graph passes run: --fusion_switch_file (lines "pass:off", or JSON {"Switch": {"GraphFusion": {...}}}),
// --optimization_switch and --oo_level; the same in aoe and atc.
#pragma once

#include <boost/program_options.hpp>
#include <set>
#include <string>

namespace aoe::options {

void add_pass_flags(boost::program_options::options_description& flags);

/// Names of the passes that are off: the level's, then those of the file, then the single switches. Names that no pass bears are
/// warned of: files of the original tool list many. "ALL" leaves out fold_constants. Error(kUsage) on what cannot be
/// read.
std::set<std::string> disabled_passes(const boost::program_options::variables_map& flags);

}  // namespace aoe::options
