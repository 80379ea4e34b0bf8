// copy: generated data movement: Transpose, TransData, ConcatV2, SplitV, Slice, PadV3, Expand, Tile,
// DepthToSpace, SpaceToDepth as copies of strided regions (compiler/copy/copy_regions.h), all in one
// kernel.
#include <algorithm>

#include "compiler/copy/copy_groups.h"
#include "compiler/copy/copy_regions.h"
#include "compiler/emit/broadcast_layout.h"
#include "compiler/emit/element_lanes.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/roofline.h"
#include "compiler/tiling_axes.h"

namespace aoe::compiler {
namespace {

FormatChoice choice_of(const Task& task, const std::string& name, Format in, Format out) {
  FormatChoice choice{.name = name, .inputs = {}, .outputs = {}};
  const std::size_t moved = task.op.type == "ConcatV2" ? task.inputs.size() : 1;
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    choice.inputs.push_back(!task.inputs[i].is_present()            ? Format::kUndefined
                            : i < moved && !task.inputs[i].constant ? in
                                                                    : Format::kND);
  }
  choice.outputs.assign(task.outputs.size(), out);
  return choice;
}

std::vector<FormatChoice> possible_formats(const Task& task) {
  if (task.op.type == "TransData") {
    std::vector<FormatChoice> choices;
    for (const Format in : {Format::kND, Format::kNHWC, Format::kNC1HWC0}) {
      for (const Format out : {Format::kND, Format::kNHWC, Format::kNC1HWC0}) {
        const std::string pair = std::string(name(in)) + "_" + std::string(name(out));
        choices.push_back(choice_of(task, pair, in, out));
      }
    }
    return choices;
  }
  std::vector<FormatChoice> choices = {choice_of(task, "ND", Format::kND, Format::kND)};
  const auto is_image = [](const TensorDesc& desc) { return desc.shape.size() == 4; };
  if (!is_image(task.in(0)) || !is_image(task.out())) return choices;
  choices.push_back(choice_of(task, "NC1HWC0", Format::kNC1HWC0, Format::kNC1HWC0));
  choices.push_back(choice_of(task, "NHWC", Format::kNHWC, Format::kNHWC));
  if (task.op.type == "SpaceToDepth") {
    choices.push_back(choice_of(task, "ND_NC1HWC0", Format::kND, Format::kNC1HWC0));
    choices.push_back(choice_of(task, "ND_NHWC", Format::kND, Format::kNHWC));
  }
  return choices;
}

/// Float32 holds every byte, bool, and number of 16 bits; the others have lanes of their own.
Result<loopnest::Type> moving_lanes(DataType dtype) {
  const bool is_word = is_integer(dtype) && size_bytes(dtype) == 2;
  if (size_bytes(dtype) == 0) return Unexpected("moves no " + std::string(name(dtype)));
  if (size_bytes(dtype) <= 2 && !is_word) return loopnest::Type::kFloat;
  if (dtype == DataType::kFloat || dtype == DataType::kDouble || is_integer(dtype))
    return lanes_of(dtype);
  return Unexpected("moves no " + std::string(name(dtype)));
}

class CopyPlan final : public Plan {
 public:
  CopyPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : Plan(task, format, soc, tilings().schedule_axes()),
        regions_(copy_regions(task, format, soc.vector_lanes()).value()) {}

  Features features(const Schedule& schedule) const override {
    double iterations = 0, transposed = 0;
    for (const CopyGroup& group : groups_by(schedule)) {
      iterations += static_cast<double>(group.parallel_extent());
      for (const CopyNest& nest : group.nests)
        if (nest.is_transposing())
          transposed += static_cast<double>(element_count(nest.region().extents));
    }
    return {{"bytes", bytes_moved(task())},
            {"transposed_elements", transposed},
            {"iterations", iterations},
            {"balance", parallel_balance(soc(), std::max<std::int64_t>(
                                                    1, static_cast<std::int64_t>(iterations)))},
            {"unroll", static_cast<double>(schedule.at("unroll"))}};
  }

  double estimate_ns(const Schedule&) const override {
    const Traffic traffic = stored_traffic(task(), format(), soc());
    return launch_ns(soc()) + copy_ns(soc(), traffic.read_bytes, traffic.written_bytes);
  }

