// LinearClassifier and LinearRegressor of ai.onnx.ml: a matrix product, and what is made of its columns.
#include "graph/import/classical.h"
#include "reference/fail.h"

namespace aoe::graph {
namespace {

/// [rows, columns]: x times the coefficients of each column, plus its intercept. A model may have more coefficients than its inputs
/// ask for, as the one of ONNX Runtime's examples: the first ones count.
Term column_products(FunctionCall& call, std::int64_t columns) {
  std::vector<float> coefficients = call.attrs().get_floats("coefficients");
  const std::vector<float> intercepts = call.attrs().get_floats("intercepts");
  const Term rows = call.cast(rows_of(call), DataType::kFloat);
  const std::int64_t width = call.shape(rows).back();
  if (columns >= 1 && width >= 0 && std::ssize(coefficients) / columns > width)
    coefficients.resize(static_cast<std::size_t>(columns * width));
  if (columns < 1 || coefficients.size() % static_cast<std::size_t>(columns) != 0)
    reference::fail_model(std::to_string(coefficients.size()) + " coefficients for " +
                          std::to_string(columns) + " columns");
  const auto features = std::ssize(coefficients) / columns;
  reference::Attrs attrs;
  attrs.set("transB", std::int64_t{1});
  std::vector<Term> inputs = {rows, call.floats({columns, features}, coefficients)};
  if (std::ssize(intercepts) == columns) inputs.push_back(call.floats({columns}, intercepts));
  return call.op("Gemm", inputs, attrs);
}

void expand_linear_classifier(FunctionCall& call) {
  Classes classes = classes_of(call, "classlabels_ints", "classlabels_strings");
  const auto columns = std::ssize(call.attrs().get_floats("intercepts"));
  const Term scores = column_products(call, columns);
  const bool has_two = columns == 1 && classes.count() == 2;
  if (columns > 1 && std::ssize(classes.labels) != columns && classes.names.empty())
    reference::fail_model(std::to_string(columns) + " intercepts for " +
                          std::to_string(classes.count()) + " labels");
  if (columns == 1 && !has_two) classes = {.labels = {0, 1}};
  if (call.wants(0))
    call.give(0, columns == 1 ? label_above(call, classes, scores, 0)
                              : best_label(call, classes, scores));
  if (call.wants(1))
    call.give(1, has_two ? both_scores(call, scores, false) : transformed(call, scores, columns));
}

void expand_linear_regressor(FunctionCall& call) {
  const std::int64_t targets = call.attrs().get_int("targets", 1);
  call.give(0, transformed(call, column_products(call, targets), targets));
}

}  // namespace

void register_linear_models(FunctionRegistry& registry) {
  registry.add({kClassical, "LinearClassifier", expand_linear_classifier});
  registry.add({kClassical, "LinearRegressor", expand_linear_regressor});
}

}  // namespace aoe::graph
