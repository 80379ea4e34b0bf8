// The arithmetic of a recurrence's tiling.
#include "compiler/rnn/rnn_cut.h"

#include <algorithm>

#include "compiler/emit/block_cycles.h"
#include "compiler/emit/block_loops.h"
#include "compiler/emit/integer_math.h"

namespace aoe::compiler {

std::vector<std::vector<std::int64_t>> rnn_phase_gates(RnnKind kind) {
  switch (kind) {
    case RnnKind::kLstm:
      return {{0, 1, 2, 3}};
    case RnnKind::kGru:
      return {{0, 1}, {2}};
    case RnnKind::kLinearBeforeResetGru:
      return {{0, 1, 2}};
    case RnnKind::kVanilla:
      return {{0}};
  }
  return {};
}

RnnCut::RnnCut(const RnnShape& shape, int lanes, const RnnTiling& tiling)
    : shape_(shape), lanes_(lanes), tiling_(tiling) {
  std::int64_t offset = 0;
  for (std::vector<std::int64_t>& gates : rnn_phase_gates(shape.kind)) {
    RnnPhase phase{.gates = std::move(gates), .offset = offset};
    phase.unit_vectors = std::clamp<std::int64_t>(tiling.panel_vectors / phase.gate_count(), 1,
                                                  padded_hidden() / lanes);
    offset += phase.gate_count() * padded_hidden() * shape.hidden;
    phases_.push_back(std::move(phase));
  }
}

std::int64_t RnnCut::padded_hidden() const {
  return round_up(shape_.hidden, lanes_);
}
std::int64_t RnnCut::panel_elements() const {
  return shape_.gate_count() * padded_hidden() * shape_.hidden;
}
std::int64_t RnnCut::row_blocks() const {
  return ceil_div(shape_.batch, tiling_.row_block);
}
std::int64_t RnnCut::blocks_per_tile() const {
  return ceil_div(row_blocks(), tiling_.batch_tiles);
}
std::int64_t RnnCut::block_rows() const {
  return ceil_div(shape_.batch, row_blocks());
}
std::int64_t RnnCut::batch_tiles() const {
  return ceil_div(row_blocks(), blocks_per_tile());
}

std::int64_t RnnCut::panels(const RnnPhase& phase) const {
  return ceil_div(shape_.hidden, phase.unit_vectors * lanes_);
}
std::int64_t RnnCut::panels_per_part(const RnnPhase& phase) const {
  return ceil_div(panels(phase), tiling_.unit_parts);
}

std::int64_t RnnCut::registers() const {
  // Sums, the smaller side of the block, and one element of the other side.
  std::int64_t most = 0;
  for (const RnnPhase& phase : phases_) {
    const std::int64_t vectors = phase.gate_count() * phase.unit_vectors;
    most = std::max(most, block_rows() * vectors + std::min(block_rows(), vectors) + 1);
  }
  return most;
}

std::int64_t RnnCut::body_fmas() const {
  std::int64_t fmas = 0;
  for (const RnnPhase& phase : phases_)
    for (const BlockRun& rows : even_runs(shape_.batch, tiling_.row_block))
      for (const BlockRun& units : block_runs(shape_.hidden, phase.unit_vectors * lanes_))
        fmas += rows.size * phase.gate_count() * ceil_div(units.size, lanes_) * tiling_.k_unroll;
  return fmas;
}

double RnnCut::step_cycles() const {
  // Measured on a Zen 5 core. A single row only waits for R, which comes from L2 in one run. The activations of a vector of
  // units hide half behind the next panel's products, but nothing hides those of a phase's last one.
  constexpr double kFmaLatency = 4, kCyclesPerStreamedVector = 1.3;
  constexpr double kCyclesPerGate = 15, kPhaseLatency = 250;
  double cycles = 0;
  for (const RnnPhase& phase : phases_) {
    const double of_units =
        static_cast<double>(panels_per_part(phase)) / static_cast<double>(panels(phase));
    for (const BlockRun& units : block_runs(shape_.hidden, phase.unit_vectors * lanes_)) {
      const auto vectors = static_cast<double>(phase.gate_count() * ceil_div(units.size, lanes_));
      for (const BlockRun& run : even_runs(shape_.batch, tiling_.row_block)) {
        const auto rows = static_cast<double>(run.size);
        const double per_unit = run.size == 1
                                    ? std::max(kFmaLatency, vectors * kCyclesPerStreamedVector)
                                    : block_cycles(lanes_ * std::int64_t{sizeof(float)},
                                                   rows * vectors, rows, vectors, 1);
        cycles += of_units * static_cast<double>(units.count * run.count) *
                  (static_cast<double>(shape_.hidden) * per_unit + kCyclesPerGate * rows * vectors);
      }
    }
  }
  const double share = static_cast<double>(blocks_per_tile()) / static_cast<double>(row_blocks());
  return cycles * share + kPhaseLatency * static_cast<double>(phases_.size());
}

}  // namespace aoe::compiler
