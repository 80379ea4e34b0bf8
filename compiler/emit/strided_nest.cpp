// See strided_nest.h.
#include "compiler/emit/strided_nest.h"

#include <algorithm>

#include "base/check.h"
#include "compiler/emit/integer_math.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kGoodElements = 4096;  ///< per parallel iteration: 16 KB, some 1000 cycles

std::int64_t row_blocks(const StridedNest& nest, const NestTiling& tiling) {
  return ceil_div(nest.rows(), tiling.row_block);
}

std::int64_t inner_blocks(const StridedNest& nest, const NestTiling& tiling) {
  return tiling.inner_block == 0 ? 1 : ceil_div(nest.inner(), tiling.inner_block);
}

/// Emits one parallel iteration.
class StridedEmitter {
 public:
  using Body = std::function<void(const NestPosition&)>;
  StridedEmitter(Builder& builder, const StridedNest& nest, const NestTiling& tiling,
                 const Body& body)
      : builder_(builder),
        nest_(nest),
        tiling_(tiling),
        body_(body),
        coordinates_(nest.extents.size(), 0) {
    AOE_CHECK(tiling.inner_block % step() == 0, "a block of " + std::to_string(tiling.inner_block) +
                                                    " elements cuts an iteration of " +
                                                    std::to_string(step()));
  }

  void run(Int p) {
    const std::size_t rank = nest_.extents.size();
    const Int inner_block = p % inner_blocks(nest_, tiling_);
    p = p / inner_blocks(nest_, tiling_);
    const Int row_block = p % row_blocks(nest_, tiling_);
    p = p / row_blocks(nest_, tiling_);
    for (std::size_t d = rank < 2 ? 0 : rank - 2; d-- > 0;) {
      coordinates_[d] = d == 0 ? p : p % nest_.extents[d];
      p = p / nest_.extents[d];
    }
    const Int first = row_block * tiling_.row_block;
    const Int last = nest_.rows() % tiling_.row_block == 0
                         ? first + tiling_.row_block
                         : min(first + tiling_.row_block, nest_.rows());
    if (unrolls_rows()) {
      const Int full_end = first + (last - first) / tiling_.unroll * tiling_.unroll;
      builder_.loop("row", first, full_end, tiling_.unroll, [&](Int r) {
        for (std::int64_t u = 0; u < tiling_.unroll; ++u) row(r + u, inner_block);
      });
      builder_.loop("row", full_end, last, 1, [&](Int r) { row(r, inner_block); });
    } else {
      builder_.loop("row", first, last, 1, [&](Int r) { row(r, inner_block); });
    }
  }

 private:
  std::int64_t step() const { return tiling_.lanes * (unrolls_rows() ? 1 : tiling_.unroll); }
  bool unrolls_rows() const { return nest_.inner() < 2 * tiling_.lanes * tiling_.unroll; }

  void row(Int r, Int inner_block) {
    if (coordinates_.size() > 1) coordinates_[coordinates_.size() - 2] = r;
    const std::int64_t lanes = tiling_.lanes, extent = nest_.inner();
    const std::int64_t block = tiling_.inner_block == 0 ? extent : tiling_.inner_block;
    const std::int64_t full = extent / lanes * lanes, unrolled = extent / step() * step();
    const Int begin = inner_block * block;
    const Int end = begin + block;
    const Int unrolled_end = min(end, Int(unrolled)), full_end = min(end, Int(full));
    builder_.loop("i", begin, unrolled_end, step(), [&](Int i) {
      for (std::int64_t u = 0; u < step(); u += lanes) vector(i + u, {});
    });
    builder_.loop("i", max(begin, Int(unrolled)), full_end, lanes, [&](Int i) { vector(i, {}); });
    if (full < extent) {
      builder_.if_(Int(extent) <= end, [&] { vector(Int(full), Int(extent - full)); });
    }
  }

  void vector(Int i, std::optional<Int> active) {
    coordinates_.back() = i;
    NestPosition at{.offsets = {}, .coordinates = coordinates_, .active = active};
    for (const Shape& strides : nest_.strides) {
      Int offset = 0;
      for (std::size_t d = 0; d < strides.size(); ++d)
        offset = offset + coordinates_[d] * strides[d];
      at.offsets.push_back(offset);
    }
    body_(at);
  }

  Builder& builder_;
  const StridedNest& nest_;
  const NestTiling& tiling_;
  const Body& body_;
  std::vector<Int> coordinates_;
};

/// Powers of four below the extent, then the extent itself.
std::vector<std::int64_t> blocks_up_to(std::int64_t extent) {
  std::vector<std::int64_t> values;
  for (std::int64_t block = 1; block < extent; block *= 4) values.push_back(block);
  values.push_back(extent);
  return values;
}

/// Parts of a row of some operations each, of whole loop iterations; the whole row as 0, first. Rows of few elements that take long, such as
/// the means of some images, are parted too: threads have nothing else to share.
std::vector<std::int64_t> parts_of_row(std::int64_t row, std::int64_t iteration, const Soc& soc,
                                       std::int64_t cost) {
  const std::int64_t operations = std::int64_t{16} * soc.vector_lanes();
  std::int64_t least = operations;
  while (least % (4 * iteration) == 0 && least / 4 * cost >= operations) least /= 4;
  std::vector<std::int64_t> parts = {0};
  for (std::int64_t part = least; part < row; part *= 4) parts.push_back(part);
  return parts;
}

