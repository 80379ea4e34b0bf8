// byte_table: elementwise operators, and chains of them, from one tensor of bytes to one of bytes: whatever they compute is a
// table of 256 bytes, which the reference fills. Wins where there is more to compute than one or two steps: activations of
// quantised models.
//
// The table lies in vectors of words; two of them at a time give the word that a byte stands in, and a shift the byte.
#include <algorithm>

#include "compiler/emit/broadcast_layout.h"
#include "compiler/emit/epilogue.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/emit/packed_table.h"
#include "compiler/emit/strided_nest.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

constexpr int kEntries = 256, kWordBytes = 4;

/// The only input that is no constant; nullopt where there are more, or constants of several elements.
std::optional<std::size_t> table_input(const Task& task) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    const TaskInput& input = task.inputs[i];
    if (!input.is_present() || scalar_constant(input)) continue;
    if (found || input.constant) return {};
    found = i;
  }
  return found;
}

/// What the op makes of the bytes 0, 1, ..., in the order of their bits.
std::vector<std::uint8_t> table_of(const Task& task) {
  const std::size_t read = *table_input(task);
  Shape shape(task.in(read).shape.size(), 1);
  shape.back() = kEntries;
  std::vector<std::uint8_t> from(kEntries), table(kEntries);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint8_t>(i);
  std::vector<Tensor> inputs = task.tensors();
  inputs[read] = {{.dtype = task.in(read).dtype, .shape = shape}, from.data()};
  const Tensor output = {{.dtype = task.out().dtype, .shape = shape}, table.data()};
  reference::run(task.op, inputs, {&output, 1});
  return table;
}

StridedNest nest_of(const Task& task) {
  return {.extents = {element_count(task.out().shape)}, .strides = {{1}, {1}}};
}

class TableEmitter {
 public:
  TableEmitter(Builder& builder, Buffer table, int lanes) : builder_(builder), lanes_(lanes) {
    for (int at = 0; at < kEntries; at += kWordBytes * lanes)
      words_.push_back(builder.local(
          bits_as(builder.load_as(Type::kUint8, table, at, kWordBytes * lanes), Type::kInt32)));
  }

  /// Of bytes in lanes, with any bits above them; so are the results.
  Vec look_up(const Vec& bytes) const {
    const Vec byte = builder_.get(builder_.local(bit_and(bytes, number(kEntries - 1))));
    const Vec place = builder_.get(builder_.local(shift_right(byte, number(2))));
    const Vec bits = shift_left(bit_and(byte, number(kWordBytes - 1)), number(3));
    return shift_right(word(place, 0, words_.size()), bits);
  }

 private:
  Vec number(std::int64_t value) const { return int_splat(value, lanes_, Type::kInt32); }

  /// Of the words in vectors [begin, end).
  Vec word(const Vec& place, std::size_t begin, std::size_t end) const {
    if (end - begin == 2)
      return pick(place, builder_.get(words_[begin]), builder_.get(words_[begin + 1]));
    const std::size_t middle = begin + (end - begin) / 2;
    const Vec first_behind = number(static_cast<std::int64_t>(middle) * lanes_);
    return select(place < first_behind, word(place, begin, middle), word(place, middle, end));
  }

  Builder& builder_;
  int lanes_;
  std::vector<Local> words_;
};

class ByteTablePlan final : public NestPlan {
 public:
  ByteTablePlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : NestPlan(task, format, soc, nest_of(task), soc.vector_lanes()) {}

  double estimate_ns(const Schedule&) const override {
    constexpr double kEfficiency = 0.5;
    const std::int64_t words = kEntries / kWordBytes;
    const double vectors = static_cast<double>(words) / soc().vector_lanes();
    const double picked = soc().has_short_vectors() ? 2 * vectors : vectors;  // see Target::pick()
    const double flops = (6 + picked) * static_cast<double>(element_count(task().out().shape));
    return launch_ns(soc()) +
           std::max(compute_ns(soc(), flops, kEfficiency), memory_ns(soc(), bytes_moved(task())));
  }

  Kernel build(const Schedule& schedule) const override {
    Builder builder("byte_table");
    const KernelBuffers buffers = declare_buffers(builder, task(), {DataType::kUint8});
    const Buffer from = *buffers.inputs[*table_input(task())];
    const NestTiling tiling = this->tiling(schedule);
    builder.parallel(parallel_extent(nest(), tiling), [&](Int p) {
      const TableEmitter table(builder, buffers.constants[0], tiling.lanes);
      emit_nest(builder, nest(), tiling, p, [&](const NestPosition& at) {
        const Vec bytes =
            builder.load_as(Type::kInt32, from, at.offsets[1], tiling.lanes, at.active);
        builder.store(buffers.outputs[0], at.offsets[0], table.look_up(bytes), at.active);
      });
    });
    return jit_kernel(builder.finish(), {packed(table_of(task()))});
  }
};

class ByteTable final : public ImplBy<ByteTablePlan> {
 public:
  std::string_view name() const override { return "byte_table"; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    if (!reference::is_elementwise(task.op))
      return Unexpected(task.anchor().type + " is not elementwise");
    if (task.outputs.size() != 1) return Unexpected("there are several outputs");
    const auto read = table_input(task);
    if (!read) return Unexpected("more than one tensor is read");
    if (!is_byte(task.in(*read).dtype) || !is_byte(task.out().dtype))
      return Unexpected(to_string(task.in(*read)) + " to " + to_string(task.out()) +
                        ", needs bytes");
    if (task.in(*read).shape != task.out().shape || task.out().shape.empty())
      return Unexpected("stretches " + to_string(task.in(*read)));
    if (soc.vector_lanes() != 8 && soc.vector_lanes() != 16)
      return Unexpected("vectors of " + std::to_string(soc.vector_lanes()) + " lanes");
    for (const std::string& type : reference::op_types(task.op))
      if (!reference::ops().find(type)->is_deterministic)
        return Unexpected(type + " gives another number every time");
    return {};
  }

  /// Images in blocks only where no channel is padding, which stays zero.
  std::vector<FormatChoice> formats(const Task& task, const Soc& soc) const override {
    std::vector<FormatChoice> choices = {choice(task, "ND", Format::kND)};
    if (task.out().shape.size() != 4) return choices;
    if (task.out().shape[1] % soc.vector_lanes() == 0)
      choices.push_back(choice(task, "NC1HWC0", Format::kNC1HWC0));
    choices.push_back(choice(task, "NHWC", Format::kNHWC));
    return choices;
  }

 private:
  static FormatChoice choice(const Task& task, const std::string& name, Format format) {
    FormatChoice made = dense_format(task);
    made.name = name;
    made.inputs[*table_input(task)] = format;
    made.outputs[0] = format;
    return made;
  }
};

}  // namespace

void register_byte_table(ImplRegistry& registry) {
  registry.add(std::make_unique<ByteTable>());
}

}  // namespace aoe::compiler
