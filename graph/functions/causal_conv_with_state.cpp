// CausalConvWithState, ONNX's and com.microsoft's: a depthwise convolution over what came before and what comes now.
#include <optional>

#include "base/error.h"
#include "base/size.h"
#include "graph/import/function_call.h"
#include "reference/fail.h"

namespace aoe::graph {
namespace {

Term zeros(FunctionCall& call, const Shape& shape, DataType dtype) {
  return call.op("Expand", {call.number(0, dtype), call.ints(shape)});
}

/// Of images x (batch, channels, tokens) and their past.
struct CausalConv {
  Term y, state;
};

CausalConv causal_conv(FunctionCall& call, Term x, std::optional<Term> past,
                       std::int64_t dilation) {
  const Term weight = call.input(1);
  if (call.rank(x) != 3 || call.rank(weight) != 3 || call.dim(weight, 2) < 1)
    reference::fail_model(
        "needs images and weights of three axes, and weights of at least one token");
  const std::int64_t channels = call.dim(weight, 0),
                     before = checked_product(call.dim(weight, 2) - 1, dilation),
                     length = call.dim(x, 2);
  if (!past) past = zeros(call, {call.dim(x, 0), channels, before}, call.dtype(x));
  const Term all = before > 0 ? call.concat({*past, x}, 2) : x;
  reference::Attrs attrs;
  attrs.set("group", channels);
  attrs.set("dilations", std::vector<std::int64_t>{dilation});
  std::vector<Term> inputs = {all, weight};
  if (call.has(2)) inputs.push_back(call.input(2));
  Term y = call.op("Conv", inputs, attrs);
  const std::string activation = call.attrs().get_string("activation", "none");
  if (activation == "silu" || activation == "swish")
    y = call.op("Swish", {y});
  else if (activation != "none")
    throw Error(ExitCode::kModel, "activation is '" + activation + "', not silu, swish or none");
  return {y, call.slice(all, 2, length, length + before)};
}

void expand_causal_conv_with_state(FunctionCall& call) {
  std::optional<Term> past;
  if (call.has(3)) past = call.input(3);
  const CausalConv conv = causal_conv(call, call.input(0), past, 1);
  call.give(0, conv.y);
  if (call.wants(1)) call.give(1, conv.state);
}

/// ONNX's, which may be dilated, and whose channels may be last.
void expand_microsoft_causal_conv(FunctionCall& call) {
  const auto& attrs = call.attrs();
  if (attrs.get_int("ndim", 1) != 1) throw NotExpressible{"it has more than one axis"};
  if (attrs.get_int("state_window", 0) != 0) throw NotExpressible{"it keeps several states"};
  const std::int64_t dilation = attrs.get_int("dilation", 1);
  constexpr std::int64_t kMostDilation = 1 << 20;
  if (dilation < 1 || dilation > kMostDilation)
    throw Error(ExitCode::kModel, "its dilation is " + std::to_string(dilation));
  const bool is_last = attrs.get_int("channels_last", 0) != 0;
  if (call.rank(call.input(0)) != 3 || call.rank(call.input(1)) != 3)
    throw NotExpressible{"its images or weights have not three axes"};
  const auto turned = [&](Term value) {
    return is_last ? call.transpose(value, {0, 2, 1}) : value;
  };
  std::optional<Term> past;
  if (call.has(3)) past = turned(call.input(3));
  const CausalConv conv = causal_conv(call, turned(call.input(0)), past, dilation);
  call.give(0, turned(conv.y));
  if (call.wants(1)) call.give(1, turned(conv.state));
}

}  // namespace

void register_causal_conv_with_state(FunctionRegistry& registry) {
  registry.add({"", "CausalConvWithState", expand_causal_conv_with_state});
  registry.add({kMicrosoft, "CausalConvWithState", expand_microsoft_causal_conv});
}

}  // namespace aoe::graph
