// elementwise: generated elementwise operators and chains of them, of all types that their formulas have on vectors, with
// broadcasting, in one pass over memory.
#include <algorithm>

#include "base/check.h"
#include "compiler/broadcast_layout.h"
#include "compiler/epilogue.h"
#include "compiler/kernel_buffers.h"
#include "compiler/roofline.h"
#include "compiler/strided_nest.h"

namespace aoe::compiler {
namespace {

using loopnest::Builder;
using loopnest::Int;
using loopnest::Type;
using loopnest::Vec;

/// A single elementwise op as a FusedElementwise of one step, so that there is one way to emit
/// both.
Task as_fused(const Task& task) {
  if (task.op.type == "FusedElementwise") return task;
  Task fused = task;
  reference::EpilogueStep step{
      .type = task.op.type, .version = task.op.version, .attrs = task.op.attrs, .operands = {}};
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    step.operands.push_back({reference::Operand::Kind::kInput, static_cast<int>(i)});
  }
  fused.op = {.type = "FusedElementwise", .epilogue = {std::move(step)}};
  return fused;
}

bool is_read(const TaskInput& input) {
  return input.is_present() && !scalar_constant(input);
}

/// What the nest walks: the output first, then every input that is read from memory.
struct Plan {
  StridedNest nest;
  std::vector<std::size_t> inputs;  ///< task input of operand i + 1
  /// Lanes beyond C must be kept zero. Then dimension c1_dimension counts blocks of channels, and
  /// the last one is C0.
  bool masks_padding = false;
  std::size_t c1_dimension = 0;
};

Format stored_format(const TaskInput& input, const Shape& output, Format main, Format chosen) {
  if (!input.constant) return chosen;
  const bool has_channels = output.size() == 4 && main != Format::kND &&
                            aligned_shape(input.desc.shape, 4)[1] == output[1];
  return has_channels ? main : Format::kND;
}

Plan plan_of(const Task& task, const FormatChoice& format, const Soc& soc) {
  const Shape& output = task.out().shape;
  const Format main = format.outputs[0];
  const int c0 = soc.vector_lanes;
  Plan plan;
  plan.nest.extents = iteration_extents(output, main, c0);
  plan.nest.strides.push_back(operand_strides(output, main, output, main, c0));
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    if (!is_read(task.inputs[i])) continue;
    plan.inputs.push_back(i);
    plan.nest.strides.push_back(operand_strides(
        task.in(i).shape, stored_format(task.inputs[i], output, main, format.inputs[i]), output,
        main, c0));
  }
  plan.masks_padding = main == Format::kNC1HWC0 && output[1] % c0 != 0;
  if (plan.masks_padding) {
    StridedNest& nest = plan.nest;  // N, C1, H, W, C0: only H and W may merge
    const bool merges = std::all_of(nest.strides.begin(), nest.strides.end(),
                                    [&](const Shape& s) { return s[2] == s[3] * nest.extents[3]; });
    if (merges) {
      nest.extents[3] *= nest.extents[2];
      nest.extents.erase(nest.extents.begin() + 2);
      for (Shape& s : nest.strides) s.erase(s.begin() + 2);
    }
    plan.c1_dimension = 1;
  } else {
    plan.nest.collapse();
  }
  return plan;
}

class Elementwise final : public Impl {
 public:
  std::string_view name() const override { return "elementwise"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    const reference::OpDef* def = reference::ops().find(task.op.type);
    const bool is_fused = task.op.type == "FusedElementwise";
    if (!is_fused && (def == nullptr || !def->formula || !task.op.epilogue.empty())) {
      return Unexpected(task.op.type + " is not elementwise");
    }
    if (!task.is_static()) return Unexpected("shapes are not static");
    if (task.outputs.size() != 1) {
      return Unexpected(std::to_string(task.outputs.size()) + " outputs, needs 1");
    }
    return supports_epilogue(as_fused(task));
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    std::vector<FormatChoice> choices = {choice(task, "ND", Format::kND)};
    const Shape& output = task.out().shape;
    const bool has_image_inputs =
        output.size() == 4 && element_count(output) > 0 && has_image_types(task) &&
        std::all_of(task.inputs.begin(), task.inputs.end(), [&](const TaskInput& input) {
          return !is_read(input) || input.constant || fits_blocks(input.desc.shape, output);
        });
    if (!has_image_inputs) return choices;
    choices.push_back(choice(task, "NC1HWC0", Format::kNC1HWC0));
    choices.push_back(choice(task, "NHWC", Format::kNHWC));
    return choices;
  }

  ScheduleSpace space(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    return nest_space(plan_of(task, format, soc).nest, soc);
  }

  Features features(const Task& task, const FormatChoice& format, const Schedule& schedule,
                    const Soc& soc) const override {
    Features features =
        nest_features(plan_of(task, format, soc).nest, nest_tiling(schedule, soc), soc);
    features.emplace_back("bytes", bytes_moved(task));
    features.emplace_back("steps", static_cast<double>(as_fused(task).op.epilogue.size()));
    return features;
  }

