// See resize_nest.h.
#include "compiler/resize/resize_nest.h"

#include "compiler/emit/kernel_buffers.h"
#include "compiler/emit/packed_table.h"

namespace aoe::compiler {
namespace {

/// A vector that an output is made of: where it begins, and what it counts (nothing: 1).
struct Source {
  Int offset;
  std::optional<Vec> weight;
};

class ResizeNest {
 public:
  ResizeNest(Builder& builder, const ResizeAxes& axes, const KernelBuffers& buffers, int lanes)
      : builder_(builder),
        dimensions_(axes.dimensions),
        picks_(axes.picks),
        x_(*buffers.inputs[0]),
        y_(buffers.outputs[0]),
        lanes_(lanes) {
    std::size_t next = 0;
    for (const ResizedDimension& dimension : dimensions_) {
      tables_.push_back({});
      if (!dimension.table) continue;
      tables_.back().positions = buffers.constants[next++];
      if (dimension.table->is_weighted) tables_.back().weights = buffers.constants[next++];
    }
    if (picks_) begins_ = buffers.constants[next];
  }

  /// Lanes along a dimension that is kept; the one before it is a loop.
  void along_kept(Int p) {
    const std::size_t row = dimensions_.size() - 2;
    std::vector<Int> at = coordinates(p, row);
    builder_.loop("row", 0, dimensions_[row].out, 1, [&](Int i) {
      std::vector<Int> here = at;
      here.push_back(i);
      const std::vector<Source> sources = sources_of(here);
      const Int to = output_offset(here);
      loopnest::vector_loop(builder_, "i", dimensions_.back().out, lanes_,
                            [&](Int v, std::optional<Int> active) {
                              builder_.store(y_, to + v, blend(sources, v, active), active);
                            });
    });
  }

  /// Lanes along a dimension that is resized: `scratch` holds the row they pick from.
  void along_resized(Int p, std::optional<Buffer> scratch) {
    const ResizedDimension& last = dimensions_.back();
    const std::vector<Int> at = coordinates(p, dimensions_.size() - 1);
    const std::vector<Source> sources = sources_of(at);
    if (scratch) {
      loopnest::vector_loop(builder_, "in", last.in, lanes_, [&](Int v, std::optional<Int> active) {
        builder_.store(*scratch, v, blend(sources, v, active), active);
      });
    }
    const Int to = output_offset(at);
    const Row row{scratch.value_or(x_), scratch ? Int(0) : sources[0].offset};
    const TableBuffers& table = tables_.back();
    loopnest::vector_loop(builder_, "out", last.out, lanes_, [&](Int v, std::optional<Int> active) {
      const std::vector<Vec> near = picks_ ? neighbours(row, v) : std::vector<Vec>{};
      std::optional<Vec> sum;
      for (std::int64_t tap = 0; tap < last.table->taps; ++tap) {
        const Int entry = v + tap * last.out;
        const Vec x = picks_ ? pick(builder_.load_as(loopnest::Type::kInt32, *table.positions,
                                                     entry, lanes_, active),
                                    near.front(), near.back())
                             : builder_.load_indexed(row.buffer, row.begin, *table.positions, entry,
                                                     lanes_, active);
        sum = table.weights ? weighted(sum, x, builder_.load(*table.weights, entry, lanes_, active))
                            : x;
      }
      builder_.store(y_, to + v, *sum, active);
    });
  }

 private:
  struct Row {
    Buffer buffer;
    Int begin;
  };

  /// The one or two vectors of the row that the outputs from `v` on are made of.
  std::vector<Vec> neighbours(const Row& row, Int v) {
    const Int from = row.begin + builder_.load_int(*begins_, v / lanes_);
    std::vector<Vec> found;
    for (int i = 0; i < (picks_->reads_two ? 2 : 1); ++i)
      found.push_back(
          builder_.get(builder_.local(builder_.load(row.buffer, from + i * lanes_, lanes_))));
    return found;
  }

