// Writes the stages of a recurrent operator.
#include "compiler/rnn/rnn_nest.h"

#include <utility>

#include "compiler/emit/integer_math.h"
#include "compiler/emit/register_block.h"
#include "compiler/rnn/rnn_cell.h"
#include "compiler/rnn/rnn_states.h"

namespace aoe::compiler {
namespace {

/// The stages behind the product; an object writes one of them.
class RecurrenceNest {
 public:
  /// The constants' indices count from `first_constant` on.
  RecurrenceNest(const Task& task, const RnnCut& cut, const RnnConstants& constants,
                 std::size_t first_constant)
      : cut_(cut),
        s_(cut.shape()),
        t_(cut.tiling()),
        constants_(constants),
        states_(builder_, task, cut, constants, first_constant) {}

  std::int64_t workspace_elements() const { return states_.workspace_elements(); }

  /// All steps, of one part of the batch on one thread.
  loopnest::Function build_walk() {
    builder_.parallel(cut_.parallel_extent(), [&](Int iteration) {
      const Int direction = s_.directions == 1 ? Int(0) : iteration / cut_.batch_tiles();
      const Int tile = iteration % cut_.batch_tiles();
      each_row(tile, [&](Int row, Int slot) { states_.write_initial(direction, row, slot); });
      builder_.loop("step", 0, s_.steps, 1, [&](Int number) {
        const RnnStep step = states_.step_of(direction, tile, 0, number);
        for (std::size_t p = 0; p < cut_.phases().size(); ++p) write_phase(step, p);
      });
      each_row(tile, [&](Int row, Int slot) { states_.write_last(direction, row, slot); });
    });
    return builder_.finish();
  }

