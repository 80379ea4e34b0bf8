// The tensors of a run: inputs from files or random, outputs to files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/aoe_run/session.h"

namespace aoe::tools {

/// One tensor for each input: read from `files`, each "NAME=FILE.npy", or random. Throws Error(kUsage) on a name that the
/// model does not have or that is given twice, Error(kData) on a file that cannot be read.
std::vector<Constant> make_inputs(const std::vector<Port>& ports,
                                  const std::vector<std::string>& files);

/// DIR/NAME.npy for each output, with '/' and ':' of the name as '_'. Throws Error(kOutput), also when two names become one.
std::vector<std::filesystem::path> output_paths(const std::vector<Port>& ports,
                                                const std::filesystem::path& directory);

}  // namespace aoe::tools
