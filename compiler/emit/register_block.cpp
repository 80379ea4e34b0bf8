// See register_block.h.
#include "compiler/emit/register_block.h"

namespace aoe::compiler {
namespace {

std::vector<Local> load_all(std::int64_t count, const RegisterBlock::Load& load) {
  std::vector<Local> loaded;
  for (std::int64_t i = 0; i < count; ++i) loaded.push_back(load(i));
  return loaded;
}

void add(loopnest::Builder& builder, const RegisterBlock& block, std::int64_t row,
         std::int64_t vector, const loopnest::Vec& element, const Local& loaded) {
  const bool by_row = block.order == RegisterBlock::Order::kByRow;
  const std::int64_t at = by_row ? row * block.vectors + vector : vector * block.rows + row;
  const Local& sum = block.sums[static_cast<std::size_t>(at)];
  builder.assign(sum, block.multiply_add(element, builder.get(loaded), builder.get(sum)));
}

}  // namespace

void RegisterBlock::step(loopnest::Builder& builder, const Load& vector,
                         const Load& element) const {
  if (keeps_smaller_side && rows <= vectors) {
    const std::vector<Local> kept = load_all(rows, element);
    for (std::int64_t v = 0; v < vectors; ++v) {
      const Local y = vector(v);
      for (std::int64_t r = 0; r < rows; ++r)
        add(builder, *this, r, v, builder.get(kept[static_cast<std::size_t>(r)]), y);
    }
    return;
  }
  const std::vector<Local> kept = load_all(vectors, vector);
  for (std::int64_t r = 0; r < rows; ++r) {
    const Local x = element(r);
    const auto broadcast = [&](std::int64_t, std::int64_t) { return builder.get(x); };
    add_row(builder, r, broadcast, kept);
  }
}

void RegisterBlock::add_row(loopnest::Builder& builder, std::int64_t row, const Element& element,
                            const std::vector<Local>& loaded, std::int64_t steps) const {
  for (std::int64_t v = 0; v < vectors; ++v)
    for (std::int64_t step = 0; step < steps; ++step)
      add(builder, *this, row, v, element(v, step),
          loaded[static_cast<std::size_t>(step * vectors + v)]);
}

}  // namespace aoe::compiler
