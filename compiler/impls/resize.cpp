// resize: generated Resize and Upsample of any mode, by tables of positions and weights that are known at compile time.
//
// Where the innermost dimension keeps its size (channels, in the image Formats), lanes run along it and each output is a
// weighted sum of whole vectors. Where it is resized (rows of NCHW), the other axes are blended into one row in scratch
// memory first, and lanes then pick its elements by the table: out of two neighbouring vectors of the row where these have
// all that a vector of outputs reads, else one by one.
#include "reference/resize.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/broadcast_layout.h"
#include "compiler/integer_math.h"
#include "compiler/kernel_buffers.h"
#include "compiler/packed_table.h"
#include "compiler/plain_task.h"
#include "compiler/roofline.h"
#include "reference/strided.h"

namespace aoe::compiler {
namespace {

using loopnest::Buffer;
using loopnest::Builder;
using loopnest::Int;
using loopnest::Vec;

constexpr std::int64_t kMostTaps = 64;  ///< of one output element: they are all written out

/// How one dimension is read: entry `tap * out + o` of both vectors belongs to output position o.
struct AxisTable {
  std::int64_t taps = 1;
  bool is_weighted = false;  ///< else every weight is 1
  std::vector<std::int32_t> positions;
  std::vector<float> weights;
};

AxisTable table_of(const std::vector<reference::ResampledPosition>& positions) {
  AxisTable table;
  for (const auto& p : positions) {
    table.taps = std::max(table.taps, static_cast<std::int64_t>(p.taps.size()));
    table.is_weighted |= p.taps.size() != 1 || p.taps[0].weight != 1;
  }
  for (std::size_t tap = 0; tap < static_cast<std::size_t>(table.taps); ++tap) {
    for (const auto& p : positions) {
      const bool is_there = tap < p.taps.size();
      table.positions.push_back(
          p.taps.empty() ? 0 : static_cast<std::int32_t>(p.taps[is_there ? tap : 0].position));
      table.weights.push_back(is_there ? static_cast<float>(p.taps[tap].weight) : 0.0f);
    }
  }
  return table;
}

/// How vectors of outputs read the row: each from its own place on, in two vectors at most.
struct RowPicks {
  std::vector<std::int32_t> begins;  ///< of each vector of outputs
  bool reads_two = false;  ///< else one vector of the row has all that a vector of outputs reads
};

/// From here on the table's positions count from where their vector begins. Nothing, and the table as it was, where the
/// outputs of a vector lie too far apart, or fewer than these are `readable` in the row.
std::optional<RowPicks> take_row_picks(AxisTable& table, std::int64_t out, std::int64_t readable,
                                       int lanes) {
  RowPicks picks;
  std::int32_t widest = 0;
  const auto each_of = [&](std::int64_t first, const auto& see) {
    for (std::int64_t tap = 0; tap < table.taps; ++tap)
      for (std::int64_t o = first; o < std::min(first + lanes, out); ++o)
        see(table.positions[static_cast<std::size_t>(tap * out + o)]);
  };
  for (std::int64_t first = 0; first < out; first += lanes) {
    std::int32_t least = std::numeric_limits<std::int32_t>::max(), most = 0;
    each_of(first, [&](std::int32_t& place) {
      least = std::min(least, place);
      most = std::max(most, place);
    });
    picks.begins.push_back(least);
    widest = std::max(widest, most - least + 1);
  }
  picks.reads_two = widest > lanes;
  const std::int64_t last_begin = readable - (picks.reads_two ? 2 * lanes : lanes);
  if (widest > 2 * lanes || last_begin < 0) return {};
  for (std::size_t group = 0; group < picks.begins.size(); ++group) {
    std::int32_t& begin = picks.begins[group];
    begin = std::min(begin, static_cast<std::int32_t>(last_begin));
    each_of(static_cast<std::int64_t>(group) * lanes, [&](std::int32_t& place) { place -= begin; });
  }
  return picks;
}

bool keeps_everything(const AxisTable& table, std::int64_t input) {
  if (table.is_weighted || table.taps != 1) return false;
  if (static_cast<std::int64_t>(table.positions.size()) != input) return false;
  for (std::size_t i = 0; i < table.positions.size(); ++i)
    if (table.positions[i] != static_cast<std::int32_t>(i)) return false;
  return true;
}

using Tables = std::vector<std::vector<reference::ResampledPosition>>;

Tables tables_of(const Task& task) {
  std::vector<Tensor> inputs;
  for (const TaskInput& input : task.inputs)
    inputs.push_back(input.constant ? input.constant->view() : Tensor{input.desc, nullptr});
  return reference::resize_tables(task.op, inputs);
}

struct ResizedDimension {
  std::int64_t in = 1, out = 1;
  std::optional<AxisTable> table;  ///< none: kept as it is
  std::int64_t in_stride = 1, out_stride = 1;
};

/// The dimensions in the order of memory; neighbours that are kept are one.
std::vector<ResizedDimension> dimensions_of(const Task& task, Format main, int c0) {
  constexpr std::size_t kNhwc[] = {0, 2, 3, 1};
  const Shape in = iteration_extents(task.in(0).shape, main, c0);
  const Shape out = iteration_extents(task.out().shape, main, c0);
  const Tables tables = tables_of(task);
  std::vector<ResizedDimension> dimensions;
  for (std::size_t d = 0; d < in.size(); ++d) {
    ResizedDimension dimension{.in = in[d], .out = out[d], .table = {}};
    const std::size_t logical = main == Format::kNHWC ? kNhwc[d] : d;
    const bool is_channel = main != Format::kND && (logical == 1 || d == 4);  // C, C1 or C0
    if (!is_channel) {
      AxisTable table = table_of(tables[logical]);
      if (!keeps_everything(table, in[d])) dimension.table = std::move(table);
    }
    if (!dimensions.empty() && !dimension.table && !dimensions.back().table) {
      dimensions.back().in *= in[d];
      dimensions.back().out *= out[d];
    } else {
      dimensions.push_back(std::move(dimension));
    }
  }
  if (dimensions.size() == 1) dimensions.insert(dimensions.begin(), ResizedDimension{});
  for (std::size_t d = dimensions.size() - 1; d-- > 0;) {
    dimensions[d].in_stride = dimensions[d + 1].in_stride * dimensions[d + 1].in;
    dimensions[d].out_stride = dimensions[d + 1].out_stride * dimensions[d + 1].out;
  }
  return dimensions;
}

std::int64_t taps_of(const std::vector<ResizedDimension>& dimensions) {
  std::int64_t taps = 1;
  for (const ResizedDimension& dimension : dimensions)
    if (dimension.table) taps *= dimension.table->taps;
  return taps;
}

/// A vector that an output is made of: where it begins, and what it counts (nothing: 1).
struct Source {
  Int offset;
  std::optional<Vec> weight;
};

class Emitter {
 public:
  Emitter(Builder& builder, const std::vector<ResizedDimension>& dimensions,
          const std::optional<RowPicks>& picks, const KernelBuffers& buffers, int lanes)
      : builder_(builder),
        dimensions_(dimensions),
        picks_(picks),
        x_(*buffers.inputs[0]),
        y_(buffers.outputs[0]),
        lanes_(lanes) {
    std::size_t next = 0;
    for (const ResizedDimension& dimension : dimensions) {
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

/// Is a row to pick from a weighted sum, rather than a row of the input?
bool blends_rows(const std::vector<ResizedDimension>& dimensions) {
  return std::any_of(dimensions.begin(), dimensions.end() - 1,
                     [](const ResizedDimension& dimension) {
                       return dimension.table && dimension.table->is_weighted;
                     });
}

std::int64_t parallel_extent(const std::vector<ResizedDimension>& dimensions) {
  const std::size_t inner = dimensions.back().table ? 1 : 2;
  std::int64_t extent = 1;
  for (std::size_t d = 0; d + inner < dimensions.size(); ++d) extent *= dimensions[d].out;
  return extent;
}

class ResizePlan final : public Plan {
 public:
  ResizePlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : Plan(task, format, soc),
        dimensions_(dimensions_of(task, format.outputs[0], soc.vector_lanes)) {
    ResizedDimension& last = dimensions_.back();
    if (!last.table) return;
    row_elements_ =
        blends_rows(dimensions_) ? std::max<std::int64_t>(last.in, 2 * soc.vector_lanes) : last.in;
    picks_ = take_row_picks(*last.table, last.out, row_elements_, soc.vector_lanes);
  }

  Features features(const Schedule&) const override {
    return {{"bytes", bytes_moved(task())},
            {"taps", static_cast<double>(taps_of(dimensions_))},
            {"picks", !dimensions_.back().table ? 0.0
                      : picks_                  ? 0.2
                                                : 1.0},
            {"balance", parallel_balance(soc(), parallel_extent(dimensions_))}};
  }

  double estimate_ns(const Schedule&) const override {
    const double busy_ns = dimensions_.back().table ? picked_rows_ns() : kept_vectors_ns();
    const double balance = parallel_balance(soc(), parallel_extent(dimensions_));
    return launch_ns(soc()) +
           std::max(busy_ns / soc().threads / balance, memory_ns(soc(), stored_bytes()));
  }

  Kernel build(const Schedule&) const override {
    Kernel kernel = kernel_for("jit");
    std::vector<DataType> types;
    for (const ResizedDimension& dimension : dimensions_) {
      if (!dimension.table) continue;
      kernel.constants.push_back(packed(dimension.table->positions));
      types.push_back(DataType::kInt32);
      if (!dimension.table->is_weighted) continue;
      kernel.constants.push_back(packed(dimension.table->weights));
      types.push_back(DataType::kFloat);
    }
    if (picks_) {
      kernel.constants.push_back(packed(picks_->begins));
      types.push_back(DataType::kInt32);
    }
    Builder builder("resize");
    const KernelBuffers buffers = declare_buffers(builder, task(), types);
    Emitter emitter(builder, dimensions_, picks_, buffers, soc().vector_lanes);
    std::optional<Buffer> scratch;
    if (dimensions_.back().table && blends_rows(dimensions_))
      scratch = builder.scratch("row", row_elements_);
    builder.parallel(parallel_extent(dimensions_), [&](Int p) {
      if (dimensions_.back().table) {
        emitter.along_resized(p, scratch);
      } else {
        emitter.along_kept(p);
      }
    });
    kernel.stages.push_back(builder.finish());
    return kernel;
  }

 private:
  // Nanoseconds, measured on a Zen 3 (8 lanes), where writing a part of a vector takes seven.

  double vectors(std::int64_t elements) const {
    return static_cast<double>(round_up(elements, soc().vector_lanes)) / soc().vector_lanes;
  }
  double part_ns(std::int64_t elements) const {
    if (elements % soc().vector_lanes == 0) return 0;
    return soc().vector_lanes == 8 ? 7 : 1;
  }

  /// Of all rows of outputs, whose innermost dimension is resized.
  double picked_rows_ns() const {
    const ResizedDimension& last = dimensions_.back();
    const auto taps = static_cast<double>(last.table->taps);
    // A gather reads its lanes one by one; two vectors are two permutations and a choice, or one instruction.
    const double gather_ns = 0.5 * soc().vector_lanes,
                 pick_ns = picks_ && picks_->reads_two && soc().vector_lanes == 8 ? 0.7 : 0.35;
    double row_ns =
        12 + part_ns(last.out) + vectors(last.out) * (0.5 + taps * (picks_ ? pick_ns : gather_ns));
    if (blends_rows(dimensions_))
      row_ns += part_ns(last.in) +
                vectors(last.in) * 0.4 * static_cast<double>(taps_of(dimensions_)) / taps;
    return row_ns * outputs() / static_cast<double>(last.out);
  }

  double kept_vectors_ns() const {
    const std::int64_t channels = dimensions_.back().out;
    const double pixel_ns =
        vectors(channels) * (0.8 + 0.17 * static_cast<double>(taps_of(dimensions_))) +
        part_ns(channels);
    return pixel_ns * outputs() / static_cast<double>(channels);
  }

  /// With the lanes that blocks of channels are filled up with.
  double outputs() const {
    return static_cast<double>(dimensions_[0].out) * static_cast<double>(dimensions_[0].out_stride);
  }
  double stored_bytes() const {
    const double inputs =
        static_cast<double>(dimensions_[0].in) * static_cast<double>(dimensions_[0].in_stride);
    return (inputs + outputs()) * static_cast<double>(size_bytes(task().out().dtype));
  }

  std::vector<ResizedDimension> dimensions_;
  std::int64_t row_elements_ = 0;  ///< that may be read where the innermost dimension is resized
  std::optional<RowPicks> picks_;
};

class Resize final : public ImplBy<ResizePlan> {
 public:
  std::string_view name() const override { return "resize"; }
  int version() const override { return 2; }
  /// Taps of weight 0 are multiplied like others.
  NotFinite not_finite() const override { return NotFinite::kAndAround; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (auto plain = supports_plain(task, {"Resize", "Upsample"}); !plain) return plain;
    for (std::size_t i = 1; i < task.inputs.size(); ++i) {
      if (task.inputs[i].is_present() && !task.inputs[i].constant)
        return Unexpected("input " + std::to_string(i) + " is not constant");
    }
    if (element_count(task.in(0).shape) == 0 || task.in(0).shape.empty())
      return Unexpected("no elements along an axis: " + to_string(task.in(0)));
    for (const auto& table : tables_of(task)) {
      if (std::ranges::any_of(table, &reference::ResampledPosition::is_outside))
        return Unexpected("crops beyond the image");
    }
    const std::int64_t taps = taps_of(dimensions_of(task, Format::kND, 1));
    if (taps > kMostTaps)
      return Unexpected(std::to_string(taps) + " elements behind each output, at most " +
                        std::to_string(kMostTaps));
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    std::vector<FormatChoice> choices = {plain_format(task, "ND", Format::kND)};
    const Shape& shape = task.in(0).shape;
    if (shape.size() != 4 || !keeps_everything(table_of(tables_of(task)[1]), shape[1]))
      return choices;
    choices.push_back(plain_format(task, "NC1HWC0", Format::kNC1HWC0));
    choices.push_back(plain_format(task, "NHWC", Format::kNHWC));
    return choices;
  }
};

}  // namespace

void register_resize(ImplRegistry& registry) {
  registry.add(std::make_unique<Resize>());
}

}  // namespace aoe::compiler