  Kernel build(const Schedule& schedule) const override {
    const std::vector<CopyGroup> groups = groups_by(schedule);
    std::int64_t total = 0;
    for (const CopyGroup& group : groups) total += group.parallel_extent();
    Kernel kernel = kernel_for("jit");
    if (task().op.type == "ConcatV2") {
      for (const TaskInput& part : task().inputs) {
        if (!part.constant) continue;
        kernel.constants.push_back(packed_in_format(part.constant, part.desc.shape,
                                                    format().outputs[0], soc().vector_lanes()));
      }
    }
    Builder builder("copy");
    const std::vector<Elements> types(kernel.constants.size(), task().in(0).dtype);
    KernelBuffers buffers = declare_buffers(builder, task(), types);
    std::size_t constant = 0;
    if (task().op.type == "ConcatV2") {  // the parts of a concatenation that are constant
      for (std::size_t i = 0; i < task().inputs.size(); ++i)
        if (task().inputs[i].constant) buffers.inputs[i] = buffers.constants[constant++];
    }
    builder.parallel(total, [&](Int p) { emit_from(builder, groups, 0, buffers, p); });
    kernel.stages.push_back(builder.finish());
    return kernel;
  }

 private:
  static TilingAxes<CopyTiling> tilings() {
    return {{"block_elements", &CopyTiling::block_elements, {256, 1024, 4096, 16384, 65536}},
            {"unroll", &CopyTiling::unroll, {1, 4}}};
  }

  /// Small enough that every thread gets four blocks, large enough to be worth their starting.
  Schedule search() const override {
    const std::int64_t share =
        element_count(task().out().shape) / (std::int64_t{4} * soc().threads);
    std::int64_t block = 1024;
    while (block * 4 <= std::min<std::int64_t>(share, 16384)) block *= 4;
    return tilings().schedule({.unroll = 4, .block_elements = block});
  }

  std::vector<CopyGroup> groups_by(const Schedule& schedule) const {
    CopyTiling tiling = tilings().tiling(schedule);
    tiling.lanes = soc().vector_lanes();
    tiling.type = moving_lanes(task().in(0).dtype).value();
    return copy_groups(regions_, tiling);
  }

  /// The parallel iterations of all groups stand one behind the other.
  static void emit_from(Builder& builder, const std::vector<CopyGroup>& groups, std::size_t i,
                        const KernelBuffers& buffers, Int p) {
    if (i == groups.size()) return;
    const CopyGroup& group = groups[i];
    const auto emit_this = [&] {
      for (const CopyNest& nest : group.nests) {
        const CopyRegion& region = nest.region();
        nest.emit(builder, buffers.inputs[region.input], buffers.outputs[region.output], p);
      }
    };
    if (i + 1 == groups.size()) return emit_this();
    builder.if_(p < Int(group.parallel_extent()), emit_this,
                [&] { emit_from(builder, groups, i + 1, buffers, p - group.parallel_extent()); });
  }

  std::vector<CopyRegion> regions_;
};

class Copy final : public ImplBy<CopyPlan> {
 public:
  std::string_view name() const override { return "copy"; }
  int version() const override { return 4; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    if (task.inputs.empty()) return Unexpected("no input");
    if (const auto lanes = moving_lanes(task.in(0).dtype); !lanes) return Unexpected(lanes.error());
    if (task.in(0).dtype != DataType::kFloat && task.op.type == "PadV3")
      return Unexpected("pads float32 only");
    for (const TensorDesc& output : task.outputs)
      if (output.dtype != task.in(0).dtype)
        return Unexpected(to_string(task.in(0)) + " to " + to_string(output));
    if (task.op.type == "TransData" && task.in(0).shape.size() < 2) {
      return Unexpected("TransData of " + aoe::to_string(task.in(0).shape));
    }
    const auto regions =
        copy_regions(task, choice_of(task, "ND", Format::kND, Format::kND), soc.vector_lanes());
    return regions ? Result<void>() : Unexpected(regions.error());
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc& soc) const override {
    std::vector<FormatChoice> choices = possible_formats(task);
    std::erase_if(choices, [&](const FormatChoice& choice) {
      return !copy_regions(task, choice, soc.vector_lanes()).has_value();
    });
    return choices;
  }
};

}  // namespace

void register_copy(ImplRegistry& registry) {
  registry.add(std::make_unique<Copy>());
}

}  // namespace aoe::compiler
