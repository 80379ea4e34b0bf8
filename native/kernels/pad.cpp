// Pad of all element types and modes, with pads that may be known only when it runs.
#include "native/kernel.h"
#include "native/sampling/places.h"

namespace aoe::native {
namespace {

void run_pad(const Run& run) {
  const Tensor outputs[] = {run.output(0)};
  if (outputs[0].data == nullptr) return;
  const reference::PadSource source =
      reference::pad_source({run.attrs, run.version, run.inputs, outputs});
  take_places(source.places, source.padding, run.inputs[0], outputs[0], run.threads);
}

}  // namespace

void register_pad(KernelRegistry& registry) {
  registry.add({.type = "PadV3", .supports = takes_all, .run = run_pad});
}

}  // namespace aoe::native
