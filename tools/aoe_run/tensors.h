// The tensors of a run: inputs from files or random, outputs to files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/aoe_run/session.h"

namespace aoe::tools {

/// One for each input: what `files` give, each "NAME=FILE.npy". Throws Error(kUsage) on a name that the model does not
/// have or that is given twice, Error(kData) on a file that cannot be read.
std::vector<std::optional<Constant>> read_inputs(const std::vector<Port>& ports,
                                                 const std::vector<std::string>& files);

/// Random ones in the place of those that were not given, always the same: floats in [0, 1). Open sizes are 1, but `batch`
/// where it is the first.
std::vector<ConstantPtr> fill_up(std::vector<std::optional<Constant>> given,
                                 const std::vector<Port>& ports, std::int64_t batch = 1);

/// DIR/NAME.npy for each output (runtime::npy_file_name). Throws Error(kOutput), also when two names become one.
std::vector<std::filesystem::path> output_paths(const std::vector<Port>& ports,
                                                const std::filesystem::path& directory);

}  // namespace aoe::tools
