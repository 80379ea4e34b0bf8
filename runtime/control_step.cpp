// Running bodies. Values go from trip to trip in memory of their own, for a body may not write where it reads.
#include "runtime/control_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/memory.h"
#include "base/stop_scope.h"
#include "reference/tensors/axes.h"
#include "runtime/executor.h"
#include "runtime/om/om_bodies.h"

namespace aoe::runtime {
namespace {

bool is_one_of(const TensorDesc& desc, DataType dtype) {
  return desc.dtype == dtype && element_count(desc.shape) == 1;
}

std::int64_t attribute_at(const std::vector<std::int64_t>& list, std::size_t i) {
  return i < list.size() ? list[i] : 0;
}

/// An input of a Scan, of which each trip reads a slice.
class Scanned {
 public:
  Scanned(const Tensor& whole, std::int64_t axis, bool is_reversed)
      : whole_(whole), is_reversed_(is_reversed) {
    Shape shape = whole.desc.shape;
    const std::size_t along = reference::normalize_axis(axis, shape.size());
    view_ = reference::view_axis(shape, along);
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(along));
    const TensorDesc desc{.dtype = whole.desc.dtype, .shape = shape};
    memory_ = AlignedMemory(storage_bytes(desc));
    slice_ = {desc, memory_.data()};
  }

  std::int64_t trips() const { return view_.dim; }

  /// Until the next is asked for.
  const Tensor& slice(std::int64_t trip) {
    const std::int64_t place = is_reversed_ ? view_.dim - 1 - trip : trip;
    const std::size_t row = static_cast<std::size_t>(view_.inner) * size_bytes(whole_.desc.dtype);
    for (std::int64_t o = 0; o < view_.outer && row > 0; ++o)
      std::memcpy(memory_.at(static_cast<std::size_t>(o) * row),
                  whole_.as<char>() + static_cast<std::size_t>(o * view_.dim + place) * row, row);
    return slice_;
  }

 private:
  Tensor whole_;
  bool is_reversed_;
  reference::AxisView view_;
  AlignedMemory memory_;
  Tensor slice_;
};

}  // namespace

std::string ControlStep::fault(const Om& om, const OmStep& step) {
  const bool is_if = step.call.type == "If", is_loop = step.call.type == "Loop";
  if (!is_if && !is_loop && step.call.type != "Scan") return "has no bodies to run";
  const std::vector<std::int64_t> counts = step.call.attrs.get_ints("captures");
  const std::size_t wanted = is_if ? 2 : 1;
  if (body_count(step) != wanted || counts.size() != wanted) return "lacks its bodies";
  const auto inputs = std::ssize(step.inputs);
  std::int64_t all = 0;
  for (const std::int64_t count : counts) {
    if (count < 0 || count > inputs) return "counts what its bodies read wrongly";
    all += count;
  }
  if (all > inputs) return "counts what its bodies read wrongly";
  for (const int id : step.constants)
    if (om.tensors[id].place != Place::kWeight) return "has a body that is no constant";
  constexpr std::ptrdiff_t kOptional = 2;  // a loop's count and its condition
  for (auto i = is_loop ? kOptional : 0; i < inputs; ++i)
    if (step.inputs[static_cast<std::size_t>(i)] < 0) return "lacks what its bodies read";
  return {};
}

ControlStep::ControlStep(const LoadContext& context, std::size_t index)
    : step_(context.om.steps[index]),
      tensors_(context.tensors),
      owner_(context, index),
      longest_s_(context.longest_loop_s) {
  const Om& om = context.om;
  const OmStep& step = step_;
  const auto damaged = [&](const std::string& what) {
    throw Error(ExitCode::kOm, "step '" + step.name + "' " + what, om.name,
                "compile the model again with atc");
  };
  if (const std::string what = fault(om, step); !what.empty()) damaged(what);
  const std::vector<std::int64_t> counts = step.call.attrs.get_ints("captures");
  std::vector<Om> bodies = bodies_of(om, step);
  const std::size_t wanted = bodies.size();
  const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  auto capture = step.inputs.end() - static_cast<std::ptrdiff_t>(all);
  const std::size_t own = step.inputs.size() - static_cast<std::size_t>(all);
  for (std::size_t b = 0; b < wanted; ++b) {
    Body& body = bodies_.emplace_back();
    body.executor = open_body(context, std::move(bodies[b]));
    body.captures.assign(capture, capture + static_cast<std::ptrdiff_t>(counts[b]));
    capture += static_cast<std::ptrdiff_t>(counts[b]);
    const std::size_t inputs = body.executor->input_count(),
                      outputs = body.executor->output_count();
    const bool is_if = step.call.type == "If", is_loop = step.call.type == "Loop";
    const std::size_t formal = is_if ? 0 : own;
    const std::size_t carried =
        is_if     ? 0
        : is_loop ? own - 2
                  : own - static_cast<std::size_t>(step.call.attrs.get_int("num_scan_inputs", 0));
    const bool scans_nothing =
        step.call.type == "Scan" && step.call.attrs.get_int("num_scan_inputs", 0) < 1;
    if (scans_nothing || (is_if && own != 1) || (is_loop && own < 2) || (!is_if && carried > own) ||
        inputs != formal + body.captures.size() || outputs < carried + (is_loop ? 1 : 0) ||
        step.outputs.size() > outputs - (is_loop ? 1 : 0))
      damaged("has a body with other inputs and outputs");
  }
}

