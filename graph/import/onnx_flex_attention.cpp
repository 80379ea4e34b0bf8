// FlexAttention of ai.onnx.preview: attention whose scores and probabilities go through graphs of the model's own, which are
// written out where the node stands.
#include <cmath>

#include "base/error.h"
#include "graph/import/onnx_importer.h"
#include "reference/elements/onnx_data_type.h"

namespace aoe::graph {
namespace {

/// (batch, heads, length, size) with each head `times` times, one behind the other.
Term repeated_heads(FunctionCall& call, Term x, std::int64_t times) {
  if (times == 1) return x;
  const Shape shape = call.shape(x);
  const Term apart = call.op("Unsqueeze", {x, call.ints({2})});
  const Term wide =
      call.op("Expand", {apart, call.ints({shape[0], shape[1], times, shape[2], shape[3]})});
  return call.reshape(wide, {shape[0], shape[1] * times, shape[2], shape[3]});
}

}  // namespace

/// What the graph in attribute `name` makes of `x`; `x` where there is none.
ValueId Importer::import_modifier(const onnx::NodeProto& proto, const std::string& name, ValueId x,
                                  Scope& scope) {
  const onnx::GraphProto* body = subgraph(proto, name);
  if (body == nullptr) return x;
  if (body->input_size() != 1 || body->output_size() != 1)
    fail_node(proto, "has a " + name + " that does not take one tensor and give one");
  Scope inner = inner_scope(proto, *body, scope);
  inner.prefix = unique_node_name(proto, scope) + "/" + name + "/";
  inner.values[body->input(0).name()] = x;
  import_body(*body, inner);
  const ValueId result = inner.find(body->output(0).name());
  if (result == kNone) fail_node(proto, "has a " + name + " whose output nothing produces");
  return result;
}

void Importer::import_flex_attention(const onnx::NodeProto& proto, Scope& scope) {
  FunctionCall call = function_call(proto, scope);
  const Term q = call.input(0), k = call.input(1), v = call.input(2);
  for (const Term& each : {q, k, v})
    if (call.rank(each) != 4)
      fail_node(proto, "reads " + to_string(call.shape(each)) + ", needs four dimensions");
  const std::int64_t heads = call.dim(q, 1), shared = call.dim(k, 1);
  if (shared < 1 || heads % shared != 0 || call.dim(v, 1) != shared)
    fail_node(proto, "has " + std::to_string(heads) + " heads of queries and " +
                         std::to_string(shared) + " of keys");
  const DataType own = call.dtype(q);
  const std::int64_t asked = call.attrs().get_int("softmax_precision", 0);
  const bool is_narrow = own == DataType::kFloat16 || own == DataType::kBFloat16;
  const DataType inside = asked != 0  ? reference::data_type_from_onnx(asked)
                          : is_narrow ? DataType::kFloat
                                      : own;
  const double scale = call.attrs().has("scale")
                           ? static_cast<double>(call.attrs().get_float("scale", 1))
                           : 1 / std::sqrt(static_cast<double>(call.dim(q, 3)));
  const Term keys = repeated_heads(call, k, heads / shared);
  const auto modified = [&](const char* name, Term x) {
    const Term changed = {&call, import_modifier(proto, name, x.id, scope)};
    return unsupported_count_ > 0 ? x : call.cast(changed, inside);
  };
  const Term products = call.matmul(q, call.transpose(keys, {0, 1, 3, 2})) * scale;
  const Term scores = modified("score_mod", call.cast(products, inside));
  const Term probabilities = modified("prob_mod", call.op("Softmax", {scores}, with_axis(-1)));
  const Term values = call.cast(repeated_heads(call, v, heads / shared), inside);
  scope.values[proto.output(0)] = call.cast(call.matmul(probabilities, values), call.dtype(v)).id;
}

}  // namespace aoe::graph
