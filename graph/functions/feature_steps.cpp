// Steps of ai.onnx.ml before and behind a classical model: Scaler, Normalizer, Binarizer, Imputer, ArrayFeatureExtractor,
// FeatureVectorizer, ZipMap.
#include "graph/import/classical.h"
#include "graph/rewrite.h"
#include "reference/fail.h"

namespace aoe::graph {
namespace {

Term as_float(FunctionCall& call) {
  return call.cast(call.input(0), DataType::kFloat);
}

/// One number, or one for each feature.
Term per_feature(FunctionCall& call, const std::string& name) {
  const std::vector<float> values = call.attrs().get_floats(name);
  return call.floats({std::ssize(values)}, values);
}

void expand_scaler(FunctionCall& call) {
  Term y = as_float(call);
  if (call.attrs().has("offset")) y = y - per_feature(call, "offset");
  if (call.attrs().has("scale")) y = y * per_feature(call, "scale");
  call.give(0, y);
}

/// Rows whose norm is zero stay as they are.
void expand_normalizer(FunctionCall& call) {
  const std::string norm = call.attrs().get_string("norm", "MAX");
  const Term x = as_float(call);
  reference::Attrs attrs;
  attrs.set("keepdims", std::int64_t{1});
  const std::string type = norm == "L1" ? "ReduceL1" : norm == "L2" ? "ReduceL2" : "ReduceMax";
  if (norm != "L1" && norm != "L2" && norm != "MAX") throw NotExpressible{"its norm is " + norm};
  const Term size = call.op(type, {x, call.ints({-1})}, attrs);
  const Term is_zero = call.op("Equal", {size, call.number(0, DataType::kFloat)});
  call.give(0, x / call.op("Where", {is_zero, call.number(1, DataType::kFloat), size}));
}

void expand_binarizer(FunctionCall& call) {
  const Term x = call.input(0);
  const DataType dtype = call.dtype(x);
  const Term threshold = call.number(call.attrs().get_float("threshold", 0), dtype);
  call.give(0, call.cast(call.op("Greater", {x, threshold}), dtype));
}

void expand_imputer(FunctionCall& call) {
  const Term x = call.input(0);
  const auto& attrs = call.attrs();
  const bool is_float = attrs.has("imputed_value_floats");
  const std::vector<float> floats = attrs.get_floats("imputed_value_floats");
  const Term imputed = is_float
                           ? call.cast(call.floats({std::ssize(floats)}, floats), call.dtype(x))
                           : call.ints(attrs.get_ints("imputed_value_int64s"));
  const Term replaced =
      is_float ? call.number(attrs.get_float("replaced_value_float", 0), call.dtype(x))
               : call.cast(call.ints({attrs.get_int("replaced_value_int64", 0)}), call.dtype(x));
  call.give(0, call.op("Where", {is_key(call, x, replaced), imputed, x}));
}

void expand_extractor(FunctionCall& call) {
  call.give(0,
            call.op("Gather", {rows_of(call), call.reshape(call.input(1), {-1})}, with_axis(-1)));
}

void expand_vectorizer(FunctionCall& call) {
  const std::vector<std::int64_t> widths = call.attrs().get_ints("inputdimensions");
  std::vector<Term> parts;
  for (std::size_t i = 0; call.has(i); ++i) {
    Term x = call.cast(call.input(i), DataType::kFloat);
    if (call.rank(x) != 2) x = call.reshape(x, {call.rank(x) < 2 ? 1 : call.dim(x, 0), -1});
    if (i >= widths.size()) throw NotExpressible{"an input has no width in inputdimensions"};
    const std::int64_t width = call.dim(x, 1), wanted = widths[i];
    if (wanted > width)  // zeros behind it
      parts.push_back(call.op("Pad", {x, call.ints({0, 0, 0, wanted - width})}));
    else
      parts.push_back(wanted < width ? call.slice(x, 1, 0, wanted) : x);
  }
  if (parts.empty()) reference::fail_model("it has no inputs");
  call.give(0, call.concat(parts, 1));
}

}  // namespace

void register_feature_steps(FunctionRegistry& registry) {
  registry.add({kClassical, "Scaler", expand_scaler});
  registry.add({kClassical, "Normalizer", expand_normalizer});
  registry.add({kClassical, "Binarizer", expand_binarizer});
  registry.add({kClassical, "Imputer", expand_imputer});
  registry.add({kClassical, "ArrayFeatureExtractor", expand_extractor});
  registry.add({kClassical, "FeatureVectorizer", expand_vectorizer});
  // A map of label to score for each row holds no more than the row: its columns are in the order of the labels.
  registry.add({kClassical, "ZipMap", [](FunctionCall& call) { call.give(0, call.input(0)); }});
}

}  // namespace aoe::graph
