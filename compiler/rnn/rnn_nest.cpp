// Writes the stages of a recurrent operator.
#include "compiler/rnn/rnn_nest.h"

#include <utility>

#include "compiler/integer_math.h"
#include "compiler/kernel_buffers.h"
#include "compiler/register_block.h"
#include "compiler/rnn/rnn_cell.h"
#include "compiler/rnn/rnn_constants.h"

namespace aoe::compiler {
namespace {

std::int64_t product_elements(const RnnShape& s) {
  return s.steps * s.batch * s.directions * s.gate_count() * s.hidden;
}

/// The stages behind the product; an object writes one of them.
class RecurrenceNest {
 public:
  /// The constants' indices count from `first_constant` on.
  RecurrenceNest(const Task& task, const RnnCut& cut, const RnnConstants& constants,
                 std::size_t first_constant)
      : task_(task),
        cut_(cut),
        s_(cut.shape()),
        t_(cut.tiling()),
        constants_(constants),
        first_constant_(first_constant),
        buffers_(declare_buffers(builder_, task, first_constant + constants.all.size(),
                                 /*workspace*/ true)),
        state_elements_((cut.shares_units() ? s_.directions * s_.batch : cut.tile_rows()) *
                        cut.padded_hidden()),
        workspace_elements_(round_up(product_elements(s_), 64 / std::int64_t{sizeof(float)})),
        hidden_(state("hidden", 2)) {
    if (s_.has_cell_state()) cell_ = state("cell");
    if (cut.phases().size() > 1) {
      update_ = state("update");
      reset_hidden_ = state("reset_hidden");
    }
  }

  std::int64_t workspace_elements() const { return workspace_elements_; }

  /// All steps, of one part of the batch on one thread.
  loopnest::Function build_walk() {
    builder_.parallel(cut_.parallel_extent(), [&](Int iteration) {
      const Int direction = s_.directions == 1 ? Int(0) : iteration / cut_.batch_tiles();
      const Int tile = iteration % cut_.batch_tiles();
      each_row(tile, [&](Int row, Int slot) { write_initial_state(direction, row, slot); });
      builder_.loop("step", 0, s_.steps, 1, [&](Int number) {
        const Step step = step_of(direction, tile, 0, number);
        for (std::size_t p = 0; p < cut_.phases().size(); ++p) write_phase(step, p);
      });
      each_row(tile, [&](Int row, Int slot) { write_last_state(direction, row, slot); });
    });
    return builder_.finish();
  }

  /// The same with shared units, whose states are in the workspace: before the first step,
  loopnest::Function build_initial_states() {
    builder_.parallel(s_.directions * s_.batch, [&](Int slot) {
      write_initial_state(slot / s_.batch, slot % s_.batch, slot);
    });
    return builder_.finish();
  }
  /// phase by phase of all steps,
  loopnest::Function build_phases() {
    const auto phases = static_cast<std::int64_t>(cut_.phases().size());
    builder_.parallel_rounds(
        cut_.meetings(), cut_.parallel_extent(), [&](Int round, Int iteration) {
          const Int tile_of_all = iteration / t_.unit_parts;
          const Step step =
              step_of(tile_of_all / cut_.batch_tiles(), tile_of_all % cut_.batch_tiles(),
                      iteration % t_.unit_parts, round / phases);
          if (phases == 1) return write_phase(step, 0);
          builder_.if_(
              round % phases == Int(0), [&] { write_phase(step, 0); },
              [&] { write_phase(step, 1); });
        });
    return builder_.finish();
  }
  /// and behind the last.
  loopnest::Function build_last_states() {
    builder_.parallel(s_.directions * s_.batch,
                      [&](Int slot) { write_last_state(slot / s_.batch, slot % s_.batch, slot); });
    return builder_.finish();
  }

