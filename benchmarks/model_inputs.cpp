// Random numbers, or given ones.
#include "benchmarks/model_inputs.h"

#include <map>
#include <random>

#include "graph/import/input_values.h"
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
