// Random numbers, or given ones.
#include "benchmarks/model_inputs.h"

#include <map>
#include <random>

#include "base/error.h"
#include "graph/import/input_values.h"
#include "graph/import/onnx_import.h"
#include "reference/elements/typed.h"

namespace aoe::benchmarks {
namespace {

/// Random, or `given` everywhere.
ConstantPtr input_of(TensorDesc desc, unsigned seed, const std::vector<std::string>* given) {
  desc.format = Format::kND;
  desc.c0 = 0;
  if (given != nullptr) return graph::constant_of_input("--feed", desc, *given);
  auto value = std::make_shared<Constant>(desc);
  std::mt19937 random(seed);
  reference::visit_type<reference::AllTypes>(desc.dtype, [&]<typename T>() {
    T* const data = static_cast<T*>(value->mutable_data());
    for (std::int64_t i = 0; i < element_count(desc.shape); ++i) {
      if constexpr (reference::kIsFloat<T>)
        data[i] = reference::convert<T>(std::uniform_real_distribution<float>(0, 1)(random));
      else
        data[i] = static_cast<T>(random() % (sizeof(T) == 1 && !std::is_same_v<T, bool> ? 100 : 2));
    }
  });
  return value;
}

/// Of an input in runs: where its sizes are open, `sizes` has them.
TensorDesc desc_of(const runtime::OmTensor& input, const std::map<std::string, Shape>& sizes) {
  TensorDesc desc = input.desc;
  if (is_static(desc.shape)) return desc;
  const auto given = sizes.find(input.name);
  if (given == sizes.end() || given->second.size() != desc.shape.size())
    throw Error(ExitCode::kUsage, "an input has open sizes", input.name, "give them by --sizes");
  desc.shape = given->second;
  return desc;
}

}  // namespace

std::vector<NamedTensor> inputs_of(const BoundOm& om, const std::string& feed,
                                   const std::string& sizes) {
  std::map<std::string, std::vector<std::string>> given;
  if (!feed.empty()) given = graph::parse_input_values(feed);
  const std::map<std::string, Shape> shapes = graph::parse_input_shapes(sizes);
  std::vector<NamedTensor> inputs;
  for (std::size_t i = 0; i < om.input_count(); ++i) {
    const std::string& name = om.input(i).name;
    const auto fixed = given.find(name);
    inputs.push_back({name, input_of(desc_of(om.input(i), shapes), static_cast<unsigned>(i) + 1,
                                     fixed == given.end() ? nullptr : &fixed->second)});
  }
  return inputs;
}

}  // namespace aoe::benchmarks
