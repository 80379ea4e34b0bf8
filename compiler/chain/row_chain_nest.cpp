// Writes the loop nest of a row chain.
#include <algorithm>
#include <string>

#include "compiler/chain/row_chain.h"
#include "compiler/conv/image_store.h"
#include "compiler/emit/kernel_buffers.h"

namespace aoe::compiler {
namespace {

/// What one member reads and writes, and its constants among the kernel's.
struct MemberPlace {
  ImageLayout in;
  ImageStore store;
  std::size_t first_constant = 0, constant_count = 0;
  KernelBuffers buffers = {};
};

/// The first input row that output row `row` needs, and one behind the last that the rows before `end` do.
Int first_needed(const WindowAxis& axis, Int row) {
  return max(row * axis.stride - axis.pad_begin, 0);
}
Int end_needed(const WindowAxis& axis, Int end) {
  return min((end - 1) * axis.stride - axis.pad_begin + axis.reach(), axis.input);
}

class RowChainNest {
 public:
  RowChainNest(const Task& chain, const RowChain& cut) : cut_(cut), builder_("row_chain") {
    for (std::size_t i = 0; i < count(); ++i) place(i);
    const KernelBuffers buffers = declare_buffers(builder_, chain, constants_.size(), false);
    for (std::size_t i = 0; i < count(); ++i) connect(i, buffers);
  }

  Kernel build() {
    const std::int64_t strips = cut_.tiling().strips, rows = cut_.out_rows();
    builder_.parallel(cut_.parallel_extent(), [&](Int piece) {
      const Int strip = piece % strips;
      const Int begin = strip * rows / strips, end = (strip + 1) * rows / strips;
      builder_.loop("step", begin, end, cut_.tiling().step_rows,
                    [&](Int row) { write_step(piece / strips, row, begin, end); });
    });
    return jit_kernel(builder_.finish(), std::move(constants_));
  }

 private:
  std::size_t count() const { return cut_.members().size(); }
  const RowMember& member(std::size_t i) const { return cut_.members()[i]; }
  bool is_last(std::size_t i) const { return i + 1 == count(); }

  void place(std::size_t i) {
    const Task& task = member(i).member.task;
    const FormatChoice& format = member(i).format;
    const int lanes = cut_.lanes();
    MemberPlace place{
        .in = i == 0 ? image_layout(task.in(0).shape, format.inputs[0], lanes) : cut_.ring(i - 1),
        .store = is_last(i) ? ImageStore(task, format, lanes)
                            : ImageStore(task, format, lanes, cut_.ring(i))};
    std::vector<PackedConstant> own;
    if (const auto* direct = std::get_if<DirectCut>(&member(i).cut)) {
      own = direct_constants(task, *direct);
    } else if (const auto* depthwise = std::get_if<DepthwiseCut>(&member(i).cut)) {
      DepthwiseConstants made = depthwise_constants(task, *depthwise);
      own = {std::move(made.weights), std::move(made.bias)};
    }
    place.store.add_constants(own);
    place.first_constant = constants_.size();
    place.constant_count = own.size();
    std::ranges::move(own, std::back_inserter(constants_));
    places_.push_back(std::move(place));
  }

  void connect(std::size_t i, const KernelBuffers& all) {
    KernelBuffers& own = places_[i].buffers;
    for (const int input : member(i).member.chain_inputs)
      own.inputs.push_back(input < 0 ? std::optional(ring_) : all.inputs[input]);
    if (is_last(i)) {
      own.outputs = all.outputs;
    } else {
      ring_ = builder_.scratch("ring" + std::to_string(i), ring_elements(cut_.ring(i)));
      own.outputs = {ring_};
    }
    const auto first =
        all.constants.begin() + static_cast<std::ptrdiff_t>(places_[i].first_constant);
    own.constants.assign(first, first + static_cast<std::ptrdiff_t>(places_[i].constant_count));
  }

  /// The last member's rows [row, row + step_rows) of a strip, and before them those rows of the others that are needed
  /// and not there yet: all at the start of the strip, later those below what the step before needed.
  void write_step(Int n, Int row, Int strip_begin, Int strip_end) {
    struct Rows {
      Int begin, end;
    };
    std::vector<Rows> rows(count(), {row, min(row + cut_.tiling().step_rows, strip_end)});
    const Int is_later = min(row - strip_begin, 1);
    Int first = row, done = row;  // needed first by this step; one behind what the step before had
    for (std::size_t i = count() - 1; i > 0; --i) {
      const WindowAxis axis = member(i).rows();
      first = first_needed(axis, first);
      done = end_needed(axis, done);
      rows[i - 1] = {max(first, done * is_later), end_needed(axis, rows[i].end)};
    }
    for (std::size_t i = 0; i < count(); ++i) {
      const MemberPlace& at = places_[i];
      write_rows(member(i).cut, {at.in, at.store, at.buffers, n, rows[i].begin, rows[i].end});
    }
  }

  void write_rows(const RowCut& cut, const RowsOf& rows) {
    if (const auto* direct = std::get_if<DirectCut>(&cut)) {
      write_direct_rows(builder_, *direct, rows);
    } else if (const auto* depthwise = std::get_if<DepthwiseCut>(&cut)) {
      write_depthwise_rows(builder_, *depthwise, rows);
    } else {
      write_pool_rows(builder_, std::get<PoolCut>(cut), rows);
    }
  }

  const RowChain& cut_;
  Builder builder_;
  std::vector<PackedConstant> constants_;
  std::vector<MemberPlace> places_;
  Buffer ring_{-1};  ///< of the member connected last
};

}  // namespace

Kernel build_row_chain(const Task& chain, const RowChain& cut) {
  return RowChainNest(chain, cut).build();
}

}  // namespace aoe::compiler
