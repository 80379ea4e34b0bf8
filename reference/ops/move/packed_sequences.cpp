// Ours: what models do with sequences whose length only a run can tell, packed into bytes (reference/packed_sequence.h).
// Those that give an item or its like are told its "dtype" and "rank"; the rest of it is found when they run.
#include <algorithm>
#include <cstring>
#include <optional>

#include "reference/elements/onnx_data_type.h"
#include "reference/elements/typed.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/packed_sequence.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/indices.h"

namespace aoe::reference {
namespace {

using Items = std::vector<Tensor>;

/// What an operator makes of its inputs: the items of the sequence that it gives. Nothing to be known before a run.
using ItemsFn = Items (*)(const Attrs&, std::span<const Tensor>);

bool are_known(std::span<const Tensor> inputs) {
  return std::ranges::all_of(inputs, [](const Tensor& input) {
    return !input.is_present() || input.data != nullptr || input.elements() == 0;
  });
}

std::size_t place_of(std::span<const Tensor> inputs, std::size_t input, std::size_t absent,
                     std::size_t end) {
  if (input >= inputs.size() || !inputs[input].is_present()) return absent;
  const std::vector<std::int64_t> numbers = read_ints(inputs[input]);
  if (numbers.size() != 1) fail_model("a position is not one number");
  const std::int64_t given = numbers[0];
  const std::int64_t place = given < 0 ? given + static_cast<std::int64_t>(end) : given;
  if (place < 0 || place > static_cast<std::int64_t>(end))
    fail_model("position " + std::to_string(given) + " of a sequence of " + std::to_string(end));
  return static_cast<std::size_t>(place);
}

std::size_t item_place(const Items& items, std::span<const Tensor> inputs) {
  const std::size_t last = items.empty() ? 0 : items.size() - 1;
  const std::size_t place = place_of(inputs, 1, last, items.size());
  if (place >= items.size())
    fail_model("position " + std::to_string(place) + " of a sequence of " +
               std::to_string(items.size()));
  return place;
}

Items all_of(const Attrs&, std::span<const Tensor> inputs) {
  return {inputs.begin(), inputs.end()};
}

Items with_inserted(const Attrs&, std::span<const Tensor> inputs) {
  Items items = unpacked_items(inputs[0]);
  const std::size_t place = place_of(inputs, 2, items.size(), items.size());
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(place), inputs[1]);
  return items;
}

Items with_erased(const Attrs&, std::span<const Tensor> inputs) {
  Items items = unpacked_items(inputs[0]);
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(item_place(items, inputs)));
  return items;
}

OpDef sequence_op(std::string type, OpSignature signature, ItemsFn items_of) {
  OpDef def{.type = std::move(type),
            .onnx_type = "",
            .signature = std::move(signature),
            .kind = OpKind::kMove};
  def.infer = [items_of](const InferContext& ctx) -> std::vector<TensorDesc> {
    if (!are_known(ctx.inputs)) return {{.dtype = DataType::kUint8, .shape = {kUnknownDim}}};
    return {packed_desc(items_of(ctx.attrs, ctx.inputs))};
  };
  def.compute = [items_of](const OpContext& ctx) {
    pack_items(items_of(ctx.attrs, ctx.inputs), ctx.outputs[0]);
  };
  def.infers_from_values = true;
  return def;
}

// ---- parts of one size along an axis, as SplitToSequence has them ----

struct Parts {
  AxisView view;
  std::size_t axis;
  std::int64_t size;
};

Parts parts_of(const Attrs& attrs, std::span<const Tensor> inputs) {
  const Shape& shape = inputs[0].desc.shape;
  const std::size_t axis = normalize_axis(attrs.get_int("axis", 0), shape.size());
  const std::vector<std::int64_t> size = read_ints(inputs[1]);
  if (size.size() != 1 || size[0] < 1) fail_model("it splits into parts of no size");
  return {view_axis(shape, axis), axis, size[0]};
}

std::vector<TensorDesc> descs_of(const Parts& parts, const TensorDesc& whole) {
  std::vector<TensorDesc> descs;
  for (std::int64_t begin = 0; begin < parts.view.dim; begin += parts.size) {
    descs.push_back(whole);
    descs.back().shape[parts.axis] = std::min(parts.size, parts.view.dim - begin);
  }
  return descs;
}

std::vector<TensorDesc> infer_split(const InferContext& ctx) {
  if (!are_known(ctx.inputs)) return {{.dtype = DataType::kUint8, .shape = {kUnknownDim}}};
  Items items;
  for (TensorDesc& desc : descs_of(parts_of(ctx.attrs, ctx.inputs), ctx.inputs[0].desc))
    items.push_back({std::move(desc), nullptr});
  return {packed_desc(items)};
}

void compute_split(const OpContext& ctx) {
  const Tensor& whole = ctx.inputs[0];
  const Parts parts = parts_of(ctx.attrs, ctx.inputs);
  const std::size_t row =
      static_cast<std::size_t>(parts.view.inner) * element_bytes(whole.desc.dtype);
  std::vector<std::vector<char>> bytes;
  Items items;
  std::int64_t begin = 0;
  for (const TensorDesc& desc : descs_of(parts, whole.desc)) {
    const auto part = static_cast<std::size_t>(desc.shape[parts.axis]) * row;
    std::vector<char>& to = bytes.emplace_back(storage_bytes(desc));
    for (std::int64_t o = 0; o < parts.view.outer && part > 0; ++o)
      std::memcpy(to.data() + static_cast<std::size_t>(o) * part,
                  whole.as<char>() + static_cast<std::size_t>(o * parts.view.dim + begin) * row,
                  part);
    items.push_back({desc, to.data()});
    begin += desc.shape[parts.axis];
  }
  pack_items(items, ctx.outputs[0]);
}

