// arg_max: generated ArgMax and ArgMin. Lanes hold neighbouring results where the axis is not the innermost, and where rows are
// short, which are transposed in registers; else each lane searches its part of the row, and the lanes are compared at the end. In
// rows with NaN any position may be the answer.
#include <algorithm>

#include "base/check.h"
#include "compiler/emit/element_lanes.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/emit/packed_table.h"
#include "compiler/emit/strided_nest.h"
#include "compiler/roofline.h"
#include "reference/tensors/axes.h"

namespace aoe::compiler {
namespace {

using loopnest::broadcast;

constexpr std::int64_t kMostPositions = 1 << 24;  ///< positions are counted in float32

reference::AxisView arg_view(const Task& task) {
  const Shape& shape = task.in(0).shape;
  return reference::view_axis(
      shape, reference::normalize_axis(task.op.attrs.get_int("axis", 0), shape.size()));
}

bool runs_along(const reference::AxisView& view) {
  return view.inner == 1;
}

/// To compare the lanes at the end would take longer than to transpose so many rows.
bool has_short_rows(const reference::AxisView& view, int lanes) {
  return runs_along(view) && view.dim <= std::int64_t{2} * lanes;
}

/// Over results. Operand 0: the output, 1: the input.
StridedNest arg_nest(const reference::AxisView& view, int lanes) {
  if (has_short_rows(view, lanes)) return {.extents = {view.outer}, .strides = {{1}, {view.dim}}};
  return {.extents = {view.outer, view.inner},
          .strides = {{view.inner, 1}, {view.dim * view.inner, 1}}};
}

/// The search for one result, or one in each lane. ArgMin looks for the largest negative, of integers for the largest
/// complement: one of them has no negative.
class Search {
 public:
  Search(Builder& builder, const Task& task, int lanes)
      : builder_(builder),
        type_(ordered_lanes_of(task.in(0).dtype).value()),
        is_min_(task.op.type == "ArgMin"),
        takes_last_(task.op.attrs.get_int("select_last_index", 0) != 0),
        lanes_(lanes),
        best_(builder.local(splat(0, lanes, type_))),
        position_(builder.local(splat(0, lanes))) {}

  void start(Vec x, Vec position) {
    builder_.assign(best_, rank(x));
    builder_.assign(position_, position);
  }

  void step(Vec x, Vec position) {
    const Vec value = builder_.get(builder_.local(rank(x)));
    const Vec champion = builder_.get(best_);
    const Mask wins = takes_last_ ? champion <= value : champion < value;
    builder_.assign(position_, select(wins, position, builder_.get(position_)));
    builder_.assign(best_, select(wins, value, builder_.get(best_)));
  }

  Vec position() const { return builder_.get(position_); }

  /// Of all lanes, the first (or last) position that has the best value.
  Vec best_of_lanes(std::int64_t positions) {
    const Vec best = builder_.get(builder_.local(reduce_max(builder_.get(best_))));
    const Mask wins = builder_.get(best_) == broadcast(best, lanes_);
    const Vec last = splat(static_cast<float>(positions - 1), lanes_);
    const Vec candidates = builder_.get(builder_.local(
        select(wins, builder_.get(position_), takes_last_ ? splat(0, lanes_) : last)));
    const Vec found = takes_last_ ? reduce_max(candidates) : reduce_min(candidates);
    return min(found, splat(static_cast<float>(positions - 1), 1));
  }

  /// Loses against every other value.
  Vec worst() const { return is_min_ ? highest(lanes_, type_) : lowest(lanes_, type_); }
  Type type() const { return type_; }

 private:
  Vec rank(const Vec& x) const {
    const bool is_integer = type_ == Type::kInt32 || type_ == Type::kInt64;
    if (is_integer) return is_min_ ? bit_xor(x, splat(-1, lanes_, type_)) : x;
    return x * splat(is_min_ ? -1 : 1, lanes_, type_);
  }

  Builder& builder_;
  Type type_;
  bool is_min_, takes_last_;
  int lanes_;
  Local best_, position_;
};

class ArgMaxPlan final : public NestPlan {
 public:
  ArgMaxPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : NestPlan(task, format, soc, arg_nest(arg_view(task), soc.vector_lanes()),
                 soc.vector_lanes(), arg_view(task).dim),
        view_(arg_view(task)) {}

  Features features(const Schedule& schedule) const override {
    Features features = NestPlan::features(schedule);
    features.emplace_back("positions", static_cast<double>(view_.dim));
    return features;
  }

  double estimate_ns(const Schedule&) const override {
    constexpr double kOperations = 6,
                     kEfficiency = 0.2;  // each comparison waits for the one before
    const double operations = kOperations * static_cast<double>(element_count(task().in(0).shape));
    return launch_ns(soc()) + std::max(compute_ns(soc(), operations, kEfficiency),
                                       memory_ns(soc(), bytes_moved(task())));
  }

