// resize: generated Resize and Upsample of any mode, by tables of positions and weights that are known at compile time.
//
// Where the innermost dimension keeps its size (channels, in the image Formats), lanes run along it and each output is a
// weighted sum of whole vectors. Where it is resized (rows of NCHW), the other axes are blended into one row in scratch
// memory first, and lanes then pick its elements by the table.
#include "reference/resize.h"

#include <algorithm>
#include <optional>

#include "compiler/broadcast_layout.h"
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
          const KernelBuffers& buffers, int lanes)
      : builder_(builder),
        dimensions_(dimensions),
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
    const Int to = output_offset(at), from = scratch ? Int(0) : sources[0].offset;
    const TableBuffers& table = tables_.back();
    loopnest::vector_loop(builder_, "out", last.out, lanes_, [&](Int v, std::optional<Int> active) {
      std::optional<Vec> sum;
      for (std::int64_t tap = 0; tap < last.table->taps; ++tap) {
        const Int entry = v + tap * last.out;
        const Vec x = builder_.load_indexed(scratch.value_or(x_), from, *table.positions, entry,
                                            lanes_, active);
        sum = table.weights ? weighted(sum, x, builder_.load(*table.weights, entry, lanes_, active))
                            : x;
      }
      builder_.store(y_, to + v, *sum, active);
    });
  }

 private:
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
        dimensions_(dimensions_of(task, format.outputs[0], soc.vector_lanes)) {}

  Features features(const Schedule&) const override {
    return {{"bytes", bytes_moved(task())},
            {"taps", static_cast<double>(taps_of(dimensions_))},
            {"picks", dimensions_.back().table ? 1.0 : 0.0},
            {"balance", parallel_balance(soc(), parallel_extent(dimensions_))}};
  }

  double estimate_ns(const Schedule&) const override {
    constexpr double kEfficiency = 0.2, kPickNs = 0.5;  // a gather reads its lanes one by one
    const auto elements = static_cast<double>(element_count(task().out().shape));
    const double flops = 2 * elements * static_cast<double>(taps_of(dimensions_));
    const double picks = dimensions_.back().table
                             ? elements * static_cast<double>(dimensions_.back().table->taps)
                             : 0;
    const double balance = parallel_balance(soc(), parallel_extent(dimensions_));
    const double busy_ns =
        (compute_ns(soc(), flops, kEfficiency) + picks * kPickNs / soc().threads);
    return launch_ns(soc()) + std::max(busy_ns / balance, memory_ns(soc(), bytes_moved(task())));
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
    Builder builder("resize");
    const KernelBuffers buffers = declare_buffers(builder, task(), types);
    Emitter emitter(builder, dimensions_, buffers, soc().vector_lanes);
    std::optional<Buffer> scratch;
    if (dimensions_.back().table && blends_rows(dimensions_))
      scratch = builder.scratch("row", dimensions_.back().in);
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
  std::vector<ResizedDimension> dimensions_;
};

class Resize final : public ImplBy<ResizePlan> {
 public:
  std::string_view name() const override { return "resize"; }
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
