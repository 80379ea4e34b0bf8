// Calibration samples: directories of .npy files.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor.h"

namespace aoe::quantize {

using Sample = std::map<std::string, ConstantPtr>;  ///< by input
using Declarations = std::vector<std::pair<std::string, TensorDesc>>;

/// Of a model with one input every DIR/*.npy; of any model every DIR/*/NAME.npy, a directory each, '/' and ':' in names as
/// '_'. In the order of their names. A file whose first dimension is a multiple of the model's holds several
/// samples, one that lacks the first dimension holds one of a batch of one. Throws Error(kData) that names the file that does not fit,
/// or says that there is none.
std::vector<Sample> read_samples(const std::filesystem::path& directory,
                                 const Declarations& inputs);

/// `count` samples of random numbers; open dimensions are 1. They tell nothing about accuracy.
std::vector<Sample> random_samples(int count, unsigned seed, const Declarations& inputs);

}  // namespace aoe::quantize
