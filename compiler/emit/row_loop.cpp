// See row_loop.h.
#include "compiler/emit/row_loop.h"

namespace aoe::compiler {

void RowLoop::for_each(Builder& builder, const Body& body) const {
  builder.loop("i", 0, grouped(), group(), [&](Int i) {
    for (std::int64_t k = 0; k < accumulators; ++k) body(i + k * lanes, {});
  });
  builder.loop("i", grouped(), full(), lanes, [&](Int i) { body(i, {}); });
  if (full() < extent) body(Int(full()), Int(extent - full()));
}

Vec RowLoop::reduce(Builder& builder, double start, Vec (*combine)(Vec, Vec),
                    Vec (*combine_lanes)(Vec), const Value& value) const {
  std::vector<Local> sums;
  for (std::int64_t k = 0; k < accumulators; ++k) {
    sums.push_back(builder.local(loopnest::splat(start, lanes, type)));
  }
  const auto accumulate = [&](std::int64_t k, const Vec& x) {
    const Local sum = sums[static_cast<std::size_t>(k)];
    builder.assign(sum, combine(builder.get(sum), x));
  };
  builder.loop("i", 0, grouped(), group(), [&](Int i) {
    for (std::int64_t k = 0; k < accumulators; ++k) accumulate(k, value(i + k * lanes, {}));
  });
  builder.loop("i", grouped(), full(), lanes, [&](Int i) { accumulate(0, value(i, {})); });
  if (full() < extent) {
    const Int rest = extent - full();
    accumulate(0, select(active_lanes(rest, lanes), value(Int(full()), rest),
                         loopnest::splat(start, lanes, type)));
  }
  Vec sum = builder.get(sums[0]);
  for (std::size_t k = 1; k < sums.size(); ++k) sum = combine(sum, builder.get(sums[k]));
  const Vec total = builder.get(builder.local(sum));
  return builder.get(builder.local(combine_lanes(total)));
}

}  // namespace aoe::compiler