TilingAxes<NestTiling> nest_axes(const StridedNest& nest, const Soc& soc, int lanes,
                                 std::int64_t cost, const TilingAxes<NestTiling>::Axis& in_flight) {
  const bool is_unrolled = in_flight.field == &NestTiling::unroll;
  const std::int64_t iteration = lanes * (is_unrolled ? in_flight.values.back() : 1);
  const std::vector<std::int64_t> inner = parts_of_row(nest.inner(), iteration, soc, cost);
  return {{"row_block", &NestTiling::row_block, blocks_up_to(nest.rows())},
          {"inner_block", &NestTiling::inner_block, inner},
          in_flight};
}

}  // namespace

void StridedNest::collapse(std::size_t keep) {
  Shape merged;
  std::vector<Shape> merged_strides(strides.size());
  const std::size_t rank = extents.size();
  for (std::size_t d = 0; d < rank; ++d) {
    const bool is_kept = d + keep >= rank;
    if (extents[d] == 1 && !is_kept) continue;
    const bool continues = !is_kept && !merged.empty() &&
                           std::all_of(strides.begin(), strides.end(), [&](const Shape& s) {
                             const auto operand = static_cast<std::size_t>(&s - strides.data());
                             return merged_strides[operand].back() == s[d] * extents[d];
                           });
    if (continues) {
      merged.back() *= extents[d];
      for (std::size_t i = 0; i < strides.size(); ++i) merged_strides[i].back() = strides[i][d];
    } else {
      merged.push_back(extents[d]);
      for (std::size_t i = 0; i < strides.size(); ++i) merged_strides[i].push_back(strides[i][d]);
    }
  }
  if (merged.empty()) {
    merged = {1};
    for (Shape& s : merged_strides) s = {0};
  }
  extents = std::move(merged);
  strides = std::move(merged_strides);
}

std::int64_t StridedNest::outer() const {
  std::int64_t product = 1;
  for (std::size_t d = 0; d + 2 < extents.size(); ++d) product *= extents[d];
  return product;
}

std::int64_t StridedNest::rows() const {
  return extents.size() < 2 ? 1 : extents[extents.size() - 2];
}

std::int64_t parallel_extent(const StridedNest& nest, const NestTiling& tiling) {
  return nest.outer() * row_blocks(nest, tiling) * inner_blocks(nest, tiling);
}

void emit_nest(Builder& builder, const StridedNest& nest, const NestTiling& tiling, Int p,
               const std::function<void(const NestPosition&)>& body) {
  StridedEmitter(builder, nest, tiling, body).run(p);
}

NestPlan::NestPlan(const Task& task, const FormatChoice& format, const Soc& soc,
                   const StridedNest& nest, int lanes, std::int64_t cost, const InFlight& in_flight)
    : Plan(task, format, soc, nest_axes(nest, soc, lanes, cost, in_flight.axis).schedule_axes()),
      nest_(nest),
      lanes_(lanes),
      cost_(cost),
      axes_(nest_axes(nest, soc, lanes, cost, in_flight.axis)) {
  start_.*in_flight.axis.field = in_flight.by_default;
}

NestTiling NestPlan::tiling(const Schedule& schedule) const {
  NestTiling tiling = axes_.tiling(schedule);
  tiling.lanes = lanes_;
  return tiling;
}

void NestPlan::emit(Builder& builder, const NestTiling& tiling,
                    const std::function<void(const NestPosition&)>& body) const {
  builder.parallel(parallel_extent(nest_, tiling),
                   [&](Int p) { emit_nest(builder, nest_, tiling, p, body); });
}

/// The largest blocks of which every thread still gets four.
Schedule NestPlan::search() const {
  using T = NestTiling;
  const std::int64_t good_elements = std::max<std::int64_t>(1, kGoodElements / cost_);
  const std::int64_t wanted = std::int64_t{4} * soc().threads;
  const std::vector<std::int64_t>& inner = axes_.values(&T::inner_block);
  T best = start_;
  if (inner.size() > 1) best.inner_block = inner[1];
  std::int64_t best_elements = 0;
  for (const T& t : axes_.all(start_, {&T::row_block, &T::inner_block})) {
    const std::int64_t elements =
        t.row_block * (t.inner_block == 0 ? nest_.inner() : std::min(t.inner_block, nest_.inner()));
    if (parallel_extent(nest_, t) < wanted && elements > good_elements / 16) continue;
    if (elements > best_elements && (elements <= 4 * good_elements || best_elements == 0)) {
      best = t;
      best_elements = elements;
    }
  }
  return axes_.schedule(best);
}

Features NestPlan::features(const Schedule& schedule) const {
  const NestTiling tiling = this->tiling(schedule);
  const std::int64_t iterations = parallel_extent(nest_, tiling);
  const auto elements = static_cast<double>(element_count(nest_.extents));
  const std::int64_t vectors = ceil_div(nest_.inner(), tiling.lanes);
  return {{"elements", elements},
          {"inner", static_cast<double>(nest_.inner())},
          {"lane_use",
           static_cast<double>(nest_.inner()) / static_cast<double>(vectors * tiling.lanes)},
          {"unroll", static_cast<double>(tiling.unroll)},
          {"iterations", static_cast<double>(iterations)},
          {"elements_per_iteration",
           elements / static_cast<double>(std::max<std::int64_t>(1, iterations))},
          {"balance", parallel_balance(soc(), std::max<std::int64_t>(1, iterations))},
          {"bytes", bytes_moved(task())}};
}

}  // namespace aoe::compiler
