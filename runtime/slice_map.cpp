// Parts of tensors: where their slices lie in one piece, bodies read and write them there; elsewhere they are copied.
#include "runtime/slice_map.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "reference/axes.h"
#include "reference/slicing.h"
#include "runtime/om_bodies.h"

namespace aoe::runtime {
namespace {

using reference::kWhole;

bool is_axis_of(std::int64_t axis, const TensorDesc& desc) {
  return axis >= 0 && axis < std::ssize(desc.shape);
}

std::size_t at(std::int64_t axis) {
  return static_cast<std::size_t>(axis);
}

TensorDesc with_slices(TensorDesc desc, std::int64_t axis, std::int64_t slices) {
  desc.shape[at(axis)] = slices;
  return desc;
}

}  // namespace

struct SliceMap::Border {
  Tensor whole;
  Tensor part;  ///< where the body reads or writes; data == nullptr: nobody wants it
  std::int64_t axis = kWhole;
  AlignedMemory memory = {};

  std::int64_t slices() const { return part.desc.shape[at(axis)]; }
  reference::AxisView view() const { return reference::view_axis(whole.desc.shape, at(axis)); }
  std::size_t slice_bytes() const {
    return static_cast<std::size_t>(view().inner) * size_bytes(whole.desc.dtype);
  }

  /// `part` lies inside `whole` where it can, or else in memory of its own.
  void place(std::int64_t first, std::int64_t count) {
    if (axis == kWhole || part.data == nullptr) return;
    if (view().outer == 1 && count == slices()) {
      part.data = whole.as<char>() + static_cast<std::size_t>(first) * slice_bytes();
      return;
    }
    const std::size_t bytes = storage_bytes(part.desc);
    if (memory.size_bytes() < bytes) memory = AlignedMemory(bytes);
    part.data = memory.data();
  }
  bool is_apart() const { return axis != kWhole && part.data == memory.data(); }

  /// Behind the last slice that is there it stands again: what is computed of it harms nobody.
  void read(std::int64_t first, std::int64_t count) const {
    if (!is_apart()) return;
    const std::size_t bytes = slice_bytes();
    for (std::int64_t o = 0; o < view().outer; ++o)
      for (std::int64_t i = 0; i < slices(); ++i)
        std::memcpy(
            part.as<char>() + static_cast<std::size_t>(o * slices() + i) * bytes,
            whole.as<char>() +
                static_cast<std::size_t>(o * view().dim + first + std::min(i, count - 1)) * bytes,
            bytes);
  }
  void write(std::int64_t first, std::int64_t count) const {
    if (!is_apart() || whole.data == nullptr) return;
    const std::size_t bytes = slice_bytes();
    for (std::int64_t o = 0; o < view().outer; ++o)
      std::memcpy(whole.as<char>() + static_cast<std::size_t>(o * view().dim + first) * bytes,
                  part.as<char>() + static_cast<std::size_t>(o * slices()) * bytes,
                  static_cast<std::size_t>(count) * bytes);
  }
};

std::string SliceMap::fault(const Om& om, const OmStep& step) {
  const auto axes = step.call.attrs.get_ints("axes"),
             output_axes = step.call.attrs.get_ints("output_axes");
  if (step.constants.empty()) return "lacks its bodies";
  if (axes.size() != step.inputs.size() || output_axes.size() < step.outputs.size())
    return "has not an axis for each tensor";
  for (const int id : step.constants)
    if (om.tensors[id].place != Place::kWeight) return "has a body that is no constant";
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (step.inputs[i] < 0) return "lacks what its bodies read";
    if (axes[i] != kWhole && !is_axis_of(axes[i], om.tensors[step.inputs[i]].desc))
      return "is sliced along an axis that is not there";
  }
  for (std::size_t i = 0; i < step.outputs.size(); ++i)
    if (step.outputs[i] >= 0 && !is_axis_of(output_axes[i], om.tensors[step.outputs[i]].desc))
      return "makes slices along an axis that is not there";
  if (std::ranges::all_of(axes, [](std::int64_t axis) { return axis == kWhole; }))
    return "is sliced along nothing";
  return {};
}

SliceMap::SliceMap(const LoadContext& context, std::size_t index)
    : step_(context.om.steps[index]),
      tensors_(context.tensors),
      owner_(context, index),
      axes_(step_.call.attrs.get_ints("axes")),
      output_axes_(step_.call.attrs.get_ints("output_axes")) {
  std::vector<Om> bodies = bodies_of(context.om, step_);
  std::size_t most = 0;
  for (const Om& body : bodies) most = std::max(most, body.arena_bytes);
  arena_ = AlignedMemory(most);
  const std::span<std::byte> arena(arena_.at(0), arena_.size_bytes());
  for (Om& body : bodies) parts_.push_back({open_body(context, std::move(body), arena)});
  check_bodies(context.om);
  const auto sliced = std::ranges::find_if(axes_, [](std::int64_t axis) { return axis != kWhole; });
  for (Part& part : parts_)
    part.slices = part.executor->input(at(sliced - axes_.begin())).desc.shape[at(*sliced)];
  std::ranges::sort(parts_, std::ranges::greater(), &Part::slices);
}

