// Parts of tensors: where their slices lie in one piece, bodies read and write them there; elsewhere they are copied.
#include "runtime/slice_map.h"

#include <algorithm>

#include "base/error.h"
#include "native/scratch.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/broadcast.h"
#include "reference/tensors/strided.h"
#include "runtime/om/om_bodies.h"
#include "runtime/slice_parts.h"

namespace aoe::runtime {
namespace {

using reference::kWhole;

constexpr std::int64_t kMostDims = 64;  // more than any tensor of a model has

bool is_axis_of(std::int64_t axis, const TensorDesc& desc) {
  return axis >= 0 && axis < std::ssize(desc.shape);
}

std::size_t at(std::int64_t axis) {
  return static_cast<std::size_t>(axis);
}

/// The first of the `dims` sliced axes that are there.
std::int64_t first_axis(std::int64_t last, std::int64_t dims) {
  return std::max<std::int64_t>(0, last - dims + 1);
}

/// Places along the sliced axes: their product is how many slices there are.
Shape places_of(const Shape& shape, std::int64_t last, std::int64_t dims) {
  return {shape.begin() + first_axis(last, dims), shape.begin() + last + 1};
}

/// How an output of `shape` is, a part's, with all places along the sliced axes.
Shape with_places(Shape shape, std::int64_t last, const Shape& places) {
  std::ranges::copy(places, shape.begin() + last + 1 - std::ssize(places));
  return shape;
}

/// A tensor of slices, all sliced axes being one.
reference::AxisView view_slices(const Shape& shape, std::int64_t last, std::int64_t dims) {
  const auto first = at(first_axis(last, dims)), end = at(last) + 1;
  return {reference::dim_product(shape, 0, first), reference::dim_product(shape, first, end),
          reference::dim_product(shape, end, shape.size())};
}

}  // namespace

std::string SliceMap::fault(const Om& om, const OmStep& step) {
  const auto axes = step.call.attrs.get_ints("axes"),
             output_axes = step.call.attrs.get_ints("output_axes");
  const std::int64_t dims = step.call.attrs.get_int("dims", 1);
  if (!body_count(step)) return "lacks its bodies";
  if (dims < 1 || dims > kMostDims) return "is sliced along no such number of axes";
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
    if (step.outputs[i] >= 0 && (!is_axis_of(output_axes[i], om.tensors[step.outputs[i]].desc) ||
                                 output_axes[i] < dims - 1))
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
      output_axes_(step_.call.attrs.get_ints("output_axes")),
      dims_(step_.call.attrs.get_int("dims", 1)),
      is_in_place_(step_.call.attrs.get_int("in_place", 0) != 0),
      part_cost_(step_.call.attrs.get_float("part_cost", 4)),
      piece_costs_{.piece = step_.call.attrs.get_float("piece_cost", 0),
                   .share = step_.call.attrs.get_float("share_cost", 0),
                   .longest_piece = step_.call.attrs.get_int("longest_piece", 0)},
      threads_(context.threads) {
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
  for (Part& part : parts_) {
    lengths_.push_back(part.slices);
    const Executor& body = *part.executor;
    for (std::size_t i = 0; i < body.input_count(); ++i) part.given.push_back({body.input(i).desc});
    for (std::size_t i = 0; i < body.output_count(); ++i)
      part.made.push_back({body.output(i).desc});
  }
  look_for_whole_parts(context);
}

/// Threads of libraries' teams do not take them.
void SliceMap::look_for_whole_parts(const LoadContext& context) {
  if (context.team == ThreadTeam::kOpenMp && threads_ > 1) return;
  std::vector<const Executor*> bodies;
  for (const Part& part : parts_) bodies.push_back(part.executor.get());
  whole_parts_ = WholeParts::of(bodies, lengths_, piece_costs_.longest_piece, threads_);
}

/// They are graphs of static shapes that read and make what the step does, but for the number of slices, which is one for all of a
/// body and stands in the last of the sliced axes.
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
        if (view_slices(own.shape, axis, dims_).dim != slices || own.shape[at(axis)] != slices)
          damaged();
      }
      if (id < 0) return;
      const TensorDesc& outer = om.tensors[id].desc;
      if (outer.dtype != own.dtype || outer.shape.size() != own.shape.size()) damaged();
      for (std::size_t d = 0; d < own.shape.size(); ++d)
        if ((axis == kWhole || std::int64_t(d) > axis ||
             std::int64_t(d) < first_axis(axis, dims_)) &&
            outer.shape[d] != own.shape[d])
          damaged();
    };
    for (std::size_t i = 0; i < body.input_count(); ++i)
      check(body.input(i).desc, axes_[i], step_.inputs[i]);
    for (std::size_t i = 0; i < body.output_count(); ++i)
      if (output_axes_[i] < dims_ - 1)
        damaged();
      else
        check(body.output(i).desc, output_axes_[i],
              i < step_.outputs.size() ? step_.outputs[i] : -1);
  }
}