ControlStep::~ControlStep() = default;

void ControlStep::refuse(const std::string& why) const {
  throw Error(ExitCode::kFailure, why, where());
}

std::string ControlStep::where() const {
  return "op '" + step_.name + "' (" + step_.call.type + ")";
}

void ControlStep::run(const TaskRecording& recording) {
  TaskClock clock(recording);
  asked_bytes_ = 0;
  begin_ = std::chrono::steady_clock::now();
  try {
    if (step_.call.type == "If")
      run_if(clock);
    else if (step_.call.type == "Loop")
      run_loop(clock);
    else
      run_scan(clock);
  } catch (const OutOfMemory& e) {
    throw OutOfMemory(where() + ": " + e.what());
  }
  owner_.task_done(clock);
}

/// Between two trips.
void ControlStep::check_time() const {
  if (!longest_s_) return;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
  if (taken.count() > *longest_s_) refuse(fmt::format("it still runs after {} s", *longest_s_));
}

std::size_t ControlStep::own_inputs(std::size_t body) const {
  return bodies_[body].executor->input_count() - bodies_[body].captures.size();
}

std::vector<ControlStep::Held> ControlStep::run_body(std::size_t index, std::span<const Tensor> own,
                                                     TaskClock& clock) {
  end_if_stopped();
  check_time();
  Body& body = bodies_[index];
  std::vector<Tensor> inputs(own.begin(), own.end()), outputs;
  for (const int id : body.captures) inputs.push_back(tensors_.view(id));
  std::vector<Held> held(body.executor->output_count());
  for (std::size_t i = 0; i < held.size(); ++i) {
    held[i].tensor.desc = body.executor->output(i).desc;
    if (is_static(held[i].tensor.desc.shape)) {
      held[i].memory = AlignedMemory(storage_bytes(held[i].tensor.desc));
      held[i].tensor.data = held[i].memory.data();
    }
    outputs.push_back(held[i].tensor);
  }
  owner_.run_body(*body.executor, inputs, outputs, clock);
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i].tensor.data != nullptr) continue;
    const std::size_t bytes = storage_bytes(outputs[i].desc);
    held[i].memory = AlignedMemory(bytes);
    if (bytes > 0) std::memcpy(held[i].memory.data(), outputs[i].data, bytes);
    held[i].tensor = {outputs[i].desc, held[i].memory.data()};
  }
  return held;
}

bool ControlStep::is_wanted(std::size_t output) const {
  return output < step_.outputs.size() && step_.outputs[output] >= 0;
}

Tensor ControlStep::room_for(std::size_t output, const TensorDesc& desc) const {
  const int id = step_.outputs[output];
  if (tensors_.is_dynamic(id)) tensors_.allocate(id, desc);
  const Tensor to = tensors_.view(id);
  if (to.desc.dtype != desc.dtype || to.desc.shape != desc.shape)
    refuse("output " + std::to_string(output) + " is " + to_string(desc) + ", the model says " +
           to_string(to.desc));
  return to;
}

void ControlStep::give(std::size_t output, const Tensor& value) const {
  if (!is_wanted(output)) return;
  const Tensor to = room_for(output, value.desc);
  if (const std::size_t bytes = storage_bytes(value.desc); bytes > 0)
    std::memcpy(to.data, value.data, bytes);
}

void ControlStep::give_stacked(std::size_t output, const CollectedSlices& collected,
                               std::size_t axis, bool is_reversed) const {
  if (!is_wanted(output)) return;
  if (axis > collected.slice().shape.size())
    refuse("it stacks along axis " + std::to_string(axis) + " of " + to_string(collected.slice()));
  const Tensor to = room_for(output, collected.stacked(axis));
  collected.stack(to.data, axis, is_reversed);
}

void ControlStep::run_if(TaskClock& clock) {
  const Tensor condition = tensors_.view(step_.inputs[0]);
  if (!is_one_of(condition.desc, DataType::kBool))
    refuse("its condition is " + to_string(condition.desc));
  const std::vector<Held> results = run_body(*condition.as<bool>() ? 0 : 1, {}, clock);
  for (std::size_t i = 0; i < results.size(); ++i) give(i, results[i].tensor);
}

