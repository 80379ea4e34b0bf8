// A hand-made om with gears: relu(x + w) for a batch of 1, 2 or 4 rows.
#pragma once

#include "runtime/om/geared_om.h"
#include "tests/runtime/om_builder.h"

namespace aoe::runtime::tests {

inline constexpr std::int64_t kBatches[] = {1, 4, 2};

/// `w` is what all gears read; the model reads as any other but for its number of rows. Not yet
/// loaded: for serialize().
inline GearedOm geared_om(GearKind kind = GearKind::kBatch) {
  const auto weights = std::make_shared<const std::vector<float>>(std::vector<float>{1, -2, 3});
  GearedOm model;
  model.gears.kind = kind;
  for (const std::int64_t rows : kBatches) {
    OmBuilder b("geared");
    const int x = b.input("x", floats({rows, 3}));
    const int w = b.weight<float>("w", floats({3}), *weights);
    const int sum = b.arena("sum", floats({rows, 3}));
    const int y = b.output("y", floats({rows, 3}));
    b.reference("Add", {x, w}, {sum});
    b.reference("Relu", {sum}, {y});
    b.om.weights.clear();
    b.om.weights_view = {reinterpret_cast<const char*>(weights->data()), 3 * sizeof(float)};
    b.om.owner = weights;
    b.om.tuning = {{"rows", rows}};
    model.oms.push_back(b.om);
    model.gears.values.push_back(kind == GearKind::kImage ? GearValues{rows, 3} : GearValues{rows});
  }
  model.gears.dynamic_axes = {{0}};
  return model;
}

}  // namespace aoe::runtime::tests