  /// The same with shared units, whose states are in the workspace: before the first step,
  loopnest::Function build_initial_states() {
    builder_.parallel(s_.directions * s_.batch, [&](Int slot) {
      states_.write_initial(slot / s_.batch, slot % s_.batch, slot);
    });
    return builder_.finish();
  }
  /// phase by phase of all steps,
  loopnest::Function build_phases() {
    const auto phases = static_cast<std::int64_t>(cut_.phases().size());
    builder_.parallel_rounds(
        cut_.meetings(), cut_.parallel_extent(), [&](Int round, Int iteration) {
          const Int tile_of_all = iteration / t_.unit_parts;
          const RnnStep step =
              states_.step_of(tile_of_all / cut_.batch_tiles(), tile_of_all % cut_.batch_tiles(),
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
    builder_.parallel(s_.directions * s_.batch, [&](Int slot) {
      states_.write_last(slot / s_.batch, slot % s_.batch, slot);
    });
    return builder_.finish();
  }

 private:
  /// The rows and hidden units whose gates are in registers at once.
  struct Block {
    Int row, slot;  ///< in the batch, and among those whose states lie together
    std::int64_t rows;
    Int unit;
    std::int64_t vectors;      ///< of units
    std::int64_t last_active;  ///< units that exist in the last vector
    std::vector<Local> sums;   ///< [row][gate of the phase][vector]
  };
  /// Of a block.
  struct Place : RnnPlace {
    std::int64_t block_row, block_vector;
  };

  // ---- where things are ----

  Int slot_of(const RnnStep& step, const Int& row, const Int& in_tile) const {
    return cut_.shares_units() ? step.direction * s_.batch + row : in_tile;
  }

  Int product(const RnnStep& step, const Int& row, std::int64_t gate, const Int& unit) const {
    const Int input_row =
        s_.is_batch_first ? row * s_.steps + step.time : step.time * s_.batch + row;
    return (input_row * s_.directions + step.direction) * (s_.gate_count() * s_.hidden) +
           gate * s_.hidden + unit;
  }

  std::vector<BlockRun> row_runs() const { return even_runs(s_.batch, t_.row_block); }

  void each_row(const Int& tile, const std::function<void(Int row, Int slot)>& body) {
    each_block(builder_, row_runs(), tile, cut_.blocks_per_tile(), "block",
               [&](Int row, std::int64_t rows, Int number) {
                 builder_.loop("row", 0, rows, 1,
                               [&](Int r) { body(row + r, number * cut_.block_rows() + r); });
               });
  }

  // ---- one step ----

  /// Panels outside, row blocks inside: a panel comes from L2 once for all rows of the tile.
  void write_phase(const RnnStep& step, std::size_t p) {
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

  void write_block(const RnnStep& step, std::size_t phase_number, Block block) {
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
    Place at{{block.row + r, (block.slot + r) * cut_.padded_hidden() + unit, unit, {}}, r, v};
    if (v + 1 == block.vectors && block.last_active < cut_.lanes())
      at.active = Int(block.last_active);
    return at;
  }

  /// What the input makes of the gate; the last gate of kLinearBeforeResetGru gets that behind the reset.
  Vec initial_sum(const RnnStep& step, std::int64_t gate, const Place& at) const {
    const bool is_apart = s_.kind == RnnKind::kLinearBeforeResetGru && gate + 1 == s_.gate_count();
    if (!is_apart) return input_sum(step, gate, at);
    if (!constants_.candidate_bias) return splat(0.0f, cut_.lanes());
    return builder_.load(states_.constant(*constants_.candidate_bias),
                         step.direction * cut_.padded_hidden() + at.unit, cut_.lanes());
  }

  Vec input_sum(const RnnStep& step, std::int64_t gate, const Place& at) const {
    return builder_.load(*states_.buffers().workspace, product(step, at.row, gate, at.unit),
                         cut_.lanes(), at.active);
  }

  /// Adds R * h to the sums; of a GRU's second phase R * (reset * h).
  void write_products(const RnnStep& step, std::size_t phase_number, Block& block) {
    const RnnPhase& phase = cut_.phases()[phase_number];
    const auto [state, x] = states_.multiplied(step, phase_number, block.slot);
    const Int panel = step.direction * cut_.panel_elements() +
                      block.unit * (phase.gate_count() * s_.hidden) + phase.offset;
    const std::int64_t width = phase.gate_count() * block.vectors * cut_.lanes();
    const std::int64_t unrolled = s_.hidden / t_.k_unroll * t_.k_unroll;
    builder_.loop("k", 0, unrolled, t_.k_unroll, [&](Int k) {
      for (std::int64_t u = 0; u < t_.k_unroll; ++u)
        write_product(block, state, x + k + u, panel + k * width + u * width, width);
    });
    for (std::int64_t k = unrolled; k < s_.hidden; ++k)
      write_product(block, state, x + k, panel + k * width, width);
  }

  /// One hidden unit of the step before: an element per row, a vector of R per gate and vector of units. The smaller side
  /// waits in registers.
  void write_product(Block& block, Buffer state, const Int& x, const Int& panel,
                     std::int64_t width) {
    const Buffer recurrence = states_.constant(constants_.recurrence);
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

  void write_state(const RnnStep& step, std::size_t phase_number, const Block& block,
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
        return states_.set_hidden(step, at, emit_activation(builder_, s_.activation, sums[0]));
    }
  }

  void write_lstm(const RnnStep& step, const std::vector<Vec>& sums, const Place& at) {
    std::vector<Vec> peepholes;
    for (std::int64_t gate = 0; constants_.peepholes && gate < 3; ++gate)
      peepholes.push_back(keep(builder_.load(
          states_.constant(*constants_.peepholes),
          (step.direction * 3 + gate) * cut_.padded_hidden() + at.unit, cut_.lanes())));
    const Vec cell = keep(states_.cell(at));
    const LstmState next = emit_lstm_cell(builder_, sums, cell, peepholes);
    states_.set_cell(step, at, next.cell, cell);
    states_.set_hidden(step, at, next.hidden);
  }

  void write_gru_gates(const RnnStep& step, const std::vector<Vec>& sums, const Place& at) {
    states_.set_update(at, emit_sigmoid(builder_, sums[0]));
    states_.set_reset_hidden(at, emit_sigmoid(builder_, sums[1]) * states_.hidden(step, at));
  }

  void write_gru_state(const RnnStep& step, const Vec& sum, const Place& at) {
    const Vec update = states_.update(at);
    const Vec candidate = emit_activation(builder_, "tanh", sum);
    states_.set_hidden(step, at,
                       emit_gru_blend(builder_, update, candidate, states_.hidden(step, at)));
  }

  void write_linear_gru(const RnnStep& step, const std::vector<Vec>& sums, const Place& at) {
    const Vec update = emit_sigmoid(builder_, sums[0]), reset = emit_sigmoid(builder_, sums[1]);
    const Vec candidate =
        emit_activation(builder_, "tanh", fma(reset, sums[2], input_sum(step, 2, at)));
    states_.set_hidden(step, at,
                       emit_gru_blend(builder_, update, candidate, states_.hidden(step, at)));
  }

  Vec keep(const Vec& value) { return builder_.get(builder_.local(value)); }

  const RnnCut& cut_;
  const RnnShape& s_;
  const RnnTiling& t_;
  const RnnConstants& constants_;
  Builder builder_{"rnn"};
  RnnStates states_;
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