SliceMap::~SliceMap() = default;

void SliceMap::refuse(const std::string& why) const {
  throw Error(ExitCode::kFailure, why, "op '" + step_.name + "' (" + step_.call.type + ")");
}

/// As the inputs have them, stretched to each other.
Shape SliceMap::count_places() const {
  Shape places(at(dims_), 1);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i] == kWhole) continue;
    const Shape own = places_of(tensors_.view(step_.inputs[i]).desc.shape, axes_[i], dims_);
    for (std::size_t d = 0; d < own.size(); ++d) {
      std::int64_t& place = places[places.size() - own.size() + d];
      if (own[d] != place && own[d] != 1 && place != 1)
        refuse("it reads " + std::to_string(place) + " and " + std::to_string(own[d]) + " slices");
      if (own[d] != 1) place = own[d];
    }
  }
  return places;
}

SliceBorder SliceMap::border(int id, const TensorDesc& part, std::int64_t axis, const Shape& shape,
                             std::int64_t slices) const {
  SliceBorder made{.id = id, .part = part, .axis = axis};
  if (axis == kWhole) return made;
  made.view = view_slices(shape, axis, dims_);
  made.bytes = at(made.view.inner) * size_bytes(part.dtype);
  made.slices = part.shape[at(axis)];
  made.is_apart = made.view.outer != 1 || slices < made.slices;
  return made;
}

void SliceMap::set_borders(Part& part, const Shape& places) const {
  const std::int64_t slices = element_count(places);
  part.reads.clear();
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const int id = step_.inputs[i];
    const Shape& shape = tensors_.view(id).desc.shape;
    SliceBorder& read =
        part.reads.emplace_back(border(id, part.given[i].desc, axes_[i], shape, slices));
    if (axes_[i] == kWhole) continue;
    const Shape own = places_of(shape, axes_[i], dims_);
    if (element_count(own) == slices) continue;
    read.is_apart = true;
    read.strides = reference::broadcast_strides(own, places);
    read.places = places;
    reference::collapse(read.places, {&read.strides, 1});  // runs are as long as can be
  }
  part.makes.clear();
  for (std::size_t i = 0; i < part.made.size(); ++i) {
    const TensorDesc& desc = part.made[i].desc;
    const int id = i < step_.outputs.size() ? step_.outputs[i] : -1;
    SliceBorder& make = part.makes.emplace_back(border(
        id, desc, output_axes_[i], with_places(desc.shape, output_axes_[i], places), slices));
    make.is_apart |= id < 0;
  }
}

/// Before the first part: others would lose what those before them have written.
void SliceMap::prepare_outputs(const Shape& places) const {
  for (std::size_t i = 0; i < step_.outputs.size(); ++i) {
    const int id = step_.outputs[i];
    if (id < 0) continue;
    TensorDesc desc = parts_.front().made[i].desc;
    desc.shape = with_places(desc.shape, output_axes_[i], places);
    if (tensors_.is_dynamic(id)) tensors_.allocate(id, desc);
    const TensorDesc whole = tensors_.view(id).desc;
    if (places_of(whole.shape, output_axes_[i], dims_) != places)
      refuse("it makes " + to_string(places) + " slices, the model says " + to_string(whole));
  }
}

/// The same as in the last run, wherever they lie in this.
void SliceMap::place_outputs() const {
  for (const int id : step_.outputs)
    if (id >= 0 && tensors_.is_dynamic(id)) tensors_.allocate(id, tensors_.view(id).desc);
}

bool SliceMap::are_seen() const {
  if (!is_planned_) return false;
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (axes_[i] != kWhole && tensors_.view(step_.inputs[i]).desc.shape != seen_[i]) return false;
  return true;
}