 private:
  /// Of one tile, in scratch; or of all, in the workspace behind the product.
  struct State {
    Buffer buffer;
    std::int64_t offset = 0;
  };
  struct Step {
    Int direction, tile;
    Int part;  ///< of the units
    Int number;
    Int time;         ///< of the input and output
    Int read, write;  ///< the halves of `hidden`
  };
  /// The rows and hidden units whose gates are in registers at once.
  struct Block {
    Int row, slot;  ///< in the batch, and among those whose states lie together
    std::int64_t rows;
    Int unit;
    std::int64_t vectors;      ///< of units
    std::int64_t last_active;  ///< units that exist in the last vector
    std::vector<Local> sums;   ///< [row][gate of the phase][vector]
  };
  /// A vector of units of one row.
  struct Place {
    Int row, state;  ///< the latter in `cell` and in each half of `hidden`
    Int unit;
    std::optional<Int> active;
    std::int64_t block_row, block_vector;
  };

  // ---- where things are ----

  State state(const std::string& name, std::int64_t copies = 1) {
    const std::int64_t elements = copies * state_elements_;
    if (!cut_.shares_units()) return {builder_.scratch(name, elements)};
    return {*buffers_.workspace,
            std::exchange(workspace_elements_, workspace_elements_ + elements)};
  }
  Step step_of(const Int& direction, const Int& tile, const Int& part, const Int& number) const {
    return {direction,
            tile,
            part,
            number,
            time_of(direction, number),
            number % 2 * state_elements_,
            (1 - number % 2) * state_elements_};
  }
  Int slot_of(const Step& step, const Int& row, const Int& in_tile) const {
    return cut_.shares_units() ? step.direction * s_.batch + row : in_tile;
  }

  Int time_of(const Int& direction, const Int& step) const {
    const Int last = s_.steps - 1;
    if (s_.directions == 1) return s_.is_reverse ? last - step : step;
    return step + direction * (last - 2 * step);
  }
  Int state_row(const Int& direction, const Int& row) const {
    return s_.is_batch_first ? row * s_.directions + direction : direction * s_.batch + row;
  }
  Int output_row(const Step& step, const Int& row) const {
    return s_.is_batch_first ? (row * s_.steps + step.time) * s_.directions + step.direction
                             : (step.time * s_.directions + step.direction) * s_.batch + row;
  }
  Int product(const Step& step, const Int& row, std::int64_t gate, const Int& unit) const {
    const Int input_row =
        s_.is_batch_first ? row * s_.steps + step.time : step.time * s_.batch + row;
    return (input_row * s_.directions + step.direction) * (s_.gate_count() * s_.hidden) +
           gate * s_.hidden + unit;
  }
  Buffer constant(std::size_t i) const { return buffers_.constants[first_constant_ + i]; }

  std::vector<BlockRun> row_runs() const { return even_runs(s_.batch, t_.row_block); }

  void each_row(const Int& tile, const std::function<void(Int row, Int slot)>& body) {
    each_block(builder_, row_runs(), tile, cut_.blocks_per_tile(), "block",
               [&](Int row, std::int64_t rows, Int number) {
                 builder_.loop("row", 0, rows, 1,
                               [&](Int r) { body(row + r, number * cut_.block_rows() + r); });
               });
  }

  // ---- states before the first step and behind the last ----

  Vec load_initial(std::size_t input, std::optional<std::size_t> packed, const Int& at,
                   const std::optional<Int>& active) const {
    if (packed) return builder_.load(constant(*packed), at, cut_.lanes(), active);
    if (!has_values(task_, input)) return splat(0.0f, cut_.lanes());
    return builder_.load(*buffers_.inputs[input], at, cut_.lanes(), active);
  }

  /// Lanes beyond the last unit become zeros.
  void write_initial_state(const Int& direction, const Int& row, const Int& slot) {
    vector_loop(
        builder_, "unit", s_.hidden, cut_.lanes(), [&](Int unit, std::optional<Int> active) {
          const Int from = state_row(direction, row) * s_.hidden + unit;
          const Int to = slot * cut_.padded_hidden() + unit;
          builder_.store(hidden_.buffer, hidden_.offset + to,
                         load_initial(kRnnInitialHidden, constants_.initial_hidden, from, active));
          if (!cell_) return;
          builder_.store(cell_->buffer, cell_->offset + to,
                         load_initial(kRnnInitialCell, constants_.initial_cell, from, active));
        });
  }

