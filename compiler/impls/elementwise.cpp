// elementwise: generated elementwise operators and chains of them, of all types that their formulas have on vectors, with
// broadcasting, in one pass over memory.
#include <algorithm>

#include "base/check.h"
#include "compiler/emit/broadcast_layout.h"
#include "compiler/emit/epilogue.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/emit/narrow_lanes.h"
#include "compiler/emit/strided_nest.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

bool is_read(const TaskInput& input) {
  return input.is_present() && !scalar_constant(input);
}

/// What the nest walks: the output first, then every input that is read from memory.
struct Walk {
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

Walk walk_of(const Task& task, const FormatChoice& format, const Soc& soc) {
  const Shape& output = task.out().shape;
  const Format main = format.outputs[0];
  const int c0 = soc.vector_lanes();
  Walk walk;
  walk.nest.extents = iteration_extents(output, main, c0);
  walk.nest.strides.push_back(operand_strides(output, main, output, main, c0));
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    if (!is_read(task.inputs[i])) continue;
    walk.inputs.push_back(i);
    walk.nest.strides.push_back(operand_strides(
        task.in(i).shape, stored_format(task.inputs[i], output, main, format.inputs[i]), output,
        main, c0));
  }
  walk.masks_padding = main == Format::kNC1HWC0 && output[1] % c0 != 0;
  if (walk.masks_padding) {
    StridedNest& nest = walk.nest;  // N, C1, H, W, C0: only H and W may merge
    const bool merges = std::all_of(nest.strides.begin(), nest.strides.end(),
                                    [&](const Shape& s) { return s[2] == s[3] * nest.extents[3]; });
    if (merges) {
      nest.extents[3] *= nest.extents[2];
      nest.extents.erase(nest.extents.begin() + 2);
      for (Shape& s : nest.strides) s.erase(s.begin() + 2);
    }
    walk.c1_dimension = 1;
  } else {
    walk.nest.collapse();
  }
  return walk;
}

class ElementwisePlan final : public NestPlan {
 public:
  ElementwisePlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : ElementwisePlan(task, format, soc, walk_of(task, format, soc)) {}

  Features features(const Schedule& schedule) const override {
    Features features = NestPlan::features(schedule);
    features.emplace_back("steps", steps());
    return features;
  }

  double estimate_ns(const Schedule&) const override {
    constexpr double kFlopsPerStep = 8, kEfficiency = 0.5;
    const double flops =
        steps() * kFlopsPerStep * static_cast<double>(element_count(task().out().shape));
    return launch_ns(soc()) +
           std::max(compute_ns(soc(), flops, kEfficiency), memory_ns(soc(), bytes_moved(task())));
  }

  Kernel build(const Schedule& schedule) const override {
    std::vector<PackedConstant> constants;
    Builder builder("elementwise");
    const KernelBuffers buffers = declare(builder, constants);
    const NestTiling tiling = this->tiling(schedule);
    emit(builder, tiling, [&](const NestPosition& at) {
      Vec value = emit_elementwise(builder, task(), tiling.lanes, [&](int input, Type type) {
        return load(builder, buffers, static_cast<std::size_t>(input), type, at);
      });
      if (walk_.masks_padding) {
        const Int channels =
            Int(task().out().shape[1]) - at.coordinates[walk_.c1_dimension] * tiling.lanes;
        value = first_lanes(value, channels);
      }
      builder.store(buffers.outputs[0], at.offsets[0], value, at.active);
    });
    return jit_kernel(builder.finish(), std::move(constants));
  }

 private:
  ElementwisePlan(const Task& task, const FormatChoice& format, const Soc& soc, const Walk& walk)
      : NestPlan(task, format, soc, walk.nest, soc.vector_lanes()), walk_(walk) {}

  double steps() const { return static_cast<double>(reference::op_types(task().op).size()); }

  /// Constants that are read stand among the inputs.
  KernelBuffers declare(Builder& builder, std::vector<PackedConstant>& constants) const {
    std::vector<Elements> types;
    std::vector<std::size_t> inputs;
    for (const std::size_t i : walk_.inputs) {
      const TaskInput& input = task().inputs[i];
      if (!input.constant) continue;
      const Format stored =
          stored_format(input, task().out().shape, format().outputs[0], Format::kND);
      const Shape& shape = input.desc.shape;
      constants.push_back(packed_in_format(input.constant,
                                           stored == Format::kND ? shape : aligned_shape(shape, 4),
                                           stored, soc().vector_lanes()));
      types.push_back(input.desc.dtype);
      inputs.push_back(i);
    }
    KernelBuffers buffers = declare_buffers(builder, task(), types);
    for (std::size_t c = 0; c < inputs.size(); ++c)
      buffers.inputs[inputs[c]] = buffers.constants[c];
    return buffers;
  }

  Vec load(Builder& builder, const KernelBuffers& buffers, std::size_t input, Type type,
           const NestPosition& at) const {
    const auto place = std::ranges::find(walk_.inputs, input) - walk_.inputs.begin();
    const auto operand = static_cast<std::size_t>(place + 1);
    const std::int64_t stride = walk_.nest.strides[operand].back();
    // A broadcast element is there even if only some lanes are.
    const std::optional<Int> active = stride == 0 ? std::nullopt : at.active;
    return builder.load_as(type, *buffers.inputs[input], at.offsets[operand], soc().vector_lanes(),
                           active, stride);
  }

  Walk walk_;
};

class Elementwise final : public ImplBy<ElementwisePlan> {
 public:
  std::string_view name() const override { return "elementwise"; }
  int version() const override { return 2; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (!reference::is_elementwise(task.op))
      return Unexpected(task.anchor().type + " is not elementwise");
    if (task.outputs.size() != 1) {
      return Unexpected(std::to_string(task.outputs.size()) + " outputs, needs 1");
    }
    return supports_epilogue(task);
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