  struct TableBuffers {
    std::optional<Buffer> positions, weights;
  };

  static Vec weighted(const std::optional<Vec>& sum, Vec x, Vec weight) {
    return sum ? fma(x, weight, *sum) : x * weight;
  }

  /// Output coordinates of the first `count` dimensions.
  std::vector<Int> coordinates(Int p, std::size_t count) const {
    std::vector<Int> at(count, Int(0));
    for (std::size_t d = count; d-- > 0;) {
      at[d] = p % dimensions_[d].out;
      p = p / dimensions_[d].out;
    }
    return at;
  }

  Int output_offset(const std::vector<Int>& at) const {
    Int offset = 0;
    for (std::size_t d = 0; d < at.size(); ++d) offset = offset + at[d] * dimensions_[d].out_stride;
    return offset;
  }

  /// All combinations of the taps of the given coordinates.
  std::vector<Source> sources_of(const std::vector<Int>& at) {
    std::vector<Source> sources = {{Int(0), {}}};
    for (std::size_t d = 0; d < at.size(); ++d) {
      const ResizedDimension& dimension = dimensions_[d];
      if (!dimension.table) {
        for (Source& s : sources) s.offset = s.offset + at[d] * dimension.in_stride;
        continue;
      }
      std::vector<Source> combined;
      for (std::int64_t tap = 0; tap < dimension.table->taps; ++tap) {
        const Int entry = at[d] + tap * dimension.out;
        const Int position = builder_.load_int(*tables_[d].positions, entry) * dimension.in_stride;
        std::optional<Vec> weight;
        if (tables_[d].weights)
          weight = builder_.load_broadcast(*tables_[d].weights, entry, lanes_);
        for (const Source& s : sources) {
          std::optional<Vec> both = s.weight ? s.weight : weight;
          if (s.weight && weight) both = *s.weight * *weight;
          if (both) both = builder_.get(builder_.local(*both));
          combined.push_back({s.offset + position, both});
        }
      }
      sources = std::move(combined);
    }
    return sources;
  }

  Vec blend(const std::vector<Source>& sources, Int v, std::optional<Int> active) const {
    std::optional<Vec> sum;
    for (const Source& s : sources) {
      const Vec x = builder_.load(x_, s.offset + v, lanes_, active);
      sum = s.weight ? weighted(sum, x, *s.weight) : x;
    }
    return *sum;
  }

  Builder& builder_;
  const std::vector<ResizedDimension>& dimensions_;
  const std::optional<RowPicks>& picks_;
  std::optional<Buffer> begins_;  ///< of picks_
  Buffer x_, y_;
  int lanes_;
  std::vector<TableBuffers> tables_;  ///< by dimension
};

}  // namespace

Kernel build_resize(const Task& task, const ResizeAxes& axes, int lanes) {
  Kernel kernel = kernel_for("jit");
  std::vector<Elements> types;
  for (const ResizedDimension& dimension : axes.dimensions) {
    if (!dimension.table) continue;
    kernel.constants.push_back(packed(dimension.table->positions));
    types.push_back(DataType::kInt32);
    if (!dimension.table->is_weighted) continue;
    kernel.constants.push_back(packed(dimension.table->weights));
    types.push_back(DataType::kFloat);
  }
  if (axes.picks) {
    kernel.constants.push_back(packed(axes.picks->begins));
    types.push_back(DataType::kInt32);
  }
  Builder builder("resize");
  const KernelBuffers buffers = declare_buffers(builder, task, types);
  ResizeNest nest(builder, axes, buffers, lanes);
  std::optional<Buffer> scratch;
  if (axes.last().table && axes.blends_rows()) scratch = builder.scratch("row", axes.row_elements);
  builder.parallel(axes.parallel_extent(), [&](Int p) {
    if (axes.last().table) {
      nest.along_resized(p, scratch);
    } else {
      nest.along_kept(p);
    }
  });
  kernel.stages.push_back(builder.finish());
  return kernel;
}

}  // namespace aoe::compiler