  void write_last_state(const Int& direction, const Int& row, const Int& slot) {
    const std::int64_t last_half = s_.steps % 2 * state_elements_;
    vector_loop(
        builder_, "unit", s_.hidden, cut_.lanes(), [&](Int unit, std::optional<Int> active) {
          const Int to = state_row(direction, row) * s_.hidden + unit;
          const Int from = slot * cut_.padded_hidden() + unit;
          if (is_wanted(task_, kRnnLastHidden))
            builder_.store(
                buffers_.outputs[kRnnLastHidden], to,
                builder_.load(hidden_.buffer, hidden_.offset + last_half + from, cut_.lanes()),
                active);
          if (cell_ && is_wanted(task_, kRnnLastCell))
            builder_.store(buffers_.outputs[kRnnLastCell], to,
                           builder_.load(cell_->buffer, cell_->offset + from, cut_.lanes()),
                           active);
        });
  }

  // ---- one step ----

  /// Panels outside, row blocks inside: a panel comes from L2 once for all rows of the tile.
  void write_phase(const Step& step, std::size_t p) {
    const RnnPhase& phase = cut_.phases()[p];
    const Int part_begin = step.part * cut_.panels_per_part(phase);
    const Int part_end = part_begin + cut_.panels_per_part(phase);
    std::int64_t before = 0;  // panels of the runs before
    for (const BlockRun& run : block_runs(s_.hidden, phase.unit_vectors * cut_.lanes())) {
      const std::int64_t vectors = ceil_div(run.size, cut_.lanes());
      const Int begin = max(part_begin, Int(before)) - before;
      const Int end = min(part_end, Int(before + run.count)) - before;
      builder_.loop("panel", begin, end, 1, [&](Int index) {
        if (t_.zigzag != 0) index = index + step.number % 2 * (begin + end - 1 - 2 * index);
        const Int unit = run.first + index * run.size;
        each_block(builder_, row_runs(), step.tile, cut_.blocks_per_tile(), "block",
                   [&](Int row, std::int64_t rows, Int number) {
                     write_block(step, p,
                                 {row,
                                  slot_of(step, row, number * cut_.block_rows()),
                                  rows,
                                  unit,
                                  vectors,
                                  run.size - (vectors - 1) * cut_.lanes(),
                                  {}});
                   });
      });
      before += run.count;
    }
  }

  void write_block(const Step& step, std::size_t phase_number, Block block) {
    const RnnPhase& phase = cut_.phases()[phase_number];
    for (std::int64_t r = 0; r < block.rows; ++r) {
      for (const std::int64_t gate : phase.gates) {
        for (std::int64_t v = 0; v < block.vectors; ++v)
          block.sums.push_back(builder_.local(initial_sum(step, gate, place(block, r, v))));
      }
    }
    write_products(step, phase_number, block);
    for (std::int64_t r = 0; r < block.rows; ++r)
      for (std::int64_t v = 0; v < block.vectors; ++v)
        write_state(step, phase_number, block, place(block, r, v));
  }

  Place place(const Block& block, std::int64_t r, std::int64_t v) const {
    const Int unit = block.unit + v * cut_.lanes();
    Place at{block.row + r, (block.slot + r) * cut_.padded_hidden() + unit, unit, {}, r, v};
    if (v + 1 == block.vectors && block.last_active < cut_.lanes())
      at.active = Int(block.last_active);
    return at;
  }

  /// What the input makes of the gate; the last gate of kLinearBeforeResetGru gets that behind the reset.
  Vec initial_sum(const Step& step, std::int64_t gate, const Place& at) const {
    const bool is_apart = s_.kind == RnnKind::kLinearBeforeResetGru && gate + 1 == s_.gate_count();
    if (!is_apart) return input_sum(step, gate, at);
    if (!constants_.candidate_bias) return splat(0.0f, cut_.lanes());
    return builder_.load(constant(*constants_.candidate_bias),
                         step.direction * cut_.padded_hidden() + at.unit, cut_.lanes());
  }

  Vec input_sum(const Step& step, std::int64_t gate, const Place& at) const {
    return builder_.load(*buffers_.workspace, product(step, at.row, gate, at.unit), cut_.lanes(),
                         at.active);
  }

