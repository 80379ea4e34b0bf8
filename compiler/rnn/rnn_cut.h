// RnnCut: a recurrent operator cut up for one tiling. The products of all inputs with W are one matrix product, made by
// the nest of compiler/gemm in a first stage; a second stage walks through time with what is planned here.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/impl.h"
#include "compiler/rnn/rnn_shape.h"

namespace aoe::compiler {

/// The second stage's part of a Schedule.
struct RnnTiling {
  std::int64_t panel_vectors = 4;  ///< register block: vectors of gates; a panel of R is as wide
  std::int64_t row_block = 1;      ///< register block: rows of the batch
  std::int64_t batch_tiles = 1;    ///< parts of the batch that run side by side
  std::int64_t k_unroll = 1;       ///< hidden units written out in the innermost body
  std::int64_t prefetch =
      0;  ///< hidden units that R is fetched ahead, 0 = leave it to the hardware
  /// 1: every other step reads the panels of R backwards, and finds in the caches what the step before read last.
  std::int64_t zigzag = 0;
  /// Parts of the hidden units that run side by side and meet behind each phase of a step; 1: whoever has a part of the
  /// batch walks through time alone.
  std::int64_t unit_parts = 1;
};

/// Gates whose sums are complete before those of the next phase begin: all of them, but for a GRU whose reset gate acts on
/// the hidden state. A panel of R holds `unit_vectors` vectors of hidden units for each of the gates.
struct RnnPhase {
  std::vector<std::int64_t> gates;  ///< in ONNX's order
  std::int64_t unit_vectors = 1;
  std::int64_t offset = 0;  ///< of its panels among those of one direction

  std::int64_t gate_count() const { return static_cast<std::int64_t>(gates.size()); }
};

class RnnCut {
 public:
  RnnCut(const RnnShape& shape, int lanes, const RnnTiling& tiling);

  const RnnShape& shape() const { return shape_; }
  const RnnTiling& tiling() const { return tiling_; }
  int lanes() const { return lanes_; }
  const std::vector<RnnPhase>& phases() const { return phases_; }
  /// Hidden units, filled up to whole vectors.
  std::int64_t padded_hidden() const;
  /// Elements of packed R of one direction.
  std::int64_t panel_elements() const;
  std::int64_t row_blocks() const;
  std::int64_t blocks_per_tile() const;
  /// Rows of a register block at most, and of a tile.
  std::int64_t block_rows() const;
  std::int64_t tile_rows() const { return blocks_per_tile() * block_rows(); }
  std::int64_t batch_tiles() const;
  bool shares_units() const { return tiling_.unit_parts > 1; }
  /// Of a phase, those of one part.
  std::int64_t panels(const RnnPhase& phase) const;
  std::int64_t panels_per_part(const RnnPhase& phase) const;
  /// Iterations at a time: of all steps, or where units are shared of one phase of one step.
  std::int64_t parallel_extent() const {
    return shape_.directions * batch_tiles() * tiling_.unit_parts;
  }
  /// How often the parts of units meet.
  std::int64_t meetings() const { return shape_.steps * std::ssize(phases_); }
  std::int64_t registers() const;
  std::int64_t body_fmas() const;  ///< multiply-adds that the code spells out
  /// Of one parallel iteration in one step; see block_cycles.h.
  double step_cycles() const;

 private:
  RnnShape shape_;
  int lanes_;
  RnnTiling tiling_;
  std::vector<RnnPhase> phases_;
};

/// The gates by phase.
std::vector<std::vector<std::int64_t>> rnn_phase_gates(RnnKind kind);

}  // namespace aoe::compiler