  Kernel build(const Schedule& schedule) const override {
    std::vector<PackedConstant> constants;
    if (compares_lanes()) constants.push_back(packed(lane_numbers(soc().vector_lanes())));
    Builder builder("arg_max");
    const KernelBuffers buffers = declare_buffers(builder, task(), constants.size(), false);
    const loopnest::Buffer x = *buffers.inputs[0];
    emit(builder, tiling(schedule), [&](const NestPosition& at) {
      const Vec found = compares_lanes()
                            ? along(builder, x, at.offsets[1],
                                    builder.load(buffers.constants[0], 0, soc().vector_lanes()))
                        : runs_along(view_) ? short_rows(builder, x, at)
                                            : across(builder, x, at.offsets[1], at.active);
      builder.store(buffers.outputs[0], at.offsets[0], found, at.active);
    });
    return jit_kernel(builder.finish(), std::move(constants));
  }

 private:
  bool compares_lanes() const {
    return runs_along(view_) && !has_short_rows(view_, soc().vector_lanes());
  }

  NestTiling tiling(const Schedule& schedule) const override {
    const NestTiling tiling = NestPlan::tiling(schedule);
    return compares_lanes() ? NestTiling{.lanes = 1, .row_block = tiling.row_block} : tiling;
  }

  static std::vector<float> lane_numbers(int lanes) {
    std::vector<float> numbers;
    for (int i = 0; i < lanes; ++i) numbers.push_back(static_cast<float>(i));
    return numbers;
  }

  Vec across(Builder& builder, loopnest::Buffer x, Int base, std::optional<Int> active) const {
    const int lanes = soc().vector_lanes();
    Search search(builder, task(), lanes);
    search.start(builder.load_as(search.type(), x, base, lanes, active), splat(0, lanes));
    builder.loop("k", 1, view_.dim, 1, [&](Int k) {
      search.step(builder.load_as(search.type(), x, base + k * view_.inner, lanes, active),
                  broadcast(to_float(k), lanes));
    });
    return search.position();
  }

  /// A row in each lane.
  Vec short_rows(Builder& builder, loopnest::Buffer x, const NestPosition& at) const {
    const int lanes = soc().vector_lanes();
    const std::int64_t rows = at.active ? at.active->constant().value() : lanes;
    Search search(builder, task(), lanes);
    for (std::int64_t first = 0; first < view_.dim; first += lanes) {
      const std::int64_t count = std::min<std::int64_t>(lanes, view_.dim - first);
      const std::optional<Int> active = count < lanes ? std::optional(Int(count)) : std::nullopt;
      std::vector<Vec> block;
      for (std::int64_t r = 0; r < rows; ++r)
        block.push_back(builder.get(builder.local(builder.load_as(
            search.type(), x, at.offsets[1] + (r * view_.dim + first), lanes, active))));
      block.resize(static_cast<std::size_t>(lanes), block.back());
      for (std::int64_t k = 0; k < count; ++k) {
        const Vec column = builder.get(builder.local(transpose_row(block, static_cast<int>(k))));
        const Vec position = splat(static_cast<float>(first + k), lanes);
        first + k == 0 ? search.start(column, position) : search.step(column, position);
      }
    }
    return search.position();
  }

  Vec along(Builder& builder, loopnest::Buffer x, Int base, Vec lane_numbers) const {
    const std::int64_t dim = view_.dim, lanes = lane_numbers.lanes();
    Search search(builder, task(), static_cast<int>(lanes));
    const Vec lane = builder.get(builder.local(lane_numbers));
    const auto load = [&](Int i) {
      const Int active = Int(dim) - i;
      const Vec row = builder.load_as(search.type(), x, base + i, static_cast<int>(lanes), active);
      return select(active_lanes(active, static_cast<int>(lanes)), row, search.worst());
    };
    // Lanes behind the row's end stand at its end: the worst value may be there as well.
    search.start(load(0), min(lane, splat(static_cast<float>(std::min(dim, lanes) - 1),
                                          static_cast<int>(lanes))));
    builder.loop("k", lanes, dim, lanes, [&](Int k) {
      const Vec end = splat(static_cast<float>(dim - 1), static_cast<int>(lanes));
      search.step(load(k), min(lane + broadcast(to_float(k), static_cast<int>(lanes)), end));
    });
    return search.best_of_lanes(dim);
  }

  reference::AxisView view_;
};

class ArgMax final : public ImplBy<ArgMaxPlan> {
 public:
  std::string_view name() const override { return "arg_max"; }
  int version() const override { return 2; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (task.op.type != "ArgMaxV2" && task.op.type != "ArgMin")
      return Unexpected("does not compute " + task.op.type);
    if (const auto lanes = ordered_lanes_of(task.in(0).dtype); !lanes)
      return Unexpected(lanes.error());
    if (arg_view(task).dim > kMostPositions)
      return Unexpected(std::to_string(arg_view(task).dim) + " positions, at most " +
                        std::to_string(kMostPositions));
    return {};
  }
};

}  // namespace

void register_arg_max(ImplRegistry& registry) {
  registry.add(std::make_unique<ArgMax>());
}

}  // namespace aoe::compiler