/// They are graphs of static shapes that read and make what the step does, but for the number of slices, which is one for all of a
/// body.
void SliceMap::check_bodies(const Om& om) const {
  const auto damaged = [&] {
    throw Error(ExitCode::kOm, "step '" + step_.name + "' has a body with other inputs and outputs",
                om.name, "compile the model again with atc");
  };
  for (const Part& part : parts_) {
    const Executor& body = *part.executor;
    if (body.input_count() != step_.inputs.size() || body.output_count() < step_.outputs.size() ||
        body.output_count() > output_axes_.size())
      damaged();
    std::int64_t slices = kUnknownDim;
    const auto check = [&](const TensorDesc& own, std::int64_t axis, int id) {
      if (!is_static(own.shape)) damaged();
      if (axis != kWhole) {
        if (!is_axis_of(axis, own) || own.shape[at(axis)] < 1) damaged();
        if (slices == kUnknownDim) slices = own.shape[at(axis)];
        if (own.shape[at(axis)] != slices) damaged();
      }
      if (id < 0) return;
      const TensorDesc& outer = om.tensors[id].desc;
      if (outer.dtype != own.dtype || outer.shape.size() != own.shape.size()) damaged();
      for (std::size_t d = 0; d < own.shape.size(); ++d)
        if (std::int64_t(d) != axis && outer.shape[d] != own.shape[d]) damaged();
    };
    for (std::size_t i = 0; i < body.input_count(); ++i)
      check(body.input(i).desc, axes_[i], step_.inputs[i]);
    for (std::size_t i = 0; i < body.output_count(); ++i)
      check(body.output(i).desc, output_axes_[i], i < step_.outputs.size() ? step_.outputs[i] : -1);
  }
}

SliceMap::~SliceMap() = default;

void SliceMap::refuse(const std::string& why) const {
  throw Error(ExitCode::kFailure, why, "op '" + step_.name + "' (" + step_.call.type + ")");
}

std::int64_t SliceMap::count_slices() const {
  std::int64_t slices = kUnknownDim;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i] == kWhole) continue;
    const std::int64_t own = tensors_.view(step_.inputs[i]).desc.shape[at(axes_[i])];
    if (slices != kUnknownDim && own != slices)
      refuse("it reads " + std::to_string(slices) + " and " + std::to_string(own) + " slices");
    slices = own;
  }
  return slices;
}

std::vector<SliceMap::Border> SliceMap::inputs(const Part& part) const {
  std::vector<Border> borders;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Tensor whole = tensors_.view(step_.inputs[i]);
    borders.push_back({whole, {part.executor->input(i).desc, whole.data}, axes_[i]});
  }
  return borders;
}

std::vector<SliceMap::Border> SliceMap::outputs(const Part& part, std::int64_t slices) const {
  std::vector<Border> borders;
  for (std::size_t i = 0; i < part.executor->output_count(); ++i) {
    const TensorDesc& desc = part.executor->output(i).desc;
    const int id = i < step_.outputs.size() ? step_.outputs[i] : -1;
    Border border{
        {with_slices(desc, output_axes_[i], slices), nullptr}, {desc, nullptr}, output_axes_[i]};
    if (id >= 0 && tensors_.is_dynamic(id)) tensors_.allocate(id, border.whole.desc);
    if (id >= 0) border.whole = tensors_.view(id);
    if (border.whole.desc.shape[at(border.axis)] != slices)
      refuse("it makes " + std::to_string(slices) + " slices, the model says " +
             to_string(border.whole.desc));
    if (id < 0) border.memory = AlignedMemory(storage_bytes(desc));
    border.part.data = id < 0 ? border.memory.data() : border.whole.data;
    borders.push_back(std::move(border));
  }
  return borders;
}

/// The longest that is more than half full: shorter ones would take turns, and read their weights each time.
const SliceMap::Part& SliceMap::part_for(std::int64_t slices) const {
  const auto fits = [&](const Part& part) { return part.slices < 2 * slices; };
  const auto found = std::ranges::find_if(parts_, fits);
  return found == parts_.end() ? parts_.back() : *found;
}

void SliceMap::run_part(const Part& part, std::span<Border> inputs, std::span<Border> outputs,
                        std::int64_t first, std::int64_t count, TaskClock& clock) {
  std::vector<Tensor> reads, makes;
  for (Border& input : inputs) {
    input.place(first, count);
    input.read(first, count);
    reads.push_back(input.part);
  }
  for (Border& output : outputs) {
    if (output.whole.data != nullptr) output.place(first, count);
    makes.push_back(output.part);
  }
  owner_.run_body(*part.executor, reads, makes, clock);
  for (const Border& output : outputs) output.write(first, count);
}

void SliceMap::run(const TaskRecording& recording) {
  TaskClock clock(recording);
  const std::int64_t slices = count_slices();
  const Part& part = part_for(slices);
  std::vector<Border> reads = inputs(part), makes = outputs(part, slices);
  for (std::int64_t done = 0; done < slices; done += part.slices) {
    const std::int64_t count = std::min(part.slices, slices);
    run_part(part, reads, makes, std::min(done, slices - count), count, clock);
  }
  owner_.task_done(clock);
}

}  // namespace aoe::runtime
