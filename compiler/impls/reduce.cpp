// reduce: generated reductions over any axes, and global pooling, of real numbers and integers. Lanes run along the innermost
// dimension: across results where it is kept, along one result where it is reduced; short rows are reduced several at once.
#include <algorithm>

#include "base/check.h"
#include "compiler/emit/broadcast_layout.h"
#include "compiler/emit/element_lanes.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/emit/lane_folds.h"
#include "compiler/emit/strided_nest.h"
#include "compiler/plain_task.h"
#include "reference/formula.h"
#include "reference/tensors/reductions.h"

namespace aoe::compiler {
namespace {

/// What is accumulated, and what is made of it at the end.
struct Reduction {
  std::string_view type;
  Vec (*start)(int lanes, Type type);  ///< changes nothing when combined
  Vec (*prepare)(Vec x);               ///< of each element
  Vec (*combine)(Vec sum, Vec x);
  Vec (*combine_lanes)(Vec sum);
  Vec (*finish)(Vec sum, double count);
  bool keeps_zero = true;  ///< zeros give zero: padding lanes stay what they are
  bool is_real = false;  ///< integers are summed up as float64, and rounded toward zero at the end
};

bool is_real(Type type) {
  return type == Type::kFloat || type == Type::kDouble;
}
template <int number>
Vec from(int lanes, Type type) {
  return splat(number, lanes, type);
}
Vec same(Vec x) {
  return x;
}
Vec multiply(Vec a, Vec b) {
  return a * b;
}
/// Halves upon halves; then every lane holds the product, and one of them is left.
Vec multiply_lanes(Vec product) {
  const int lanes = product.lanes();
  for (int step = lanes / 2; step > 0; step /= 2) {
    std::vector<int> from;
    for (int lane = 0; lane < lanes; ++lane) from.push_back((lane + step) % lanes);
    product = product * permute(product, from);
  }
  return loopnest::reduce_add(
      select(loopnest::active_lanes(1, lanes), product, splat(0, lanes, product.type())));
}
Vec magnitude(Vec x) {
  return is_real(x.type()) ? abs(x) : max(x, -x);
}
Vec square(Vec x) {
  return x * x;
}
Vec keep(Vec x, double) {
  return x;
}
Vec mean(Vec x, double count) {
  if (x.type() == Type::kDouble) return x / splat(count, x.lanes(), x.type());
  return x * splat(1.0f / static_cast<float>(count), x.lanes());
}

const Reduction kReductions[] = {
    {"ReduceSum", from<0>, same, loopnest::add, loopnest::reduce_add, keep},
    {"ReduceMean", from<0>, same, loopnest::add, loopnest::reduce_add, mean, true, true},
    {"GlobalAveragePool", from<0>, same, loopnest::add, loopnest::reduce_add, mean, true, true},
    {"ReduceMax", lowest, same, loopnest::max, loopnest::reduce_max, keep},
    {"GlobalMaxPool", lowest, same, loopnest::max, loopnest::reduce_max, keep},
    {"ReduceMin", highest, same, loopnest::min, loopnest::reduce_min, keep},
    {"ReduceProd", from<1>, same, multiply, multiply_lanes, keep},
    {"ReduceL1", from<0>, magnitude, loopnest::add, loopnest::reduce_add, keep},
    {"ReduceSumSquare", from<0>, square, loopnest::add, loopnest::reduce_add, keep},
    {"ReduceL2", from<0>, square, loopnest::add, loopnest::reduce_add,
     [](Vec x, double) { return sqrt(x); }, true, true},
    {"ReduceLogSum", from<0>, same, loopnest::add, loopnest::reduce_add,
     [](Vec x, double) { return log(x); }, false, true},
};

const Reduction* reduction_of(const Task& task) {
  const auto found = std::find_if(std::begin(kReductions), std::end(kReductions),
                                  [&](const Reduction& r) { return r.type == task.op.type; });
  return found == std::end(kReductions) ? nullptr : found;
}

/// It chooses one of the elements.
bool is_ordered(const Reduction& reduction) {
  return reduction.combine != loopnest::add && reduction.combine != multiply;
}

/// What elements are loaded and combined as.
Result<Type> lanes_for(const Reduction& reduction, DataType dtype) {
  if (reduction.is_real && dtype == DataType::kUint64)
    return Unexpected("uint64, which not all float64 convert to");
  if (reduction.is_real && is_integer(dtype)) return Type::kDouble;
  return is_ordered(reduction) ? ordered_lanes_of(dtype) : lanes_of(dtype);
}

/// The reduced axes, or why they are not known.
Result<std::vector<std::size_t>> reduced_axes(const Task& task) {
  const std::size_t rank = task.in(0).shape.size();
  std::vector<std::size_t> axes;
  if (task.op.type.starts_with("Global")) {
    for (std::size_t d = 2; d < rank; ++d) axes.push_back(d);
    return axes;
  }
  if (task.has_input(1) && !task.inputs[1].constant) return Unexpected("axes are not constant");
  const std::vector<bool> reduced =
      *reference::reduced_axes(task.op.type, task.op.version, task.op.attrs, task.tensors());
  for (std::size_t d = 0; d < rank; ++d)
    if (reduced[d]) axes.push_back(d);
  if (axes.empty() && rank > 0) return Unexpected("reduces nothing");
  return axes;
}

struct Dimension {
  std::int64_t extent, stride;
};

struct Rows {
  StridedNest kept;                ///< operand 0: the output, 1: the input
  std::vector<Dimension> reduced;  ///< of the input, innermost last
  bool runs_along_result = false;  ///< lanes belong to one result
  std::int64_t count = 1;          ///< elements behind one result
};

Rows rows_of(const Task& task, const FormatChoice& format, int c0) {
  const Shape& in = task.in(0).shape;
  const Format main = format.inputs[0];
  Shape out = in;
  const auto axes = *reduced_axes(task);
  for (const std::size_t axis : axes) out[axis] = 1;
  StridedNest all{.extents = iteration_extents(in, main, c0),
                  .strides = {operand_strides(out, main, in, main, c0),
                              operand_strides(in, main, in, main, c0)}};
  all.collapse();
  Rows rows{.kept = {.extents = {}, .strides = {{}, {}}}};
  for (std::size_t d = 0; d < all.extents.size(); ++d) {
    const std::int64_t extent = all.extents[d];
    if (all.strides[0][d] == 0 && extent > 1) {
      rows.reduced.push_back({extent, all.strides[1][d]});
      rows.count *= extent;
    } else {
      rows.kept.extents.push_back(extent);
      rows.kept.strides[0].push_back(all.strides[0][d]);
      rows.kept.strides[1].push_back(all.strides[1][d]);
    }
    rows.runs_along_result = all.strides[0][d] == 0 && extent > 1;
  }
  rows.kept.collapse();
  return rows;
}

/// What adding up the lanes of one result would take as long for as reading it.
bool has_short_rows(const Rows& rows, int lanes) {
  constexpr std::int64_t kMostVectors = 4;
  return rows.runs_along_result && rows.reduced.size() == 1 && rows.reduced[0].stride == 1 &&
         rows.kept.strides[0].back() <= 1 && rows.count <= kMostVectors * lanes;
}

/// Sums one result (or one per lane) up in several accumulators.
class Accumulation {
 public:
  Accumulation(Builder& builder, const Rows& rows, const Reduction& reduction, DataType dtype,
               int lanes, std::int64_t accumulators)
      : builder_(builder),
        rows_(rows),
        reduction_(reduction),
        dtype_(dtype),
        type_(lanes_for(reduction, dtype).value()),
        lanes_(lanes) {
    for (std::int64_t i = 0; i < accumulators; ++i) {
      sums_.push_back(builder.local(reduction.start(lanes, type_)));
    }
  }