// ---- back to tensors ----

TensorDesc told_desc(const Attrs& attrs) {
  return {.dtype = data_type_from_onnx(attrs.get_int("dtype", 0)),
          .shape = Shape(static_cast<std::size_t>(attrs.get_int("rank", 0)), kUnknownDim)};
}

void check_told(const TensorDesc& desc, const Attrs& attrs) {
  const TensorDesc told = told_desc(attrs);
  if (desc.dtype != told.dtype || desc.shape.size() != told.shape.size())
    fail_model("the sequence holds " + to_string(desc) + ", expected " + to_string(told));
}

std::vector<TensorDesc> infer_at(const InferContext& ctx) {
  if (!are_known(ctx.inputs)) return {told_desc(ctx.attrs)};
  const Items items = unpacked_items(ctx.inputs[0]);
  const TensorDesc& desc = items[item_place(items, ctx.inputs)].desc;
  check_told(desc, ctx.attrs);
  return {desc};
}

void compute_at(const OpContext& ctx) {
  const Items items = unpacked_items(ctx.inputs[0]);
  const Tensor& item = items[item_place(items, ctx.inputs)];
  if (const std::size_t bytes = storage_bytes(item.desc); bytes > 0)
    std::memcpy(ctx.outputs[0].data, item.data, bytes);
}

std::vector<TensorDesc> infer_length(const InferContext&) {
  return {{.dtype = DataType::kInt64}};
}

void compute_length(const OpContext& ctx) {
  *ctx.outputs[0].as<std::int64_t>() = std::ssize(unpacked_items(ctx.inputs[0]));
}

std::size_t joining_axis(const Attrs& attrs, std::size_t rank, bool is_new) {
  return normalize_axis(attrs.get_int("axis", 0), rank + (is_new ? 1 : 0));
}

std::vector<TensorDesc> infer_concat(const InferContext& ctx) {
  const bool is_new = ctx.attrs.get_int("new_axis", 0) != 0;
  TensorDesc out = told_desc(ctx.attrs);
  const std::size_t axis = joining_axis(ctx.attrs, out.shape.size(), is_new);
  if (!are_known(ctx.inputs)) {
    if (is_new) out.shape.push_back(kUnknownDim);
    return {out};
  }
  const Items items = unpacked_items(ctx.inputs[0]);
  if (items.empty()) fail_model("it joins an empty sequence");
  std::int64_t length = 0;
  for (const Tensor& item : items) {
    check_told(item.desc, ctx.attrs);
    Shape others = item.desc.shape, first = items[0].desc.shape;
    if (!is_new) {
      length += others[axis];
      others[axis] = first[axis];
    }
    if (others != first)
      fail_model("it joins " + to_string(item.desc) + " and " + to_string(items[0].desc));
  }
  out.shape = items[0].desc.shape;
  if (is_new)
    out.shape.insert(out.shape.begin() + static_cast<std::ptrdiff_t>(axis), std::ssize(items));
  else
    out.shape[axis] = length;
  return {out};
}

void compute_concat(const OpContext& ctx) {
  const bool is_new = ctx.attrs.get_int("new_axis", 0) != 0;
  const Items items = unpacked_items(ctx.inputs[0]);
  const Shape& first = items[0].desc.shape;
  const std::size_t axis = joining_axis(ctx.attrs, first.size(), is_new);
  const std::int64_t outer = dim_product(first, 0, axis);
  char* to = ctx.outputs[0].as<char>();
  for (std::int64_t o = 0; o < outer; ++o)
    for (const Tensor& item : items) {
      const std::size_t row =
          static_cast<std::size_t>(dim_product(item.desc.shape, axis, item.desc.shape.size())) *
          element_bytes(item.desc.dtype);
      if (row > 0) std::memcpy(to, item.as<char>() + static_cast<std::size_t>(o) * row, row);
      to += row;
    }
}

}  // namespace

void register_packed_sequences(OpRegistry& registry) {
  registry.add(sequence_op("SequencePack", {"a*"}, all_of));
  registry.add(sequence_op("PackedInsert", {"u:1 a x?:0-1"}, with_inserted));
  registry.add(sequence_op("PackedErase", {"u:1 x?:0-1"}, with_erased));
  registry.add({.type = "PackedSplit",
                .onnx_type = "",
                .signature = {"a:1+ x:0-1", "axis=int"},
                .kind = OpKind::kMove,
                .infer = infer_split,
                .compute = compute_split,
                .min_inputs = 2,
                .infers_from_values = true});
  registry.add({.type = "PackedAt",
                .onnx_type = "",
                .signature = {"u:1 x?:0-1", "!dtype=1.. !rank=0..64"},
                .kind = OpKind::kMove,
                .infer = infer_at,
                .compute = compute_at,
                .infers_from_values = true});
  registry.add({.type = "PackedLength",
                .onnx_type = "",
                .signature = {"u:1"},
                .kind = OpKind::kMove,
                .infer = infer_length,
                .compute = compute_length});
  registry.add({.type = "PackedConcat",
                .onnx_type = "",
                .signature = {"u:1", "!dtype=1.. !rank=0..64 axis=int new_axis=0..1"},
                .kind = OpKind::kMove,
                .infer = infer_concat,
                .compute = compute_concat,
                .infers_from_values = true});
}

}  // namespace aoe::reference
