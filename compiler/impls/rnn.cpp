// rnn: generated LSTM, GRU and RNN. All inputs are multiplied with W at once; then directions and parts of the batch walk
// through time side by side, each with its states in L1 and its weights in L2; or all threads share the units of each step.
// The nest: compiler/rnn/rnn_nest.h. Tested like every Impl by tests/compiler/impls_test.cpp.
#include <algorithm>
#include <bit>

#include "compiler/emit/integer_math.h"
#include "compiler/gemm/gemm_plan.h"
#include "compiler/rnn/rnn_constants.h"
#include "compiler/rnn/rnn_nest.h"

namespace aoe::compiler {
namespace {

Result<void> require_float(const Task& task) {
  for (const std::size_t i : {kRnnX, kRnnInitialHidden, kRnnInitialCell}) {
    if (!task.has_input(i)) continue;
    if (task.in(i).dtype != DataType::kFloat)
      return Unexpected("input " + std::to_string(i) + " is " + to_string(task.in(i)) +
                        ", needs float32");
  }
  return {};
}

class RnnPlan final : public Plan {
 public:
  RnnPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : Plan(task, format, soc, axes_of(task, soc)),
        shape_(rnn_shape(task).value()),
        recurrence_(recurrence_axes(shape_, soc)),
        product_(rnn_input_product(task, shape_), soc) {}

  bool is_legal(const Schedule& schedule) const override {
    const Schedule part = part_of_product(schedule);
    return fits(recurrence_.tiling(schedule)) && product_.is_legal(part) &&
           !product_.cut_by(part).splits_k();  // a stage is one stage
  }

  Features features(const Schedule& schedule) const override {
    const RnnCut cut = cut_by(schedule);
    const RnnTiling& t = cut.tiling();
    Features features = {
        {"flops", flops(task())},
        {"bytes", bytes_moved(task())},
        {"steps", static_cast<double>(shape_.steps)},
        {"step_cycles", cut.step_cycles()},
        {"rounds", rounds(cut)},
        {"recurrence_per_l2", panel_bytes(cut) / static_cast<double>(soc().l2_bytes)},
        {"registers", static_cast<double>(cut.registers()) / soc().vector_registers()},
        {"panel_vectors", static_cast<double>(t.panel_vectors)},
        {"row_block", static_cast<double>(t.row_block)},
        {"body_fmas", static_cast<double>(cut.body_fmas())},
        {"prefetch", static_cast<double>(t.prefetch)},
        {"zigzag", static_cast<double>(t.zigzag)},
        {"unit_parts", static_cast<double>(t.unit_parts)}};
    for (const auto& [name, value] : product_.features(part_of_product(schedule)))
      features.emplace_back(of_product(name), value);
    return features;
  }

  double estimate_ns(const Schedule& schedule) const override {
    return product_.estimate_ns(part_of_product(schedule)) + recurrence_ns(cut_by(schedule));
  }

  Kernel build(const Schedule& schedule) const override {
    return build_rnn(task(), cut_by(schedule), product_.cut_by(part_of_product(schedule)));
  }

 private:
  using T = RnnTiling;

  /// Every step waits for the one before and reads the whole recurrence again.
  double recurrence_ns(const RnnCut& cut) const {
    const double meeting_ns =
        500 + 170 * (soc().threads - 1);  // of threads that are awake: 0.7 us of 2, 3.1 of 16
    const double vector_flops =
        4.0 * soc().vector_lanes() * soc().threads;  // of a cycle, two ports
    const double bytes = panel_bytes(cut) / static_cast<double>(cut.tiling().unit_parts);
    const double step_ns = std::max(compute_ns(soc(), cut.step_cycles() * vector_flops, 1.0),
                                    memory_ns(soc(), bytes * soc().threads));
    const double meetings_ns =
        cut.shares_units() ? 2 * launch_ns(soc()) + static_cast<double>(cut.meetings()) * meeting_ns
                           : 0;
    return launch_ns(soc()) + static_cast<double>(shape_.steps) * rounds(cut) * step_ns +
           meetings_ns;
  }

  static TilingAxes<T> recurrence_axes(const RnnShape& s, const Soc& soc) {
    std::vector<std::int64_t> panels;
    const auto gates = static_cast<std::int64_t>(rnn_phase_gates(s.kind)[0].size());
    for (const std::int64_t vectors : {1, 2, 3, 4, 6, 8})
      if (vectors == 1 || (vectors - 1) * soc.vector_lanes() < s.hidden)
        panels.push_back(vectors * gates);
    return {{"panel_vectors", &T::panel_vectors, panels},
            {"row_block", &T::row_block, least_blocks(s.batch, soc.vector_registers() - 2)},
            {"batch_tiles", &T::batch_tiles, powers_of_two(std::min<std::int64_t>(64, s.batch))},
            {"k_unroll", &T::k_unroll, powers_of_two(std::min<std::int64_t>(16, s.hidden))},
            {"prefetch", &T::prefetch, {0, 4, 8, 16, 32}},
            {"zigzag", &T::zigzag, {0, 1}},
            {"unit_parts", &T::unit_parts, unit_parts(s, soc)}};
  }

