// RnnStates: the states of a recurrent operator: where they lie between two steps, what they are before the first, and what
// leaves with each step and behind the last.
#pragma once

#include "compiler/emit/kernel_buffers.h"
#include "compiler/rnn/rnn_constants.h"

namespace aoe::compiler {

struct RnnStep {
  loopnest::Int direction, tile;
  loopnest::Int part;  ///< of the units
  loopnest::Int number;
  loopnest::Int time;         ///< of the input and output
  loopnest::Int read, write;  ///< the halves of the hidden state
};

/// A vector of units of one row.
struct RnnPlace {
  loopnest::Int row, state;  ///< the latter in each state, and in each half of the hidden one
  loopnest::Int unit;
  std::optional<loopnest::Int> active;
};

/// For one stage, which `builder` writes. Of one tile, in scratch; of all, in the workspace behind the product, where threads
/// share units.
class RnnStates {
 public:
  struct State {
    loopnest::Buffer buffer;
    loopnest::Int offset = 0;
  };

  /// The constants' indices count from `first_constant` on.
  RnnStates(loopnest::Builder& builder, const Task& task, const RnnCut& cut,
            const RnnConstants& constants, std::size_t first_constant);

  const KernelBuffers& buffers() const { return buffers_; }
  loopnest::Buffer constant(std::size_t i) const { return buffers_.constants[first_constant_ + i]; }
  std::int64_t workspace_elements() const { return workspace_elements_; }

  RnnStep step_of(const loopnest::Int& direction, const loopnest::Int& tile,
                  const loopnest::Int& part, const loopnest::Int& number) const;

  /// `slot`: the row's place among those whose states lie together. Lanes beyond the last unit become zeros.
  void write_initial(const loopnest::Int& direction, const loopnest::Int& row,
                     const loopnest::Int& slot);
  void write_last(const loopnest::Int& direction, const loopnest::Int& row,
                  const loopnest::Int& slot);

  /// What a phase multiplies with R: the hidden state, in a GRU's second phase reset * hidden.
  State multiplied(const RnnStep& step, std::size_t phase, const loopnest::Int& slot) const;

  loopnest::Vec hidden(const RnnStep& step, const RnnPlace& at) const;
  /// That of the next step, and the output of this one.
  void set_hidden(const RnnStep& step, const RnnPlace& at, const loopnest::Vec& value);
  loopnest::Vec cell(const RnnPlace& at) const;
  void set_cell(const RnnStep& step, const RnnPlace& at, const loopnest::Vec& value,
                const loopnest::Vec& before);
  /// What a GRU's first phase leaves to the second.
  loopnest::Vec update(const RnnPlace& at) const;
  void set_update(const RnnPlace& at, const loopnest::Vec& value);
  void set_reset_hidden(const RnnPlace& at, const loopnest::Vec& value);

 private:
  struct Kept {
    loopnest::Buffer buffer;
    std::int64_t offset = 0;
  };

  Kept keep_state(const std::string& name, std::int64_t copies = 1);
  loopnest::Vec load(const Kept& state, const loopnest::Int& at) const;
  void store(const Kept& state, const loopnest::Int& at, const loopnest::Vec& value);
  loopnest::Int time_of(const loopnest::Int& direction, const loopnest::Int& step) const;
  loopnest::Int state_row(const loopnest::Int& direction, const loopnest::Int& row) const;
  loopnest::Int output_row(const RnnStep& step, const loopnest::Int& row) const;
  loopnest::Vec initial(std::size_t input, std::optional<std::size_t> packed,
                        const loopnest::Int& at, const std::optional<loopnest::Int>& active) const;
  loopnest::Vec within_length(const RnnStep& step, const RnnPlace& at, const loopnest::Vec& value,
                              const loopnest::Vec& beyond);

  loopnest::Builder& builder_;
  const Task& task_;
  const RnnCut& cut_;
  const RnnShape& s_;
  const RnnConstants& constants_;
  std::size_t first_constant_;
  KernelBuffers buffers_;
  std::int64_t state_elements_;  ///< of all rows whose states lie together: [row][padded unit]
  std::int64_t workspace_elements_;
  Kept hidden_;  ///< two states: one is read while the next is written
  std::optional<Kept> cell_, update_, reset_hidden_;
};

}  // namespace aoe::compiler
