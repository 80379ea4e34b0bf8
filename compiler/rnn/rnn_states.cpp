#include "compiler/rnn/rnn_states.h"

#include <utility>

#include "compiler/emit/integer_math.h"
#include "compiler/emit/register_block.h"

namespace aoe::compiler {

RnnStates::RnnStates(Builder& builder, const Task& task, const RnnCut& cut,
                     const RnnConstants& constants, std::size_t first_constant)
    : builder_(builder),
      task_(task),
      cut_(cut),
      s_(cut.shape()),
      constants_(constants),
      first_constant_(first_constant),
      buffers_(declare_buffers(builder, task, first_constant + constants.all.size(),
                               /*workspace*/ true)),
      state_elements_((cut.shares_units() ? s_.directions * s_.batch : cut.tile_rows()) *
                      cut.padded_hidden()),
      workspace_elements_(
          round_up(s_.steps * s_.batch * s_.directions * s_.gate_count() * s_.hidden,
                   64 / std::int64_t{sizeof(float)})),
      hidden_(keep_state("hidden", 2)) {
  if (s_.has_cell_state()) cell_ = keep_state("cell");
  if (cut.phases().size() > 1) {
    update_ = keep_state("update");
    reset_hidden_ = keep_state("reset_hidden");
  }
}

RnnStates::Kept RnnStates::keep_state(const std::string& name, std::int64_t copies) {
  const std::int64_t elements = copies * state_elements_;
  if (!cut_.shares_units()) return {builder_.scratch(name, elements)};
  return {*buffers_.workspace, std::exchange(workspace_elements_, workspace_elements_ + elements)};
}

Vec RnnStates::load(const Kept& state, const Int& at) const {
  return builder_.load(state.buffer, state.offset + at, cut_.lanes());
}

void RnnStates::store(const Kept& state, const Int& at, const Vec& value) {
  builder_.store(state.buffer, state.offset + at, value);
}

// ---- where things are ----

RnnStep RnnStates::step_of(const Int& direction, const Int& tile, const Int& part,
                           const Int& number) const {
  return {direction,
          tile,
          part,
          number,
          time_of(direction, number),
          number % 2 * state_elements_,
          (1 - number % 2) * state_elements_};
}

Int RnnStates::time_of(const Int& direction, const Int& step) const {
  const Int last = s_.steps - 1;
  if (s_.directions == 1) return s_.is_reverse ? last - step : step;
  return step + direction * (last - 2 * step);
}

Int RnnStates::state_row(const Int& direction, const Int& row) const {
  return s_.is_batch_first ? row * s_.directions + direction : direction * s_.batch + row;
}

Int RnnStates::output_row(const RnnStep& step, const Int& row) const {
  return s_.is_batch_first ? (row * s_.steps + step.time) * s_.directions + step.direction
                           : (step.time * s_.directions + step.direction) * s_.batch + row;
}

RnnStates::State RnnStates::multiplied(const RnnStep& step, std::size_t phase,
                                       const Int& slot) const {
  const Kept& state = phase == 0 ? hidden_ : *reset_hidden_;
  return {state.buffer,
          state.offset + slot * cut_.padded_hidden() + (phase == 0 ? step.read : Int(0))};
}

// ---- before the first step and behind the last ----

Vec RnnStates::initial(std::size_t input, std::optional<std::size_t> packed, const Int& at,
                       const std::optional<Int>& active) const {
  if (packed) return builder_.load(constant(*packed), at, cut_.lanes(), active);
  if (!has_values(task_, input)) return splat(0.0f, cut_.lanes());
  return builder_.load(*buffers_.inputs[input], at, cut_.lanes(), active);
}

void RnnStates::write_initial(const Int& direction, const Int& row, const Int& slot) {
  vector_loop(builder_, "unit", s_.hidden, cut_.lanes(), [&](Int unit, std::optional<Int> active) {
    const Int from = state_row(direction, row) * s_.hidden + unit;
    const Int to = slot * cut_.padded_hidden() + unit;
    store(hidden_, to, initial(kRnnInitialHidden, constants_.initial_hidden, from, active));
    if (cell_) store(*cell_, to, initial(kRnnInitialCell, constants_.initial_cell, from, active));
  });
}

void RnnStates::write_last(const Int& direction, const Int& row, const Int& slot) {
  const std::int64_t last_half = s_.steps % 2 * state_elements_;
  vector_loop(builder_, "unit", s_.hidden, cut_.lanes(), [&](Int unit, std::optional<Int> active) {
    const Int to = state_row(direction, row) * s_.hidden + unit;
    const Int from = slot * cut_.padded_hidden() + unit;
    if (is_wanted(task_, kRnnLastHidden))
      builder_.store(buffers_.outputs[kRnnLastHidden], to, load(hidden_, last_half + from), active);
    if (cell_ && is_wanted(task_, kRnnLastCell))
      builder_.store(buffers_.outputs[kRnnLastCell], to, load(*cell_, from), active);
  });
}

// ---- in a step ----

Vec RnnStates::hidden(const RnnStep& step, const RnnPlace& at) const {
  return load(hidden_, step.read + at.state);
}

void RnnStates::set_hidden(const RnnStep& step, const RnnPlace& at, const Vec& value) {
  const Vec next = s_.has_lengths ? within_length(step, at, value, hidden(step, at)) : value;
  store(hidden_, step.write + at.state, next);
  if (is_wanted(task_, kRnnY))
    builder_.store(buffers_.outputs[kRnnY], output_row(step, at.row) * s_.hidden + at.unit,
                   within_length(step, at, value, splat(0.0f, cut_.lanes())), at.active);
}

Vec RnnStates::cell(const RnnPlace& at) const {
  return load(*cell_, at.state);
}

void RnnStates::set_cell(const RnnStep& step, const RnnPlace& at, const Vec& value,
                         const Vec& before) {
  store(*cell_, at.state, within_length(step, at, value, before));
}

Vec RnnStates::update(const RnnPlace& at) const {
  return load(*update_, at.state);
}

void RnnStates::set_update(const RnnPlace& at, const Vec& value) {
  store(*update_, at.state, value);
}

void RnnStates::set_reset_hidden(const RnnPlace& at, const Vec& value) {
  store(*reset_hidden_, at.state, value);
}

/// A sequence that has ended, or that a walk backwards has not reached, keeps its states.
Vec RnnStates::within_length(const RnnStep& step, const RnnPlace& at, const Vec& value,
                             const Vec& beyond) {
  if (!s_.has_lengths) return value;
  const Int left = builder_.load_int(*buffers_.inputs[kRnnLengths], at.row) - step.time;
  return builder_.get(
      builder_.local(select(active_lanes(left * cut_.lanes(), cut_.lanes()), value, beyond)));
}

}  // namespace aoe::compiler