  /// Adds R * h to the sums; of a GRU's second phase R * (reset * h).
  void write_products(const Step& step, std::size_t phase_number, Block& block) {
    const RnnPhase& phase = cut_.phases()[phase_number];
    const State state = phase_number == 0 ? hidden_ : *reset_hidden_;
    const Int x =
        state.offset + block.slot * cut_.padded_hidden() + (phase_number == 0 ? step.read : Int(0));
    const Int panel = step.direction * cut_.panel_elements() +
                      block.unit * (phase.gate_count() * s_.hidden) + phase.offset;
    const std::int64_t width = phase.gate_count() * block.vectors * cut_.lanes();
    const std::int64_t unrolled = s_.hidden / t_.k_unroll * t_.k_unroll;
    builder_.loop("k", 0, unrolled, t_.k_unroll, [&](Int k) {
      for (std::int64_t u = 0; u < t_.k_unroll; ++u)
        write_product(block, state.buffer, x + k + u, panel + k * width + u * width, width);
    });
    for (std::int64_t k = unrolled; k < s_.hidden; ++k)
      write_product(block, state.buffer, x + k, panel + k * width, width);
  }

  /// One hidden unit of the step before: an element per row, a vector of R per gate and vector of units. The smaller side
  /// waits in registers.
  void write_product(Block& block, Buffer state, const Int& x, const Int& panel,
                     std::int64_t width) {
    const Buffer recurrence = constant(constants_.recurrence);
    const std::int64_t vectors = width / cut_.lanes();
    const RegisterBlock products{
        .rows = block.rows, .vectors = vectors, .sums = block.sums, .keeps_smaller_side = true};
    products.step(
        builder_,
        [&](std::int64_t v) {
          const Int at = panel + v * cut_.lanes();
          const std::int64_t line = 64 / std::int64_t{sizeof(float)};
          if (t_.prefetch != 0 && v * cut_.lanes() % line == 0)
            builder_.prefetch(recurrence, at + t_.prefetch * width);
          return builder_.local(builder_.load(recurrence, at, cut_.lanes()));
        },
        [&](std::int64_t r) {
          return builder_.local(
              builder_.load_broadcast(state, x + r * cut_.padded_hidden(), cut_.lanes()));
        });
  }

  // ---- from sums to states ----

  std::vector<Vec> sums_at(const Block& block, const Place& at) const {
    const auto vectors = static_cast<std::size_t>(block.vectors);
    const std::size_t gates = block.sums.size() / static_cast<std::size_t>(block.rows) / vectors;
    std::vector<Vec> sums;
    for (std::size_t gate = 0; gate < gates; ++gate)
      sums.push_back(builder_.get(
          block.sums[(static_cast<std::size_t>(at.block_row) * gates + gate) * vectors +
                     static_cast<std::size_t>(at.block_vector)]));
    return sums;
  }

  void write_state(const Step& step, std::size_t phase_number, const Block& block,
                   const Place& at) {
    const std::vector<Vec> sums = sums_at(block, at);
    switch (s_.kind) {
      case RnnKind::kLstm:
        return write_lstm(step, sums, at);
      case RnnKind::kGru:
        return phase_number == 0 ? write_gru_gates(step, sums, at)
                                 : write_gru_state(step, sums[0], at);
      case RnnKind::kLinearBeforeResetGru:
        return write_linear_gru(step, sums, at);
      case RnnKind::kVanilla:
        return store_hidden(step, at, emit_activation(builder_, s_.activation, sums[0]));
    }
  }

  void write_lstm(const Step& step, const std::vector<Vec>& sums, const Place& at) {
    std::vector<Vec> peepholes;
    for (std::int64_t gate = 0; constants_.peepholes && gate < 3; ++gate)
      peepholes.push_back(keep(builder_.load(
          constant(*constants_.peepholes),
          (step.direction * 3 + gate) * cut_.padded_hidden() + at.unit, cut_.lanes())));
    const Vec cell = keep(builder_.load(cell_->buffer, cell_->offset + at.state, cut_.lanes()));
    const LstmState next = emit_lstm_cell(builder_, sums, cell, peepholes);
    builder_.store(cell_->buffer, cell_->offset + at.state,
                   within_length(step, at, next.cell, cell));
    store_hidden(step, at, next.hidden);
  }