std::vector<CollectedSlices> ControlStep::nothing_collected(std::size_t first_output) const {
  const Executor& body = *bodies_[0].executor;
  std::vector<CollectedSlices> all;
  for (std::size_t i = first_output; i < body.output_count(); ++i)
    all.emplace_back(body.output(i).desc);
  return all;
}

/// A trip's. A loop may go on for ever: it ends when memory for the result, which comes beside, is no longer to be had.
void ControlStep::collect(std::vector<CollectedSlices>& all, std::span<const Held> slices) {
  constexpr std::size_t kAskEveryBytes = std::size_t{64} << 20;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Tensor& slice = slices[i].tensor;
    if (!all[i].add(slice))
      refuse("what it collects is " + to_string(slice.desc) + " after " +
             to_string(all[i].slice()));
    bytes += all[i].memory_bytes();
  }
  if (bytes < asked_bytes_ + kAskEveryBytes) return;
  asked_bytes_ = bytes;
  check_memory(bytes + kAskEveryBytes,
               "what it has collected in " + std::to_string(all[0].count()) + " trips");
}

void ControlStep::run_loop(TaskClock& clock) {
  const Tensor count = tensors_.view(step_.inputs[0]), condition = tensors_.view(step_.inputs[1]);
  if (count.is_present() && !is_one_of(count.desc, DataType::kInt64))
    refuse("its count is " + to_string(count.desc));
  if (condition.is_present() && !is_one_of(condition.desc, DataType::kBool))
    refuse("its condition is " + to_string(condition.desc));
  const std::int64_t most =
      count.is_present() ? *count.as<std::int64_t>() : std::numeric_limits<std::int64_t>::max();
  bool goes_on = !condition.is_present() || *condition.as<bool>();
  const std::size_t carried = own_inputs(0) - 2;
  std::vector<Tensor> inputs(own_inputs(0));
  for (std::size_t i = 0; i < carried; ++i) inputs[2 + i] = tensors_.view(step_.inputs[2 + i]);
  std::vector<CollectedSlices> collected = nothing_collected(1 + carried);
  std::vector<Held> before;  // keeps what the trip reads
  for (std::int64_t trip = 0; trip < most && goes_on; ++trip) {
    inputs[0] = {{.dtype = DataType::kInt64}, &trip};
    inputs[1] = {{.dtype = DataType::kBool}, &goes_on};
    std::vector<Held> results = run_body(0, inputs, clock);
    if (!is_one_of(results[0].tensor.desc, DataType::kBool))
      refuse("its body's condition is " + to_string(results[0].tensor.desc));
    collect(collected, std::span(results).subspan(1 + carried));
    for (std::size_t i = 0; i < carried; ++i) inputs[2 + i] = results[1 + i].tensor;
    goes_on = *results[0].tensor.as<bool>();
    before = std::move(results);
  }
  for (std::size_t i = 0; i < carried; ++i) give(i, inputs[2 + i]);
  for (std::size_t i = 0; i < collected.size(); ++i)
    give_stacked(carried + i, collected[i], 0, false);
}

void ControlStep::run_scan(TaskClock& clock) {
  const reference::Attrs& attrs = step_.call.attrs;
  const auto scans = static_cast<std::size_t>(attrs.get_int("num_scan_inputs", 0));
  const std::size_t states = own_inputs(0) - scans;
  std::vector<Scanned> scanned;
  for (std::size_t i = 0; i < scans; ++i) {
    scanned.emplace_back(tensors_.view(step_.inputs[states + i]),
                         attribute_at(attrs.get_ints("scan_input_axes"), i),
                         attribute_at(attrs.get_ints("scan_input_directions"), i) != 0);
    if (scanned[i].trips() != scanned[0].trips()) refuse("what it scans differs in length");
  }
  std::vector<Tensor> inputs(own_inputs(0));
  for (std::size_t i = 0; i < states; ++i) inputs[i] = tensors_.view(step_.inputs[i]);
  std::vector<CollectedSlices> collected = nothing_collected(states);
  std::vector<Held> before;
  for (std::int64_t trip = 0; trip < scanned[0].trips(); ++trip) {
    for (std::size_t i = 0; i < scans; ++i) inputs[states + i] = scanned[i].slice(trip);
    std::vector<Held> results = run_body(0, inputs, clock);
    collect(collected, std::span(results).subspan(states));
    for (std::size_t i = 0; i < states; ++i) inputs[i] = results[i].tensor;
    before = std::move(results);
  }
  for (std::size_t i = 0; i < states; ++i) give(i, inputs[i]);
  for (std::size_t i = 0; i < collected.size(); ++i) {
    const std::int64_t rank = std::ssize(collected[i].slice().shape) + 1;
    const std::size_t axis = reference::normalize_axis(
        attribute_at(attrs.get_ints("scan_output_axes"), i), static_cast<std::size_t>(rank));
    give_stacked(states + i, collected[i], axis,
                 attribute_at(attrs.get_ints("scan_output_directions"), i) != 0);
  }
}

}  // namespace aoe::runtime
