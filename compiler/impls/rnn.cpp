// rnn: generated LSTM, GRU and RNN. All inputs are multiplied with W at once; then directions and parts of the batch walk
// through time side by side, each with its states in L1 and its weights in L2.
// The nest: compiler/rnn/rnn_nest.h. Tested like every Impl by tests/compiler/impls_test.cpp.
#include <algorithm>
#include <limits>

#include "compiler/integer_math.h"
#include "compiler/rnn/rnn_constants.h"
#include "compiler/rnn/rnn_nest.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMaxBodyFmas = 4096;  ///< beyond, code leaves the instruction cache
constexpr std::int64_t kGoodBodyFmas = 64;   ///< enough to hide the loop around it

/// The first stage's axes and features beside those of the second.
std::string of_product(const std::string& name) {
  return "input_" + name;
}

/// The first stage: an ordinary product, with the Schedules of the Impl that makes those.
class InputProduct {
 public:
  InputProduct(const Task& task, const RnnShape& shape, const Soc& soc)
      : task_(rnn_input_product(task, shape)), format_(gemm().formats(task_, soc)[0]), soc_(soc) {}

  static int version() { return gemm().version(); }
  ScheduleSpace space() const { return gemm().space(task_, format_, soc_); }
  double estimate_ns() const { return gemm().estimate_ns(task_, format_, soc_); }
  Features features(const Schedule& schedule) const {
    return gemm().features(task_, format_, part_of(schedule), soc_);
  }
  GemmPlan plan(const Schedule& schedule) const {
    return GemmPlan(matmul_shape(task_).value(), true, soc_.vector_lanes,
                    GemmTiling::from(part_of(schedule)));
  }
  /// The axes of a whole Schedule that are the product's, under its own names.
  static Schedule part_of(const Schedule& schedule) {
    const std::size_t prefix = of_product("").size();
    Schedule part;
    for (const auto& [axis, value] : schedule)
      if (axis.starts_with(of_product(""))) part[axis.substr(prefix)] = value;
    return part;
  }

 private:
  static const Impl& gemm() { return *impls().find("gemm_packed"); }

  Task task_;
  FormatChoice format_;
  const Soc& soc_;
};

bool is_legal(const RnnPlan& plan, const Soc& soc) {
  return plan.registers() <= soc.vector_registers &&
         plan.tiling().batch_tiles <= plan.row_blocks() && plan.body_fmas() <= kMaxBodyFmas;
}

/// Rounds of parallel iterations that one thread after another works off.
double rounds(const RnnPlan& plan, const Soc& soc) {
  return static_cast<double>((plan.parallel_extent() + soc.threads - 1) / soc.threads);
}

Result<void> require_float(const Task& task) {
  for (const std::size_t i : {kRnnX, kRnnInitialHidden, kRnnInitialCell}) {
    if (i >= task.inputs.size() || !task.inputs[i].is_present()) continue;
    if (task.in(i).dtype != DataType::kFloat)
      return Unexpected("input " + std::to_string(i) + " is " + to_string(task.in(i)) +
                        ", needs float32");
  }
  return {};
}

class Rnn final : public Impl {
 public:
  std::string_view name() const override { return "rnn"; }
  /// Other code of the first stage is other code of this Impl, too.
  int version() const override { return 1 + InputProduct::version(); }

  Result<void> supports(const Task& task, const Soc&) const override {
    const Result<RnnShape> shape = rnn_shape(task);
    if (!shape) return Unexpected(shape.error());
    if (!task.op.epilogue.empty()) return Unexpected("takes no epilogue");
    if (task.inputs[kRnnX].constant) return Unexpected("X is constant");
    if (shape->steps * shape->batch * shape->input * shape->hidden == 0)
      return Unexpected("an empty sequence or state");
    return require_float(task);
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    return {rnn_format(task)};
  }

  ScheduleSpace space(const Task& task, const FormatChoice&, const Soc& soc) const override {
    const RnnShape s = rnn_shape(task).value();
    const ScheduleSpace product = InputProduct(task, s, soc).space();
    ScheduleSpace space;
    std::vector<std::int64_t> panels, rows;
    const auto gates = static_cast<std::int64_t>(rnn_phase_gates(s.kind)[0].size());
    for (const std::int64_t vectors : {1, 2, 3, 4, 6, 8})
      if (vectors == 1 || (vectors - 1) * soc.vector_lanes < s.hidden)
        panels.push_back(vectors * gates);
    for (std::int64_t r = 1; r <= std::min<std::int64_t>(s.batch, soc.vector_registers - 2); ++r)
      if (const std::int64_t blocks = (s.batch + r - 1) / r; (s.batch + blocks - 1) / blocks == r)
        rows.push_back(r);
    space.axes = {{"panel_vectors", panels},
                  {"row_block", rows},
                  {"batch_tiles", powers_of_two(std::min<std::int64_t>(64, s.batch))},
                  {"k_unroll", powers_of_two(std::min<std::int64_t>(16, s.hidden))},
                  {"prefetch", {0, 4, 8, 16, 32}},
                  {"zigzag", {0, 1}}};
    space.heuristic = heuristic(s, space, soc).schedule();
    for (const ScheduleAxis& axis : product.axes)
      space.axes.push_back({of_product(axis.name), axis.values});
    for (const auto& [axis, value] : product.heuristic) space.heuristic[of_product(axis)] = value;
    space.is_legal = [s, soc, product](const Schedule& schedule) {
      return is_legal(RnnPlan(s, soc.vector_lanes, RnnTiling::from(schedule)), soc) &&
             product.is_legal(InputProduct::part_of(schedule));
    };
    return space;
  }