  void write_gru_gates(const Step& step, const std::vector<Vec>& sums, const Place& at) {
    builder_.store(update_->buffer, update_->offset + at.state, emit_sigmoid(builder_, sums[0]));
    builder_.store(reset_hidden_->buffer, reset_hidden_->offset + at.state,
                   emit_sigmoid(builder_, sums[1]) * load_hidden(step, at));
  }

  void write_gru_state(const Step& step, const Vec& sum, const Place& at) {
    const Vec update = builder_.load(update_->buffer, update_->offset + at.state, cut_.lanes());
    const Vec candidate = emit_activation(builder_, "tanh", sum);
    store_hidden(step, at, emit_gru_blend(builder_, update, candidate, load_hidden(step, at)));
  }

  void write_linear_gru(const Step& step, const std::vector<Vec>& sums, const Place& at) {
    const Vec update = emit_sigmoid(builder_, sums[0]), reset = emit_sigmoid(builder_, sums[1]);
    const Vec candidate =
        emit_activation(builder_, "tanh", fma(reset, sums[2], input_sum(step, 2, at)));
    store_hidden(step, at, emit_gru_blend(builder_, update, candidate, load_hidden(step, at)));
  }

  Vec load_hidden(const Step& step, const Place& at) const {
    return builder_.load(hidden_.buffer, hidden_.offset + step.read + at.state, cut_.lanes());
  }

  void store_hidden(const Step& step, const Place& at, const Vec& value) {
    const Vec next = s_.has_lengths ? within_length(step, at, value, load_hidden(step, at)) : value;
    builder_.store(hidden_.buffer, hidden_.offset + step.write + at.state, next);
    if (is_wanted(task_, kRnnY))
      builder_.store(buffers_.outputs[kRnnY], output_row(step, at.row) * s_.hidden + at.unit,
                     within_length(step, at, value, splat(0.0f, cut_.lanes())), at.active);
  }

  /// A sequence that has ended, or that a walk backwards has not reached, keeps its states.
  Vec within_length(const Step& step, const Place& at, const Vec& value, const Vec& beyond) {
    if (!s_.has_lengths) return value;
    const Int left = builder_.load_int(*buffers_.inputs[kRnnLengths], at.row) - step.time;
    return keep(select(active_lanes(left * cut_.lanes(), cut_.lanes()), value, beyond));
  }

  Vec keep(const Vec& value) { return builder_.get(builder_.local(value)); }

  const Task& task_;
  const RnnCut& cut_;
  const RnnShape& s_;
  const RnnTiling& t_;
  const RnnConstants& constants_;
  std::size_t first_constant_;
  Builder builder_{"rnn"};
  KernelBuffers buffers_;
  std::int64_t state_elements_;  ///< of all rows whose states lie together: [row][padded unit]
  std::int64_t workspace_elements_;
  State hidden_;  ///< two states: one is read while the next is written
  std::optional<State> cell_, update_, reset_hidden_;
};

}  // namespace

Kernel build_rnn(const Task& task, const RnnCut& cut, const GemmCut& product) {
  const RnnShape& s = cut.shape();
  RnnConstants constants = pack_rnn_constants(task, cut);
  Kernel kernel = build_gemm_stage(
      rnn_input_product(task, s), product, [&](Builder& builder, std::size_t own_constants) {
        const KernelBuffers all =
            declare_buffers(builder, task, own_constants + constants.all.size(), true);
        return KernelBuffers{{all.inputs[kRnnX], {}, {}}, {*all.workspace}, all.constants, {}};
      });
  const auto nest = [&] { return RecurrenceNest(task, cut, constants, kernel.constants.size()); };
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(nest().workspace_elements());
  if (cut.shares_units()) {
    kernel.stages.push_back(nest().build_initial_states());
    kernel.stages.push_back(nest().build_phases());
    kernel.stages.push_back(nest().build_last_states());
  } else {
    kernel.stages.push_back(nest().build_walk());
  }
  std::move(constants.all.begin(), constants.all.end(), std::back_inserter(kernel.constants));
  return kernel;
}

}  // namespace aoe::compiler