  /// Powers of two, and what cuts the threads into equal teams.
  static std::vector<std::int64_t> unit_parts(const RnnShape& s, const Soc& soc) {
    std::vector<std::int64_t> parts;
    const std::int64_t most =
        std::min<std::int64_t>(soc.threads, ceil_div(s.hidden, soc.vector_lanes()));
    for (std::int64_t count = 1; count <= most; ++count)
      if (std::has_single_bit(static_cast<std::uint64_t>(count)) || soc.threads % count == 0)
        parts.push_back(count);
    return parts;
  }

  static std::vector<ScheduleAxis> axes_of(const Task& task, const Soc& soc) {
    const RnnShape shape = rnn_shape(task).value();
    std::vector<ScheduleAxis> axes = recurrence_axes(shape, soc).schedule_axes();
    const GemmPlan product(rnn_input_product(task, shape), soc);
    for (const ScheduleAxis& axis : product.axes())
      axes.push_back({of_product(axis.name), axis.values});
    return axes;
  }

  /// The first stage's axes and features beside those of the second.
  static std::string of_product(const std::string& name) { return "input_" + name; }

  /// The axes of a whole Schedule that are the product's, under its own names.
  static Schedule part_of_product(const Schedule& schedule) {
    const std::string prefix = of_product("");
    Schedule part;
    for (const auto& [axis, value] : schedule)
      if (axis.starts_with(prefix)) part[axis.substr(prefix.size())] = value;
    return part;
  }

  RnnCut cut(const T& tiling) const { return RnnCut(shape_, soc().vector_lanes(), tiling); }
  RnnCut cut_by(const Schedule& schedule) const { return cut(recurrence_.tiling(schedule)); }

  bool fits(const T& tiling) const {
    constexpr std::int64_t kMaxBodyFmas = 4096;  // beyond, code leaves the instruction cache
    const RnnCut each = cut(tiling);
    return each.registers() <= soc().vector_registers() &&
           tiling.batch_tiles <= each.row_blocks() && each.body_fmas() <= kMaxBodyFmas &&
           std::ranges::all_of(each.phases(), [&](const RnnPhase& phase) {
             return tiling.unit_parts <= each.panels(phase);
           });
  }

  /// Rounds of parallel iterations that one thread after another works off.
  double rounds(const RnnCut& cut) const {
    return static_cast<double>(ceil_div(cut.parallel_extent(), soc().threads));
  }

  /// R of one direction.
  static double panel_bytes(const RnnCut& cut) {
    return sizeof(float) * static_cast<double>(cut.panel_elements());
  }

  Schedule search() const override {
    Schedule schedule = recurrence_.schedule(best());
    for (const auto& [axis, value] : product_.heuristic()) schedule[of_product(axis)] = value;
    return schedule;
  }

  /// The register block with the fewest cycles, in as many parts of the batch as there are threads without work.
  T fewest_cycles(const T& start) const {
    return cheapest(recurrence_.all(start, {&T::panel_vectors, &T::row_block, &T::batch_tiles}),
                    [&](const T& t) {
                      const RnnCut each = cut(t);
                      return fits(t) ? each.step_cycles() * rounds(each) : kNoChoice;
                    });
  }

  /// Whether threads share units, then the register block.
  T best() const {
    constexpr std::int64_t kGoodStepFmas = 64;  // enough to hide the loop around it
    std::vector<T> candidates;
    for (const T& start : recurrence_.all({}, {&T::unit_parts}))
      candidates.push_back(fewest_cycles(start));
    T best = cheapest(candidates, [&](const T& t) { return recurrence_ns(cut(t)); });
    best = recurrence_.with_last(best, &T::k_unroll, [&](const T& t) {
      return t.panel_vectors * t.row_block * t.k_unroll <= kGoodStepFmas && fits(t);
    });
    best.zigzag = 1;
    return best;
  }

  RnnShape shape_;
  TilingAxes<T> recurrence_;
  GemmPlan product_;  ///< the first stage, an ordinary product
};

class Rnn final : public ImplBy<RnnPlan> {
 public:
  std::string_view name() const override { return "rnn"; }
  int version() const override { return version_with(4, {{"gemm_packed", 2}}); }

  Result<void> supports(const Task& task, const Soc&) const override {
    const Result<RnnShape> shape = rnn_shape(task);
    if (!shape) return Unexpected(shape.error());
    if (task.inputs[kRnnX].constant) return Unexpected("X is constant");
    if (shape->steps * shape->batch * shape->input * shape->hidden == 0)
      return Unexpected("an empty sequence or state");
    return require_float(task);
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    return {rnn_format(task)};
  }
};

}  // namespace

void register_rnn(ImplRegistry& registry) {
  registry.add(std::make_unique<Rnn>());
}

}  // namespace aoe::compiler
