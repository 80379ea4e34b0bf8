// Operators that ONNX took later under the same name or another one: Trilu, GatherND, ExpandDims, Pad, Range,
// GridSample of com.microsoft; and ConvTransposeWithDynamicPads, whose pads are an input.
#include "graph/quantized_terms.h"

namespace aoe::graph {
namespace {

/// All inputs and attributes as they are.
auto same(const std::string& type) {
  return [type](FunctionCall& call) {
    std::vector<Term> inputs = {call.input(0)};
    if (call.has(1)) inputs.push_back(call.input(1));
    call.give(0, call.op(type, inputs, call.attrs()));
  };
}

void expand_dims(FunctionCall& call) {
  call.give(0, call.op("Unsqueeze", {call.input(0), call.ints({call.known_int(call.input(1))})}));
}

/// Its pads may be a matrix of one row.
void expand_pad(FunctionCall& call) {
  call.give(
      0, call.op("Pad", {call.input(0), call.reshape(call.input(1), {-1}), optional_input(call, 2)},
                 call.attrs()));
}

void expand_range(FunctionCall& call) {
  const auto number = [&](std::size_t i) { return call.reshape(call.input(i), {}); };
  const Term step = call.has(2) ? number(2) : call.number(1, call.dtype(call.input(0)));
  call.give(0, call.op("Range", {number(0), number(1), step}));
}

void expand_grid_sample(FunctionCall& call) {
  reference::Attrs attrs = call.attrs();
  const std::string mode = attrs.get_string("mode", "bilinear");
  attrs.set("mode", mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode);
  call.give(0, call.op("GridSample", {call.input(0), call.input(1)}, attrs));
}

void expand_conv_transpose(FunctionCall& call) {
  reference::Attrs attrs = call.attrs();
  if (call.has(2)) attrs.set("pads", call.known_ints(call.input(2)));
  call.give(
      0, call.op("ConvTranspose", {call.input(0), call.input(1), optional_input(call, 3)}, attrs));
}

}  // namespace

void register_before_onnx(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "Trilu", same("Trilu")});
  registry.add({kMicrosoft, "GatherND", same("GatherND")});
  registry.add({kMicrosoft, "ExpandDims", expand_dims});
  registry.add({kMicrosoft, "Pad", expand_pad});
  registry.add({kMicrosoft, "Range", expand_range});
  registry.add({kMicrosoft, "GridSample", expand_grid_sample});
  registry.add({kMicrosoft, "ConvTransposeWithDynamicPads", expand_conv_transpose});
}

}  // namespace aoe::graph