  Features features(const Task& task, const FormatChoice&, const Schedule& schedule,
                    const Soc& soc) const override {
    const RnnShape s = rnn_shape(task).value();
    const RnnPlan plan(s, soc.vector_lanes, RnnTiling::from(schedule));
    const RnnTiling& t = plan.tiling();
    Features features = {
        {"flops", flops(task)},
        {"bytes", bytes_moved(task)},
        {"steps", static_cast<double>(s.steps)},
        {"step_cycles", plan.step_cycles()},
        {"rounds", rounds(plan, soc)},
        {"recurrence_per_l2", panel_bytes(plan) / static_cast<double>(soc.l2_bytes)},
        {"registers", static_cast<double>(plan.registers()) / soc.vector_registers},
        {"panel_vectors", static_cast<double>(t.panel_vectors)},
        {"row_block", static_cast<double>(t.row_block)},
        {"body_fmas", static_cast<double>(plan.body_fmas())},
        {"prefetch", static_cast<double>(t.prefetch)},
        {"zigzag", static_cast<double>(t.zigzag)}};
    for (const auto& [name, value] : InputProduct(task, s, soc).features(schedule))
      features.emplace_back(of_product(name), value);
    return features;
  }

  /// The product, then every step waits for the one before and reads the whole recurrence again.
  double estimate_ns(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const RnnShape s = rnn_shape(task).value();
    const RnnPlan plan(s, soc.vector_lanes, RnnTiling::from(space(task, format, soc).heuristic));
    const double vector_flops = 4.0 * soc.vector_lanes * soc.threads;  // of a cycle, two ports
    const double step_ns = std::max(compute_ns(soc, plan.step_cycles() * vector_flops, 1.0),
                                    memory_ns(soc, panel_bytes(plan) * soc.threads));
    return InputProduct(task, s, soc).estimate_ns() + launch_ns(soc) +
           static_cast<double>(s.steps) * rounds(plan, soc) * step_ns;
  }

  Kernel build(const Task& task, const FormatChoice&, const Schedule& schedule,
               const Soc& soc) const override {
    const RnnShape s = rnn_shape(task).value();
    return build_rnn(task, RnnPlan(s, soc.vector_lanes, RnnTiling::from(schedule)),
                     InputProduct(task, s, soc).plan(schedule));
  }

 private:
  /// R of one direction.
  static double panel_bytes(const RnnPlan& plan) {
    return sizeof(float) * static_cast<double>(plan.panel_elements());
  }

  /// As many parts of the batch as there are threads without work; then the register block with the fewest cycles.
  static RnnTiling heuristic(const RnnShape& s, const ScheduleSpace& space, const Soc& soc) {
    RnnTiling best;
    double best_cycles = std::numeric_limits<double>::infinity();
    const auto legal = [&](const RnnTiling& t) {
      return is_legal(RnnPlan(s, soc.vector_lanes, t), soc);
    };
    for (const std::int64_t panel : space.axes[0].values) {
      for (const std::int64_t rows : space.axes[1].values) {
        for (const std::int64_t tiles : space.axes[2].values) {
          const RnnTiling t{.panel_vectors = panel, .row_block = rows, .batch_tiles = tiles};
          const RnnPlan plan(s, soc.vector_lanes, t);
          if (!legal(t)) continue;
          const double cycles = plan.step_cycles() * rounds(plan, soc);
          if (cycles >= best_cycles * 0.999) continue;
          best_cycles = cycles;
          best = t;
        }
      }
    }
    for (const std::int64_t unroll : space.axes[3].values) {
      RnnTiling t = best;
      t.k_unroll = unroll;
      if (t.panel_vectors * t.row_block * unroll <= kGoodBodyFmas && legal(t)) best = t;
    }
    best.zigzag = 1;
    return best;
  }
};

}  // namespace

void register_rnn(ImplRegistry& registry) {
  registry.add(std::make_unique<Rnn>());
}

}  // namespace aoe::compiler