  Vec run(loopnest::Buffer input, Int base, std::optional<Int> active) {
    walk(0, base, [&](Int row) {
      rows_.runs_along_result ? along(input, row) : across(input, row, active);
    });
    Vec sum = builder_.get(sums_[0]);
    for (std::size_t i = 1; i < sums_.size(); ++i) {
      sum = reduction_.combine(sum, builder_.get(sums_[i]));
    }
    if (rows_.runs_along_result) {
      sum = reduction_.combine_lanes(builder_.get(builder_.local(sum)));
    }
    return finished(sum);
  }

  /// Of short rows, as many as there are lanes, or `active`: a result in each lane.
  Vec run_rows(loopnest::Buffer input, Int base, std::optional<Int> active) {
    const std::int64_t rows = active ? active->constant().value() : lanes_;
    std::vector<Vec> vectors;
    for (std::int64_t r = 0; r < rows; ++r)
      vectors.push_back(short_row(input, base + r * rows_.kept.strides[1].back()));
    return finished(fold_lanes(builder_, std::move(vectors), reduction_.combine));
  }

 private:
  Vec finished(Vec sum) const {
    Vec result = reduction_.finish(sum, static_cast<double>(rows_.count));
    if (!is_integer(dtype_) || !reduction_.is_real) return result;
    const bool is_wide = size_bytes(dtype_) == 8 || dtype_ == DataType::kUint32;
    return convert(result, is_wide ? Type::kInt64 : Type::kInt32);
  }

