// The list of models.
#include "tools/make_model/models.h"

#include <algorithm>

#include "all_models.inc"

namespace aoe::make_model {

std::vector<Model> ModelRegistry::sorted() const {
  std::vector<Model> list = models_;
  std::ranges::sort(list, {}, &Model::name);
  return list;
}

const std::vector<Model>& models() {
  static const std::vector<Model> list = [] {
    ModelRegistry registry;
    register_all_models(registry);
    return registry.sorted();
  }();
  return list;
}

}  // namespace aoe::make_model
