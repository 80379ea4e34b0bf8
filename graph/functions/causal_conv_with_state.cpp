// CausalConvWithState, ONNX's and com.microsoft's: a depthwise convolution over what came before and what comes now.
#include "base/error.h"
#include "graph/function_call.h"

namespace aoe::graph {
namespace {

Term zeros(FunctionCall& call, const Shape& shape, DataType dtype) {
  const std::vector<float> values(static_cast<std::size_t>(element_count(shape)), 0.0f);
  return call.cast(call.floats(shape, values), dtype);
}

void expand_causal_conv_with_state(FunctionCall& call) {
  const Term x = call.input(0), weight = call.input(1);
  const std::int64_t channels = call.dim(weight, 0), before = call.dim(weight, 2) - 1;
  const std::int64_t length = call.dim(x, 2);
  const Term past =
      call.has(3) ? call.input(3) : zeros(call, {call.dim(x, 0), channels, before}, call.dtype(x));
  const Term all = before > 0 ? call.concat({past, x}, 2) : x;
  reference::Attrs attrs;
  attrs.set("group", channels);
  std::vector<Term> inputs = {all, weight};
  if (call.has(2)) inputs.push_back(call.input(2));
  Term y = call.op("Conv", inputs, attrs);
  const std::string activation = call.attrs().get_string("activation", "none");
  if (activation == "silu" || activation == "swish")
    y = call.op("Swish", {y});
  else if (activation != "none")
    throw Error(ExitCode::kModel, "activation is '" + activation + "', not silu, swish or none");
  call.give(0, y);
  if (call.wants(1)) call.give(1, call.slice(all, 2, length, length + before));
}

/// ONNX's, where it says no more than that.
void expand_microsoft_causal_conv(FunctionCall& call) {
  const auto& attrs = call.attrs();
  if (attrs.get_int("ndim", 1) != 1) throw NotExpressible{"it has more than one axis"};
  if (attrs.get_int("dilation", 1) != 1 || !attrs.get_ints("dilations").empty())
    throw NotExpressible{"it is dilated"};
  if (attrs.get_int("channels_last", 0) != 0) throw NotExpressible{"its channels are last"};
  if (attrs.get_int("state_window", 0) != 0) throw NotExpressible{"it keeps several states"};
  expand_causal_conv_with_state(call);
}

}  // namespace

void register_causal_conv_with_state(FunctionRegistry& registry) {
  registry.add({"", "CausalConvWithState", expand_causal_conv_with_state});
  registry.add({kMicrosoft, "CausalConvWithState", expand_microsoft_causal_conv});
}

}  // namespace aoe::graph