  Vec short_row(loopnest::Buffer input, Int row) {
    std::optional<Vec> sum;
    for (std::int64_t i = 0; i < rows_.count; i += lanes_) {
      const std::int64_t rest = rows_.count - i;
      const std::optional<Int> active = rest < lanes_ ? std::optional(Int(rest)) : std::nullopt;
      Vec x = prepared(builder_.load_as(type_, input, row + i, lanes_, active));
      if (active) x = select(active_lanes(*active, lanes_), x, reduction_.start(lanes_, type_));
      sum = builder_.get(builder_.local(sum ? reduction_.combine(*sum, x) : x));
    }
    return *sum;
  }

  /// All reduced dimensions but the last.
  void walk(std::size_t d, Int base, const std::function<void(Int)>& row) {
    if (d + 1 >= rows_.reduced.size()) return row(base);
    const Dimension& dimension = rows_.reduced[d];
    builder_.loop("r", 0, dimension.extent, 1,
                  [&](Int i) { walk(d + 1, base + i * dimension.stride, row); });
  }

  Vec prepared(Vec x) {
    const Vec element = builder_.get(builder_.local(x));
    const bool is_its_size =
        reduction_.prepare == magnitude && is_integer(dtype_) && !is_signed(dtype_);
    return is_its_size ? element : reduction_.prepare(element);
  }

  void accumulate(std::size_t sum, Vec x) {
    builder_.assign(sums_[sum], reduction_.combine(builder_.get(sums_[sum]), prepared(x)));
  }

  /// Each lane its own result: the last reduced dimension is a loop.
  void across(loopnest::Buffer input, Int row, std::optional<Int> active) {
    const Dimension last = rows_.reduced.empty() ? Dimension{1, 0} : rows_.reduced.back();
    const std::int64_t stride = rows_.kept.strides[1].back();
    steps(last.extent, 1, [&](Int i, std::size_t sum) {
      accumulate(sum,
                 builder_.load_as(type_, input, row + i * last.stride, lanes_, active, stride));
    });
  }

  /// All lanes one result: the last reduced dimension runs through them.
  void along(loopnest::Buffer input, Int row) {
    const Dimension& last = rows_.reduced.back();
    const std::int64_t full = last.extent / lanes_ * lanes_;
    steps(full, lanes_, [&](Int i, std::size_t sum) {
      accumulate(sum,
                 builder_.load_as(type_, input, row + i * last.stride, lanes_, {}, last.stride));
    });
    if (full == last.extent) return;
    const Int rest = last.extent - full;
    const Vec tail =
        builder_.load_as(type_, input, row + full * last.stride, lanes_, rest, last.stride);
    accumulate(0, select(active_lanes(rest, lanes_), tail, reduction_.start(lanes_, type_)));
  }