  double estimate_ns(const Task& task, const FormatChoice&, const Soc& soc) const override {
    constexpr double kFlopsPerStep = 8, kEfficiency = 0.5;
    const double steps = static_cast<double>(as_fused(task).op.epilogue.size());
    const double flops =
        steps * kFlopsPerStep * static_cast<double>(element_count(task.out().shape));
    return launch_ns(soc) +
           std::max(compute_ns(soc, flops, kEfficiency), memory_ns(soc, bytes_moved(task)));
  }

  Kernel build(const Task& task, const FormatChoice& format, const Schedule& schedule,
               const Soc& soc) const override {
    const Task fused = as_fused(task);
    const Plan plan = plan_of(task, format, soc);
    const NestTiling tiling = nest_tiling(schedule, soc);
    Kernel kernel{.kind = KernelKind::kJit};
    std::vector<std::size_t> constant_of(task.inputs.size());
    std::vector<DataType> constant_types;
    for (const std::size_t i : plan.inputs) {
      if (!task.inputs[i].constant) continue;
      constant_of[i] = kernel.constants.size();
      const Format stored =
          stored_format(task.inputs[i], task.out().shape, format.outputs[0], Format::kND);
      const Shape& shape = task.in(i).shape;
      constant_types.push_back(task.in(i).dtype);
      kernel.constants.push_back(packed_in_format(
          task.inputs[i].constant, stored == Format::kND ? shape : aligned_shape(shape, 4), stored,
          soc.vector_lanes));
    }
    Builder builder("elementwise");
    const KernelBuffers buffers = declare_buffers(builder, task, constant_types);
    builder.parallel(parallel_extent(plan.nest, tiling), [&](Int p) {
      emit_nest(builder, plan.nest, tiling, p, [&](const NestPosition& at) {
        Vec value = emit_elementwise(builder, fused, tiling.lanes, [&](int input, Type type) {
          const auto i = static_cast<std::size_t>(input);
          const auto operand = static_cast<std::size_t>(
              std::find(plan.inputs.begin(), plan.inputs.end(), i) - plan.inputs.begin() + 1);
          const loopnest::Buffer buffer = task.inputs[i].constant
                                              ? buffers.constants[constant_of[i]]
                                              : buffers.inputs[i].value();
          const std::int64_t stride = plan.nest.strides[operand].back();
          // A broadcast element is there even if only some lanes are.
          const std::optional<Int> active = stride == 0 ? std::nullopt : at.active;
          if (type != Type::kFloat)
            return builder.load_integers(type, buffer, at.offsets[operand], tiling.lanes, active,
                                         stride);
          return builder.load(buffer, at.offsets[operand], tiling.lanes, active, stride);
        });
        if (plan.masks_padding) {
          const Int channels =
              Int(task.out().shape[1]) - at.coordinates[plan.c1_dimension] * tiling.lanes;
          const Vec zero = value.type() == Type::kFloat
                               ? loopnest::splat(0.0f, tiling.lanes)
                               : loopnest::int_splat(0, tiling.lanes, value.type());
          value = select(active_lanes(channels, tiling.lanes), value, zero);
        }
        builder.store(buffers.outputs[0], at.offsets[0], value, at.active);
      });
    });
    kernel.stages.push_back(builder.finish());
    return kernel;
  }

 private:
  /// Can a non-constant operand be read in image Formats? Its channels are all there (then it lies
  /// like the output) or one.
  static bool fits_blocks(const Shape& operand, const Shape& output) {
    const Shape shape = aligned_shape(operand, 4);
    return shape[1] == 1 || (operand.size() == 4 && shape[1] == output[1]);
  }

  /// Those of images, float32 and bytes: conversions between their Formats are fast, of others they may not be.
  static bool has_image_types(const Task& task) {
    const auto is_of_images = [](const TaskInput& input) {
      return !input.is_present() || is_epilogue_type(input.desc.dtype, EpilogueTypes::kBytes);
    };
    return is_epilogue_type(task.out().dtype, EpilogueTypes::kBytes) &&
           std::ranges::all_of(task.inputs, is_of_images);
  }

  static FormatChoice choice(const Task& task, const std::string& name, Format main) {
    FormatChoice choice{.name = name, .inputs = {}, .outputs = {main}};
    for (const TaskInput& input : task.inputs) {
      const bool lies_like_output = !input.constant && main != Format::kND &&
                                    input.desc.shape.size() == 4 &&
                                    input.desc.shape[1] == task.out().shape[1];
      choice.inputs.push_back(!input.is_present() ? Format::kUndefined
                              : lies_like_output  ? main
                                                  : Format::kND);
    }
    return choice;
  }
};

}  // namespace

void register_elementwise(ImplRegistry& registry) {
  registry.add(std::make_unique<Elementwise>());
}

}  // namespace aoe::compiler
