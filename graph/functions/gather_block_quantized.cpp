// GatherBlockQuantized of com.microsoft: rows of a table whose blocks have a scale each, as decoders look up their
// tokens. Rows are gathered first and only they are unpacked.
#include "base/error.h"
#include "graph/import/quantized_terms.h"

namespace aoe::graph {
namespace {

void expand_gather_blocks(FunctionCall& call) {
  const Term data = call.input(0), scales = call.input(2);
  // A row alone would have one axis, along which there are no blocks.
  const bool is_one_row = call.rank(call.input(1)) == 0;
  const Term indices = is_one_row ? call.reshape(call.input(1), {1}) : call.input(1);
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
  const Term y = call.op("DequantizeLinear", inputs, attrs);
  call.give(0, is_one_row ? call.op("Squeeze", {y, call.ints({gathered})}) : y);
}

}  // namespace

void register_gather_block_quantized(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "GatherBlockQuantized", expand_gather_blocks, /*takes_small=*/true});
}

}  // namespace aoe::graph