/// Which parts a run takes, by the shapes of what it reads.
void SliceMap::plan() {
  is_planned_ = false;
  const Shape places = count_places();
  const std::int64_t slices = element_count(places);
  prepare_outputs(places);
  turns_.clear();
  shares_.clear();
  std::int64_t done = 0;
  const SliceParts parts = slice_parts(lengths_, slices, part_cost_, is_in_place_);
  if (slices > 0 && !plan_shares(places, parts.cost))
    for (const SliceTurn& turn : parts.turns) {
      const std::int64_t length = lengths_[turn.length];
      set_borders(parts_[turn.length], places);
      turns_.push_back({.part = turn.length,
                        .count = std::min(length, slices),
                        .begin = done,
                        .times = turn.times});
      done += turn.times * length;
    }
  slices_ = slices;
  seen_.resize(axes_.size());
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (axes_[i] != kWhole) seen_[i] = tensors_.view(step_.inputs[i]).desc.shape;
  is_planned_ = true;
}

/// Whether they take less time than parts that all threads share, which take that of `shared_cost` slices of all threads.
bool SliceMap::plan_shares(const Shape& places, double shared_cost) {
  if (!whole_parts_) return false;
  SliceShares shares = slice_shares(lengths_, element_count(places), threads_, piece_costs_);
  if (shares.shares.empty() || !(threads_ * shares.cost <= shared_cost)) return false;
  shares_ = std::move(shares.shares);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!whole_parts_->has(i)) continue;
    set_borders(parts_[i], places);
    whole_parts_->set_borders(i, {parts_[i].reads, parts_[i].makes});
  }
  return true;
}

void SliceMap::run_shares(TaskClock& clock) {
  whole_parts_->run(shares_, tensors_, owner_.records(clock) ? &clock : nullptr,
                    [&] { owner_.task_done(clock); });
}

/// What each body's tensor is in this turn: all of one that is not sliced, a piece of the whole, or room.
void SliceMap::run_turn(const Turn& turn, TaskClock& clock) {
  Part& part = parts_[turn.part];
  std::vector<native::Scratch> rooms;  // while the turn lasts
  const auto begin_at = [&](const SliceBorder& border, Tensor& tensor) {
    if (border.is_apart)
      tensor.data = rooms.emplace_back(storage_bytes(border.part)).as<void>();
    else if (border.axis == kWhole)
      tensor.data = tensors_.address(border.id);
  };
  for (std::size_t i = 0; i < part.reads.size(); ++i) begin_at(part.reads[i], part.given[i]);
  for (std::size_t i = 0; i < part.makes.size(); ++i) begin_at(part.makes[i], part.made[i]);
  const auto piece = [&](const SliceBorder& border, std::int64_t first) {
    return static_cast<std::byte*>(tensors_.address(border.id)) + at(first) * border.bytes;
  };
  for (std::int64_t n = 0; n < turn.times; ++n) {
    const std::int64_t first = std::min(turn.begin + n * lengths_[turn.part], slices_ - turn.count);
    for (std::size_t i = 0; i < part.reads.size(); ++i) {
      const SliceBorder& read = part.reads[i];
      if (read.is_apart)
        read.read(tensors_.address(read.id), part.given[i].data, first, turn.count);
      else if (read.axis != kWhole)
        part.given[i].data = piece(read, first);
    }
    for (std::size_t i = 0; i < part.makes.size(); ++i)
      if (!part.makes[i].is_apart) part.made[i].data = piece(part.makes[i], first);
    owner_.run_body(*part.executor, part.given, part.made, clock);
    for (std::size_t i = 0; i < part.makes.size(); ++i) {
      const SliceBorder& make = part.makes[i];
      if (make.is_apart && make.id >= 0)
        make.write(part.made[i].data, tensors_.address(make.id), first, turn.count);
    }
  }
}

void SliceMap::run(const TaskRecording& recording) {
  TaskClock clock(recording);
  if (are_seen())
    place_outputs();
  else
    plan();
  if (!shares_.empty())
    run_shares(clock);
  else
    for (const Turn& turn : turns_) run_turn(turn, clock);
  owner_.task_done(clock);
}

}  // namespace aoe::runtime
