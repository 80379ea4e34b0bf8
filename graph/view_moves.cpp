// See view_moves.h.
//
// Steps are followed from the largest stride to the smallest. Each divides the cell of memory that
// the one before steps by: into units, of which a Slice takes every n-th, or, where the cell is no
// whole number of strides, after a Slice that leaves such a number. What is left of the offset
// stays inside the unit, the cell of the next step.
#include "graph/view_moves.h"

#include <algorithm>
#include <numeric>

#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

constexpr int kNoDim = -1;

/// A dimension on the way: every `step`-th of its `extent` elements is taken, `count` of them.
struct Cut {
  std::int64_t extent = 1, start = 0, count = 1, step = 1;
  int dim = kNoDim;  ///< of the view; kNoDim: one that vanishes

  bool takes_all() const { return start == 0 && count == extent; }
};

class Mover {
 public:
  explicit Mover(const Shape& from) : from_(from) {}

  void reshape(const Shape& to) {
    if (!moves_.empty() && moves_.back().op.type == "Reshape") moves_.pop_back();
    if (to != shape()) moves_.push_back({call_of("Reshape"), {to}, to});
  }

  void slice(const std::vector<Cut>& cuts) {
    Shape whole, taken;
    std::vector<std::int64_t> starts, ends, axes, steps;
    for (const Cut& cut : cuts) {
      whole.push_back(cut.extent);
      taken.push_back(cut.count);
      if (cut.takes_all()) continue;
      starts.push_back(cut.start);
      ends.push_back(cut.start + (cut.count - 1) * cut.step + 1);
      axes.push_back(static_cast<std::int64_t>(taken.size()) - 1);
      steps.push_back(cut.step);
    }
    reshape(whole);
    if (axes.empty()) return;
    moves_.push_back({call_of("Slice"), {starts, ends, axes}, taken});
    const bool has_gaps = std::ranges::any_of(steps, [](std::int64_t step) { return step != 1; });
    if (has_gaps) moves_.back().parameters.push_back(steps);
  }

  void transpose(const std::vector<std::int64_t>& perm) {
    Shape to;
    std::vector<std::int64_t> long_dims;
    for (const std::int64_t d : perm) {
      to.push_back(shape()[static_cast<std::size_t>(d)]);
      if (to.back() != 1) long_dims.push_back(d);
    }
    if (std::ranges::is_sorted(long_dims)) return reshape(to);
    reference::Attrs attrs;
    attrs.set("perm", perm);
    moves_.push_back({call_of("Transpose", attrs), {}, to});
  }

  void expand(const Shape& to) {
    if (to != shape()) moves_.push_back({call_of("Expand"), {to}, to});
  }

  std::vector<ViewMove> take() { return std::move(moves_); }

 private:
  const Shape& shape() const { return moves_.empty() ? from_ : moves_.back().shape; }

  const Shape from_;
  std::vector<ViewMove> moves_;
};

bool is_step(const Factor& dim) {
  return dim.extent > 1 && dim.stride > 0;
}

/// The steps of memory among `dims`, by falling stride.
std::vector<int> steps_of(const std::vector<Factor>& dims) {
  std::vector<int> steps;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (is_step(dims[d])) steps.push_back(static_cast<int>(d));
  std::ranges::stable_sort(steps, std::ranges::greater{},
                           [&](int d) { return dims[static_cast<std::size_t>(d)].stride; });
  return steps;
}

/// Cuts the tensor into the dimensions of the view, in the order of memory.
Result<std::vector<Cut>> cut_memory(Mover& mover, std::int64_t elements, std::int64_t offset,
                                    const std::vector<Factor>& dims) {
  const std::vector<int> steps = steps_of(dims);
  std::int64_t span = 1;  // elements from the first one of what is left to its last one
  for (const int d : steps) span += (dims[d].extent - 1) * dims[d].stride;
  if (offset + span > elements) return Unexpected("the view ends behind its tensor");
  std::vector<Cut> cuts;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (!is_step(dims[d])) cuts.push_back({.dim = static_cast<int>(d)});
  std::int64_t cell = elements, at = offset;
  for (const int d : steps) {
    const auto [extent, stride] = dims[d];
    span -= (extent - 1) * stride;
    const std::int64_t unit = std::gcd(cell, stride);
    if (at % unit + span <= unit) {
      cuts.push_back({cell / unit, at / unit, extent, stride / unit, d});
      cell = unit;
      at %= unit;
      continue;
    }
    const std::int64_t before = std::max<std::int64_t>(0, at + extent * stride - cell);
    if (before > std::min(at, stride - span))
      return Unexpected("steps of " + std::to_string(stride) + " elements do not nest in " +
                        std::to_string(cell));
    cuts.push_back({.extent = cell, .start = at - before, .count = extent * stride});
    mover.slice(cuts);
    for (Cut& cut : cuts) cut = {.extent = cut.count, .count = cut.count, .dim = cut.dim};
    cuts.back() = {.extent = extent, .count = extent, .dim = d};
    cell = stride;
    at = before;
  }
  if (cell > 1) cuts.push_back({.extent = cell, .start = at});
  mover.slice(cuts);
  return cuts;
}

}  // namespace

Result<std::vector<ViewMove>> moves_to_view(const Shape& from, std::int64_t offset,
                                            const std::vector<Factor>& dims, const Shape& to) {
  Mover mover(from);
  const auto cuts = cut_memory(mover, element_count(from), offset, dims);
  if (!cuts) return Unexpected(cuts.error());
  std::vector<std::int64_t> perm(cuts->size());
  std::iota(perm.begin(), perm.end(), std::int64_t{0});
  std::ranges::stable_sort(perm, {}, [&](std::int64_t cut) {
    const int dim = (*cuts)[static_cast<std::size_t>(cut)].dim;
    return dim == kNoDim ? static_cast<int>(dims.size()) : dim;
  });
  mover.transpose(perm);
  Shape once, repeated;
  for (const Factor& dim : dims) {
    once.push_back(is_step(dim) ? dim.extent : 1);
    repeated.push_back(dim.extent);
  }
  mover.reshape(once);
  mover.expand(repeated);
  mover.reshape(to);
  return mover.take();
}

ValueId add_moves(Pieces& pieces, const std::string& what, ValueId from,
                  const std::vector<ViewMove>& moves) {
  for (const ViewMove& move : moves) {
    std::vector<ValueId> inputs = {from};
    for (const auto& parameter : move.parameters)
      inputs.push_back(
          add_ints(pieces.graph(), pieces.whole().name + "_" + what + "_view", parameter));
    from = pieces.add(what, move.op, std::move(inputs), move.shape);
  }
  return from;
}

}  // namespace aoe::graph
