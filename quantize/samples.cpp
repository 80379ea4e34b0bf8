// See samples.h.
#include "quantize/samples.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "base/error.h"
#include "graph/graph.h"
#include "runtime/npy.h"

namespace aoe::quantize {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file, const std::string& what, const TensorDesc& wanted) {
  throw Error(ExitCode::kData, what, file.string(), "the model's input is " + to_string(wanted));
}

/// Open dimensions take any size; from `first` on.
bool fits(const Shape& shape, const Shape& declared, std::size_t first) {
  if (shape.size() != declared.size()) return false;
  for (std::size_t i = first; i < shape.size(); ++i)
    if (declared[i] != kUnknownDim && declared[i] != shape[i]) return false;
  return true;
}

ConstantPtr slice(const Constant& whole, std::int64_t index, std::int64_t batch) {
  TensorDesc desc = whole.desc();
  desc.shape[0] = batch;
  auto part = std::make_shared<Constant>(desc);
  const auto* from = static_cast<const std::byte*>(whole.data()) +
                     static_cast<std::size_t>(index) * part->size_bytes();
  std::memcpy(part->mutable_data(), from, part->size_bytes());
  return part;
}

std::vector<ConstantPtr> read_file(const fs::path& file, const TensorDesc& declared) {
  Constant whole = runtime::read_npy(file);
  if (declared.dtype != whole.desc().dtype)
    refuse(file, "holds " + to_string(whole.desc()), declared);
  Shape shape = whole.desc().shape;
  if (declared.shape == graph::kUnknownRankShape || fits(shape, declared.shape, 0))
    return {std::make_shared<Constant>(std::move(whole))};
  if (shape.size() + 1 == declared.shape.size()) {
    shape.insert(shape.begin(), 1);
    if (fits(shape, declared.shape, 0))
      return {std::make_shared<Constant>(TensorDesc{.dtype = declared.dtype, .shape = shape},
                                         whole.data())};
  }
  const std::int64_t batch = declared.shape.empty() ? 0 : declared.shape[0];
  if (batch < 1 || !fits(shape, declared.shape, 1) || shape[0] % batch != 0 || shape[0] == 0)
    refuse(file, "holds " + to_string(whole.desc()), declared);
  std::vector<ConstantPtr> parts;
  for (std::int64_t i = 0; i < shape[0] / batch; ++i) parts.push_back(slice(whole, i, batch));
  return parts;
}

std::vector<fs::path> entries_of(const fs::path& directory, bool wants_directories) {
  std::vector<fs::path> found;
  std::error_code status;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, status)) {
    const bool is_wanted = wants_directories
                               ? entry.is_directory()
                               : entry.is_regular_file() && entry.path().extension() == ".npy";
    if (is_wanted) found.push_back(entry.path());
  }
  if (status) throw Error(ExitCode::kData, status.message(), directory.string());
  std::ranges::sort(found);
  return found;
}

/// The files of one directory hold the same number of samples each.
void add_directory(const fs::path& directory, const Declarations& inputs,
                   std::vector<Sample>& samples) {
  std::vector<Sample> added;
  for (const auto& [name, declared] : inputs) {
    const std::string file = runtime::npy_file_name(name);
    const std::vector<ConstantPtr> parts = read_file(directory / file, declared);
    if (added.empty()) added.resize(parts.size());
    if (added.size() != parts.size())
      refuse(directory / file,
             "holds " + std::to_string(parts.size()) + " samples, another input's file " +
                 std::to_string(added.size()),
             declared);
    for (std::size_t i = 0; i < parts.size(); ++i) added[i][name] = parts[i];
  }
  std::ranges::move(added, std::back_inserter(samples));
}

}  // namespace

std::vector<Sample> read_samples(const fs::path& directory, const Declarations& inputs) {
  std::vector<Sample> samples;
  if (inputs.size() == 1)
    for (const fs::path& file : entries_of(directory, false))
      for (const ConstantPtr& part : read_file(file, inputs[0].second))
        samples.push_back({{inputs[0].first, part}});
  if (samples.empty())
    for (const fs::path& each : entries_of(directory, true)) add_directory(each, inputs, samples);
  if (samples.empty())
    throw Error(ExitCode::kData, "there are no samples", directory.string(),
                inputs.size() == 1 ? "put .npy files there, or directories with one for each input"
                                   : "put directories there, each with a .npy file for each input");
  for (const Sample& sample : samples)
    for (const auto& [name, value] : sample)
      if (value->desc().shape != samples[0].at(name)->desc().shape)
        throw Error(ExitCode::kData,
                    "samples of input '" + name +
                        "' have different shapes: " + to_string(samples[0].at(name)->desc().shape) +
                        " and " + to_string(value->desc().shape),
                    directory.string(), "give samples of one shape");
  return samples;
}

std::vector<Sample> random_samples(int count, unsigned seed, const Declarations& inputs) {
  std::mt19937 engine(seed);
  std::vector<Sample> samples(static_cast<std::size_t>(count));
  for (Sample& sample : samples)
    for (const auto& [name, declared] : inputs) {
      TensorDesc desc = declared;
      for (std::int64_t& dim : desc.shape) dim = dim < 0 ? 1 : dim;
      auto value = std::make_shared<Constant>(desc);
      const std::int64_t elements = element_count(desc.shape);
      if (desc.dtype == DataType::kFloat) {
        auto* const values = static_cast<float*>(value->mutable_data());
        for (std::int64_t i = 0; i < elements; ++i)
          values[i] = static_cast<float>(engine() >> 8) * 0x1p-22f - 2.0f;
      }  // of other types zeros, which any table of embeddings has
      sample[name] = std::move(value);
    }
  return samples;
}

}  // namespace aoe::quantize
