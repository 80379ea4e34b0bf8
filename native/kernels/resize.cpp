// Resize and Upsample to the nearest element, of all element types.
#include "reference/resize.h"

#include "native/kernel.h"
#include "native/places.h"

namespace aoe::native {
namespace {

void run_nearest(const Run& run) {
  const Tensor y = run.output(0);
  if (y.data == nullptr) return;
  reference::PlaceTables places;
  for (const auto& table : reference::resize_tables(run.call, run.inputs)) {
    std::vector<std::int64_t>& along = places.emplace_back();
    for (const reference::ResampledPosition& position : table)
      along.push_back(position.taps.front().position);
  }
  take_places(places, 0, run.inputs[0], y, run.threads);
}

Result<void> supports(const Question& question) {
  const reference::Attrs& attrs = question.call.attrs;
  if (attrs.get_string("mode", "nearest") != "nearest") return Unexpected("interpolates");
  if (attrs.get_string("coordinate_transformation_mode", "") == "tf_crop_and_resize")
    return Unexpected("crops");
  return {};
}

}  // namespace

void register_resize(KernelRegistry& registry) {
  for (const char* type : {"Resize", "Upsample"})
    registry.add({.type = type, .supports = supports, .run = run_nearest});
}

}  // namespace aoe::native
