// SliceMap: a step that carries its body out slice by slice (MapSlices, graph/passes/map_slices.cpp): along axes of what it
// reads and makes whose lengths only a run can tell. There is a body for each of some lengths of parts, all of which read and make
// the same; a run takes those that together take the least time (slice_parts.h). The last part overlaps the one before it rather than
// being shorter.
//
// Attributes: "axes", by input, along which it is sliced, -1 for what each part reads whole; "output_axes", by output. "dims": each of
// those is the last of so many neighbours (1 when it is left out), all combinations of whose places are slices: a part has them in
// the last and 1 in the others. An input that has fewer places than others is stretched, as in broadcasting. "in_place": elementwise
// ops, whose parts lie in one piece. "part_cost": in how many slices' time a part takes longer than its slices.
// "longest_piece", "piece_cost", "share_cost": PieceCosts (slice_shares.h) of parts that one thread each carries out, where that may
// be faster than to share each part.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/aligned_memory.h"
#include "runtime/backend.h"
#include "runtime/body_executor.h"
#include "runtime/slice_border.h"
#include "runtime/tensor_table.h"
#include "runtime/whole_parts.h"

namespace aoe::runtime {

class SliceMap final : public Runnable {
 public:
  /// Step `index` of what `context` loads. Throws Error(kOm) when a body is damaged or does not fit the node.
  SliceMap(const LoadContext& context, std::size_t index);
  ~SliceMap() override;
  SliceMap(const SliceMap&) = delete;
  SliceMap& operator=(const SliceMap&) = delete;

  /// What is wrong with the step itself, its bodies apart, in words behind its name; empty: nothing.
  static std::string fault(const Om& om, const OmStep& step);

  /// Ops of bodies are tasks of their own; what lies between their runs is the step's. Throws Error(kFailure) that names the step
  /// when what it reads has not equally many slices.
  void run(const TaskRecording& recording) override;

 private:
  /// The body for one length of parts.
  struct Part {
    std::unique_ptr<Executor> executor;
    std::int64_t slices = 0;
    std::vector<SliceBorder> reads, makes;  ///< as they lie in this run
    std::vector<Tensor> given, made;        ///< to the body, and by it
  };
  /// Runs of one length of parts in a row.
  struct Turn {
    std::size_t part = 0;
    std::int64_t count = 0;  ///< slices of each that are there
    std::int64_t begin = 0, times = 0;
  };
  void check_bodies(const Om& om) const;
  Shape count_places() const;
  void look_for_whole_parts(const LoadContext& context);
  SliceBorder border(int id, const TensorDesc& part, std::int64_t axis, const Shape& shape,
                     std::int64_t slices) const;
  void set_borders(Part& part, const Shape& places) const;
  void prepare_outputs(const Shape& places) const;
  void place_outputs() const;
  bool are_seen() const;
  void plan();
  bool plan_shares(const Shape& places, double shared_cost);
  void run_turn(const Turn& turn, TaskClock& clock);
  void run_shares(TaskClock& clock);
  [[noreturn]] void refuse(const std::string& why) const;

  const OmStep& step_;
  TensorTable& tensors_;
  const BodyOwner owner_;
  const std::vector<std::int64_t> axes_, output_axes_;  ///< the last of the sliced ones
  const std::int64_t dims_;                             ///< how many these are
  const bool is_in_place_;
  const double part_cost_;
  AlignedMemory arena_;      ///< of whichever body runs
  std::vector<Part> parts_;  ///< the longest first
  std::vector<std::int64_t> lengths_;
  const PieceCosts piece_costs_;
  const int threads_;
  std::unique_ptr<WholeParts> whole_parts_;  ///< nullptr: each part is shared
  // Of the last run, for the next that has the same shapes.
  bool is_planned_ = false;
  std::vector<Shape> seen_;  ///< of inputs that are sliced
  std::vector<Turn> turns_;
  std::vector<std::vector<SlicePiece>> shares_;  ///< in place of turns
  std::int64_t slices_ = 0;
};

}  // namespace aoe::runtime
