// GatherBlockQuantized of com.microsoft: rows of a table whose blocks have a scale each, as decoders look up their
// tokens. Rows are gathered first and only they are unpacked.
#include "base/error.h"
#include "graph/quantized_terms.h"

namespace aoe::graph {
namespace {

/// Bytes of 8 / bits values each, the lowest bits first, along the last axis; `count` values of a row stay.
Term unpacked(FunctionCall& call, Term bytes, std::int64_t bits, std::int64_t count) {
  if (bits == 8) return bytes;
  const auto byte = [&](std::int64_t value) {
    return call.number(static_cast<double>(value), DataType::kUint8);
  };
  reference::Attrs right;
  right.set("direction", "RIGHT");
  std::vector<Term> values;
  for (std::int64_t shift = 0; shift < 8; shift += bits) {
    const Term low = shift == 0 ? bytes : call.op("BitShift", {bytes, byte(shift)}, right);
    const Term value = call.op("BitwiseAnd", {low, byte((1 << bits) - 1)});
    values.push_back(call.op("Unsqueeze", {value, call.ints({-1})}));
  }
  std::vector<std::int64_t> rows(static_cast<std::size_t>(call.rank(bytes)), 0);
  rows.back() = -1;
  const Term row = call.reshape(call.concat(values, -1), rows);
  return call.slice(row, -1, 0, count);
}

void expand_gather_blocks(FunctionCall& call) {
  const Term data = call.input(0), indices = call.input(1), scales = call.input(2);
  const auto attr = [&](const char* name, std::int64_t fallback) {
    return call.attrs().get_int(name, fallback);
  };
  const std::int64_t rank = call.rank(data), bits = attr("bits", 4),
                     block = attr("block_size", 128);
  const auto from_front = [&](std::int64_t axis) { return axis < 0 ? axis + rank : axis; };
  const std::int64_t gathered = from_front(attr("gather_axis", 0)),
                     divided = from_front(attr("quantize_axis", 1));
  if (gathered < 0 || gathered >= rank || divided < 0 || divided >= rank || gathered == divided ||
      block < 16)
    throw Error(
        ExitCode::kModel,
        "gather_axis and quantize_axis must be two axes of its data, block_size at least 16");
  const bool is_bytes = call.dtype(data) == DataType::kUint8 && !call.is_small(data),
             is_packed = is_bytes && bits != 8;
  if (bits != 8 && bits != 4 && bits != 2)
    throw NotExpressible{"its data have " + std::to_string(bits) + " bits"};
  if (is_packed && divided != rank - 1)
    throw NotExpressible{"its data are packed along another axis than its blocks"};
  const reference::Attrs axis = with_axis(gathered);
  const auto rows = [&](Term table) { return call.op("Gather", {table, indices}, axis); };
  const std::int64_t blocks = call.dim(scales, divided);
  const auto values = [&](Term table, std::int64_t count) {
    return is_packed ? unpacked(call, rows(table), bits, count) : rows(table);
  };
  ByteTerm bytes = {.values = values(data, is_packed ? call.dim(data, -1) * (8 / bits) : 0),
                    .scale = rows(scales),
                    .zero = call.absent()};
  if (call.has(3)) {
    bytes.zero = values(call.input(3), blocks);
  } else if (is_bytes) {
    const Term middle = call.number(static_cast<double>(1 << (bits - 1)), DataType::kUint8);
    bytes.zero = call.op("Expand", {middle, call.op("Shape", {bytes.scale})});
  }
  reference::Attrs attrs =
      with_axis(divided > gathered ? divided + call.rank(indices) - 1 : divided);
  attrs.set("block_size", block);
  std::vector<Term> inputs = {bytes.values, bytes.scale};
  if (bytes.zero.id != kNone) inputs.push_back(bytes.zero);
  call.give(0, call.op("DequantizeLinear", inputs, attrs));
}

}  // namespace

void register_gather_block_quantized(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "GatherBlockQuantized", expand_gather_blocks, /*takes_small=*/true});
}

}  // namespace aoe::graph
