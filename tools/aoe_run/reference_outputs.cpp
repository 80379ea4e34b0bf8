// Reads and compares, in float32 where there are fractions.
#include "tools/aoe_run/reference_outputs.h"

#include <cstring>

#include "base/error.h"
#include "base/tensor_error.h"
#include "reference/elements/float16.h"
#include "runtime/npy.h"

namespace aoe::tools {
namespace {

template <typename T>
Constant in_float32(const Tensor& tensor) {
  TensorDesc desc = tensor.desc;
  desc.dtype = DataType::kFloat;
  Constant wide(desc);
  auto* values = static_cast<float*>(wide.mutable_data());
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    values[i] = static_cast<float>(tensor.as<T>()[i]);
  return wide;
}

/// The share of elements that are not the same, bit by bit.
double unequal_share(const Tensor& a, const Tensor& b) {
  const std::size_t size = size_bytes(a.desc.dtype);
  const auto *left = a.as<char>(), *right = b.as<char>();
  std::int64_t unequal = 0;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * size;
    unequal += std::memcmp(left + at, right + at, size) != 0;
  }
  return a.elements() == 0 ? 0 : static_cast<double>(unequal) / static_cast<double>(a.elements());
}

template <typename T>
double error_of(const Tensor& exact, const Tensor& actual) {
  return error_of_range(in_float32<T>(exact).view(), in_float32<T>(actual).view());
}

OutputDifference difference(const std::string& name, const Tensor& exact, const Tensor& actual,
                            double tolerance) {
  const auto within = [&](double error, double limit) {
    return OutputDifference{name, error, error <= limit};  // NaN is not
  };
  switch (exact.desc.dtype) {
    case DataType::kFloat:
      return within(error_of_range(exact, actual), tolerance);
    case DataType::kDouble:
      return within(error_of<double>(exact, actual), tolerance);
    case DataType::kFloat16:
      return within(error_of<reference::Float16>(exact, actual), tolerance);
    case DataType::kBFloat16:
      return within(error_of<reference::BFloat16>(exact, actual), tolerance);
    default:
      return within(unequal_share(exact, actual), 0);
  }
}

}  // namespace

std::vector<OutputDifference> compare_with(const std::filesystem::path& directory,
                                           const Session& session, double tolerance) {
  std::vector<OutputDifference> differences;
  for (std::size_t i = 0; i < session.outputs().size(); ++i) {
    const std::string& name = session.outputs()[i].name;
    const std::filesystem::path file = directory / runtime::npy_file_name(name);
    const Constant exact = runtime::read_npy(file);
    const Tensor actual = session.output(i);
    if (exact.desc().dtype != actual.desc.dtype || exact.desc().shape != actual.desc.shape)
      throw Error(
          ExitCode::kData,
          "is " + to_string(exact.desc()) + ", and the model gives " + to_string(actual.desc),
          file.string(), "compare with outputs of the same model");
    differences.push_back(difference(name, exact.view(), actual, tolerance));
  }
  return differences;
}

}  // namespace aoe::tools
