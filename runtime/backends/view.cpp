// Steps whose outputs already lie where their inputs do.
#include "runtime/backend.h"

namespace aoe::runtime {
namespace {

class View final : public Backend {
 public:
  View()
      : Backend({.name = "none",
                 .path = "view",
                 .library = "none",
                 .runs = false,
                 .finds_sizes = true}) {}

  /// Where outputs lie, and who wrote there, is looked at with all steps together (om_flow.h).
  std::optional<StepFault> fault(const Om&, std::span<const std::size_t>) const override {
    return std::nullopt;
  }

  std::unique_ptr<Loader> open(const LoadContext&, const Loader*) const override {
    return nullptr;  // nothing is ever loaded
  }
};

}  // namespace

void register_view(BackendRegistry& registry) {
  registry.add(std::make_unique<View>());
}

}  // namespace aoe::runtime
