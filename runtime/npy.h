// NumPy's .npy files: one dense tensor each.
#pragma once

#include <filesystem>
#include <string>

#include "base/tensor.h"

namespace aoe::runtime {

/// Versions 1 to 3 of the format, little-endian, C order. Throws Error(kData) that names the file when it is missing,
/// damaged or holds something else (Fortran order, big-endian, strings, objects).
Constant read_npy(const std::filesystem::path& path);

/// Where the tensor of that name is read from and written to: NAME.npy, with '/' and ':' as '_'.
std::string npy_file_name(const std::string& tensor);

/// Appears by rename. float32, float64, float16, bool and all integers; bfloat16, which NumPy does not know, is written
/// as uint16 bit patterns. Throws Error(kOutput).
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace aoe::runtime
