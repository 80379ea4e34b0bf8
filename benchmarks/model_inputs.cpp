// Random numbers, or given ones.
#include "benchmarks/model_inputs.h"

#include <map>
#include <random>

#include "base/error.h"
#include "graph/input_values.h"

namespace aoe::benchmarks {
namespace {

/// Random, or `given` everywhere.
ConstantPtr input_of(TensorDesc desc, unsigned seed, const std::vector<std::string>* given) {
  desc.format = Format::kND;
  desc.c0 = 0;
  if (given != nullptr) return graph::constant_of_input("--feed", desc, *given);
  auto value = std::make_shared<Constant>(desc);
  std::mt19937 random(seed);
  for (std::int64_t i = 0; i < element_count(desc.shape); ++i) {
    void* data = value->mutable_data();
    if (desc.dtype == DataType::kFloat)
      static_cast<float*>(data)[i] = std::uniform_real_distribution<float>(0, 1)(random);
    else if (desc.dtype == DataType::kInt64)
      static_cast<std::int64_t*>(data)[i] = static_cast<std::int64_t>(random() % 2);
    else if (desc.dtype == DataType::kInt32)
      static_cast<std::int32_t*>(data)[i] = static_cast<std::int32_t>(random() % 2);
    else
      throw Error(ExitCode::kData,
                  "input of type " + std::string(name(desc.dtype)) + " is not supported here");
  }
  return value;
}

}  // namespace

std::vector<NamedTensor> inputs_of(const BoundOm& om, const std::string& feed) {
  std::map<std::string, std::vector<std::string>> given;
  if (!feed.empty()) given = graph::parse_input_values(feed);
  std::vector<NamedTensor> inputs;
  for (std::size_t i = 0; i < om.input_count(); ++i) {
    const std::string& name = om.input(i).name;
    const auto fixed = given.find(name);
    inputs.push_back({name, input_of(om.input(i).desc, static_cast<unsigned>(i) + 1,
                                     fixed == given.end() ? nullptr : &fixed->second)});
  }
  return inputs;
}

}  // namespace aoe::benchmarks
