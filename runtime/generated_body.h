// GeneratedBody: a body all of whose steps are generated code, so that several threads can run it at the same time, each in memory
// of its own and with no other thread's help.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/executor.h"
#include "runtime/jit_team.h"

namespace aoe::runtime {

class GeneratedBody {
 public:
  /// `body` outlives what is made of it. Nothing where it has other steps, or outputs that are copied behind them.
  static std::optional<GeneratedBody> of(const Executor& body);

  /// What each thread needs for it.
  std::size_t arena_bytes() const { return arena_bytes_; }
  std::size_t scratch_bytes() const { return scratch_bytes_; }

  /// The pointers that its kernels take, for one thread.
  class Hand {
   public:
    /// Where it has its arena and its scratch; for all runs until others are said.
    void set_memory(std::byte* arena, std::byte* scratch);
    void set_input(std::size_t i, void* data) { set(inputs_[i], data); }
    void set_output(std::size_t i, void* data) { set(outputs_[i], data); }

   private:
    friend class GeneratedBody;
    /// Places among the pointers.
    using Slots = std::vector<std::size_t>;
    void set(const Slots& slots, void* data) {
      for (const std::size_t slot : slots) buffers_[slot] = data;
    }
    std::vector<void*> buffers_;
    std::vector<Slots> inputs_, outputs_;
    std::vector<std::pair<std::size_t, std::uint64_t>> in_arena_;  ///< slot and offset
    std::byte* arena_ = nullptr;
    std::byte* scratch_ = nullptr;
  };
  Hand hand() const;

  /// `clock`: of the thread, if its tasks are recorded.
  void run(const Hand& hand, TaskClock* clock) const;

 private:
  struct Stage {
    JitStage code;
    std::size_t first_buffer = 0;
  };
  GeneratedBody(const Executor& body, std::vector<JitStage> stages);

  const Om* om_;
  std::vector<Stage> stages_;
  std::vector<int> tensors_;  ///< of all buffers; -1: none
  std::size_t arena_bytes_ = 0, scratch_bytes_ = 0;
};

}  // namespace aoe::runtime