  /// [0, extent) in steps, dealt out to the accumulators.
  void steps(std::int64_t extent, std::int64_t step,
             const std::function<void(Int, std::size_t)>& body) {
    const std::int64_t group = step * static_cast<std::int64_t>(sums_.size());
    const std::int64_t grouped = extent / group * group;
    builder_.loop("r", 0, grouped, group, [&](Int i) {
      for (std::size_t k = 0; k < sums_.size(); ++k) {
        body(i + static_cast<std::int64_t>(k) * step, k);
      }
    });
    builder_.loop("r", grouped, extent, step, [&](Int i) { body(i, 0); });
  }

  Builder& builder_;
  const Rows& rows_;
  const Reduction& reduction_;
  DataType dtype_;
  Type type_;
  int lanes_;
  std::vector<Local> sums_;
};

class ReducePlan final : public NestPlan {
 public:
  ReducePlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : ReducePlan(task, format, soc, rows_of(task, format, soc.vector_lanes())) {}

  Features features(const Schedule& schedule) const override {
    Features features = NestPlan::features(schedule);
    features.emplace_back("count", static_cast<double>(rows_.count));
    features.emplace_back("accumulators", static_cast<double>(tiling(schedule).accumulators));
    return features;
  }

  double estimate_ns(const Schedule&) const override { return plain_estimate_ns(task(), soc(), 1); }

  Kernel build(const Schedule& schedule) const override {
    const NestTiling tiling = this->tiling(schedule);
    Builder builder("reduce");
    const KernelBuffers buffers = declare_buffers(builder, task(), 0, false);
    emit(builder, tiling, [&](const NestPosition& at) {
      const bool is_short = has_short_rows(rows_, soc().vector_lanes());
      Accumulation accumulation(builder, rows_, *reduction_of(task()), task().in(0).dtype,
                                soc().vector_lanes(), is_short ? 0 : tiling.accumulators);
      const Vec result = is_short
                             ? accumulation.run_rows(*buffers.inputs[0], at.offsets[1], at.active)
                             : accumulation.run(*buffers.inputs[0], at.offsets[1], at.active);
      builder.store(buffers.outputs[0], at.offsets[0], result, at.active);
    });
    return jit_kernel(builder.finish(), {});
  }

 private:
  ReducePlan(const Task& task, const FormatChoice& format, const Soc& soc, const Rows& rows)
      : NestPlan(task, format, soc, rows.kept,
                 rows.runs_along_result && !has_short_rows(rows, soc.vector_lanes())
                     ? 1
                     : soc.vector_lanes(),
                 rows.count, accumulated()),
        rows_(rows) {}

  Rows rows_;
};

class Reduce final : public ImplBy<ReducePlan> {
 public:
  std::string_view name() const override { return "reduce"; }
  int version() const override { return 2; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (reduction_of(task) == nullptr) return Unexpected("does not compute " + task.op.type);
    if (auto typed = supports_typed(task, {task.op.type}); !typed) return typed;
    if (task.in(0).dtype == DataType::kBool && !is_ordered(*reduction_of(task)))
      return Unexpected("elements are bool");
    if (const auto lanes = lanes_for(*reduction_of(task), task.in(0).dtype); !lanes)
      return Unexpected(lanes.error());
    if (const auto axes = reduced_axes(task); !axes) return Unexpected(axes.error());
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    std::vector<FormatChoice> choices = {plain_format(task, "ND", Format::kND)};
    if (task.in(0).shape.size() != 4 || task.out().shape.size() != 4) return choices;
    if (task.in(0).dtype != DataType::kFloat) return choices;  // conversions of others are slow
    const auto axes = *reduced_axes(task);
    const bool keeps_channels = std::find(axes.begin(), axes.end(), 1u) == axes.end();
    if (keeps_channels && reduction_of(task)->keeps_zero) {
      choices.push_back(plain_format(task, "NC1HWC0", Format::kNC1HWC0));
    }
    choices.push_back(plain_format(task, "NHWC", Format::kNHWC));
    return choices;
  }
};

}  // namespace

void register_reduce(ImplRegistry& registry) {
  registry.add(std::make_unique<Reduce>());
}

}  // namespace aoe::compiler
