// LinearAttention of com.microsoft: ONNX's, whose heads of queries and of keys may be fewer than those of values.
#include "graph/import/function_call.h"
#include "reference/fail.h"

namespace aoe::graph {
namespace {

/// Each of `heads` heads of (batch, tokens, heads * size) as often as `wanted` are.
Term repeated_heads(FunctionCall& call, Term value, std::int64_t heads, std::int64_t wanted) {
  if (heads == wanted) return value;
  const std::int64_t width = call.dim(value, 2);
  if (heads < 1 || wanted % heads != 0 || width % heads != 0)
    reference::fail_model("rows of " + std::to_string(width) + " of " + std::to_string(heads) +
                          " heads for " + std::to_string(wanted));
  const std::int64_t size = width / heads, times = wanted / heads;
  const Term each = call.reshape(value, {0, 0, heads, 1, size});
  const Term all = call.op("Expand", {each, call.ints({1, 1, 1, times, 1})});
  return call.reshape(all, {0, 0, wanted * size});
}

void expand_linear_attention(FunctionCall& call) {
  const std::int64_t kv_heads = call.count_attr("kv_num_heads");
  std::int64_t heads = call.count_attr("q_num_heads");
  Term query = call.input(0), key = call.input(1);
  if (call.rank(query) != 3 || call.rank(key) != 3)
    reference::fail_model("needs rows of three axes");
  const std::int64_t size = call.dim(query, 2) / heads;
  if (size < 1) reference::fail_model("its queries are shorter than their heads are many");
  key = repeated_heads(call, key, call.dim(key, 2) / size, kv_heads);
  if (heads < kv_heads) {
    query = repeated_heads(call, query, heads, kv_heads);
    heads = kv_heads;
  }
  reference::Attrs attrs = call.attrs();
  attrs.set("q_num_heads", heads);
  std::vector<Term> inputs = {query, key, call.input(2)};
  for (std::size_t i = 3; i < 6; ++i) inputs.push_back(call.has(i) ? call.input(i) : call.absent());
  const std::vector<Term> results = call.ops("LinearAttention", inputs, attrs, 2);
  for (std::size_t i = 0; i < 2; ++i)
    if (call.wants(i)) call.give(i, results[i]);
}

}  // namespace

void register_linear_attention(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "LinearAttention", expand_linear_attention});
}

}  // namespace aoe::graph
