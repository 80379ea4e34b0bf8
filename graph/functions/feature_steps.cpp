// Steps of ai.onnx.ml before and behind a classical model: Scaler, Normalizer, Binarizer, Imputer, LabelEncoder and
// OneHotEncoder of numbers, ArrayFeatureExtractor, FeatureVectorizer, ZipMap.
#include "graph/classical.h"
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

/// Where x is the number `key`, of x's type; NaN is found as well.
Term is_key(FunctionCall& call, Term x, Term key) {
  const Term is_equal = call.op("Equal", {x, key});
  const DataType dtype = call.dtype(x);
  if (dtype != DataType::kFloat && dtype != DataType::kDouble) return is_equal;
  const Term both = call.op("And", {call.op("IsNaN", {x}), call.op("IsNaN", {key})});
  return call.op("Or", {is_equal, both});
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

/// Of attribute `stem` + "_floats", "_int64s" or "_tensor"; a single default is `stem` + "_float", "_int64" or "_tensor".
Term list_of(FunctionCall& call, const std::string& stem) {
  const auto& attrs = call.attrs();
  if (const ConstantPtr tensor = attrs.get_tensor(stem + "_tensor")) {
    if (tensor->desc().dtype == DataType::kDouble) {
      const auto* from = static_cast<const double*>(tensor->data());
      const std::int64_t count = element_count(tensor->desc().shape);
      return call.reals(DataType::kDouble, {count}, {from, from + count});
    }
    if (tensor->desc().dtype == DataType::kFloat) {
      const auto* from = static_cast<const float*>(tensor->data());
      const std::int64_t count = element_count(tensor->desc().shape);
      return call.floats({count}, {from, from + count});
    }
    if (tensor->desc().dtype == DataType::kInt64 || tensor->desc().dtype == DataType::kInt32)
      return call.cast(call.ints(to_ints(*tensor)), tensor->desc().dtype);
    throw NotExpressible{"its " + stem + "_tensor is of another type"};
  }
  if (attrs.has(stem + "_floats")) {
    const std::vector<float> values = attrs.get_floats(stem + "_floats");
    return call.floats({std::ssize(values)}, values);
  }
  if (attrs.has(stem + "_int64s")) return call.ints(attrs.get_ints(stem + "_int64s"));
  throw NotExpressible{"its " + stem + " are strings"};
}

/// What LabelEncoder gives for what is no key.
Term default_label(FunctionCall& call, DataType dtype) {
  const auto& attrs = call.attrs();
  if (attrs.get_tensor("default_tensor")) return list_of(call, "default");
  if (dtype == DataType::kInt64) return call.ints({attrs.get_int("default_int64", -1)});
  return call.number(attrs.get_float("default_float", -0.0F), dtype);
}

/// True where the element of x is a key: [..., keys].
Term matches(FunctionCall& call, Term x, Term keys) {
  return is_key(call, call.op("Unsqueeze", {x, call.ints({-1})}), keys);
}

void expand_label_encoder(FunctionCall& call) {
  const Term keys = list_of(call, "keys"), values = list_of(call, "values");
  if (call.dim(keys, 0) != call.dim(values, 0) || call.dim(keys, 0) == 0)
    reference::fail_model(std::to_string(call.dim(keys, 0)) + " keys for " +
                          std::to_string(call.dim(values, 0)) + " values");
  const Term found = call.cast(matches(call, call.input(0), keys), DataType::kInt8);
  reference::Attrs attrs;
  attrs.set("axis", std::int64_t{-1});
  attrs.set("keepdims", std::int64_t{0});
  const Term value = call.op("Gather", {values, call.op("ArgMax", {found}, attrs)});
  attrs = {};
  attrs.set("keepdims", std::int64_t{0});
  const Term is_known =
      call.cast(call.op("ReduceMax", {found, call.ints({-1})}, attrs), DataType::kBool);
  call.give(0, call.op("Where", {is_known, value, default_label(call, call.dtype(values))}));
}

void expand_one_hot_encoder(FunctionCall& call) {
  if (call.attrs().has("cats_strings")) throw NotExpressible{"its categories are strings"};
  if (call.attrs().get_int("zeros", 1) == 0)
    throw NotExpressible{"it fails on what is no category (zeros=0)"};
  const Term cats =
      call.cast(call.ints(call.attrs().get_ints("cats_int64s")), call.dtype(call.input(0)));
  call.give(0, call.cast(matches(call, call.input(0), cats), DataType::kFloat));
}

void expand_extractor(FunctionCall& call) {
  reference::Attrs attrs;
  attrs.set("axis", std::int64_t{-1});
  call.give(0, call.op("Gather", {rows_of(call), call.reshape(call.input(1), {-1})}, attrs));
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
  registry.add({kClassical, "LabelEncoder", expand_label_encoder});
  registry.add({kClassical, "OneHotEncoder", expand_one_hot_encoder});
  registry.add({kClassical, "ArrayFeatureExtractor", expand_extractor});
  registry.add({kClassical, "FeatureVectorizer", expand_vectorizer});
  // A map of label to score for each row holds no more than the row: its columns are in the order of the labels.
  registry.add({kClassical, "ZipMap", [](FunctionCall& call) { call.give(0, call.input(0)); }});
}

}  // namespace aoe::graph
