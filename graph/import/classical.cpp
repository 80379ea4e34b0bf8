#include "graph/import/classical.h"

#include "base/tensor.h"
#include "reference/fail.h"

namespace aoe::graph {
namespace {

Term sigmoid(Term x) {
  return x.call->op("Sigmoid", {x});
}

Term negative(Term x) {
  return x.call->op("Neg", {x});
}

/// The square root of 2 times the inverse of erf at 2x - 1, by the formula of Winitzki that ONNX Runtime has.
Term probit(FunctionCall& call, Term x) {
  constexpr double kA = 0.147, kPi = 3.14159;
  const Term at = x * 2 + -1;
  const Term log = call.op("Log", {at * at * -1 + 1});
  const Term half = log * 0.5 + 2 / (kPi * kA);
  const Term root = call.op("Sqrt", {half * half - log * (1 / kA)}) - half;
  return call.op("Sign", {at}) * call.op("Sqrt", {root}) * 1.41421356;
}

Term softmax(FunctionCall& call, Term x) {
  return call.op("Softmax", {x}, with_axis(-1));
}

Term along_rows(FunctionCall& call, const char* type, Term x) {
  reference::Attrs attrs;
  attrs.set("keepdims", std::int64_t{1});
  return call.op(type, {x, call.ints({-1})}, attrs);
}

/// A softmax in which what is (nearly) zero stays out.
Term softmax_zero(FunctionCall& call, Term x) {
  const DataType dtype = call.dtype(x);
  const Term most = along_rows(call, "ReduceMax", x);
  const Term is_zero = call.op("LessOrEqual", {call.op("Abs", {x}), call.number(1e-7, dtype)});
  const Term part =
      call.op("Where", {is_zero, x * call.op("Exp", {negative(most)}), call.op("Exp", {x - most})});
  return part / along_rows(call, "ReduceSum", part);
}

std::string transform_of(const FunctionCall& call) {
  return call.attrs().get_string("post_transform", "NONE");
}

}  // namespace

Classes classes_of(const FunctionCall& call, const std::string& ints, const std::string& strings) {
  return {.labels = call.attrs().get_ints(ints), .names = call.attrs().get_strings(strings)};
}

Term labels_at(FunctionCall& call, const Classes& classes, Term index) {
  if (classes.names.empty()) return call.op("Gather", {call.ints(classes.labels), index});
  const Term label = call.op("Gather", {call.ints(call.places(classes.names)), index});
  call.mark_as_text(label);
  return label;
}

Term is_key(FunctionCall& call, Term x, Term key) {
  const Term is_equal = call.op("Equal", {x, key});
  const DataType dtype = call.dtype(x);
  if (dtype != DataType::kFloat && dtype != DataType::kDouble) return is_equal;
  const Term both = call.op("And", {call.op("IsNaN", {x}), call.op("IsNaN", {key})});
  return call.op("Or", {is_equal, both});
}

Term rows_of(FunctionCall& call) {
  const Term x = call.input(0);
  return call.rank(x) == 1 ? call.reshape(x, {1, -1}) : x;
}

Term transformed(FunctionCall& call, Term scores, std::int64_t columns) {
  const std::string transform = transform_of(call);
  if (transform == "PROBIT") return probit(call, scores);
  if (columns < 2 || transform == "NONE") return scores;
  if (transform == "LOGISTIC") return sigmoid(scores);
  if (transform == "SOFTMAX") return softmax(call, scores);
  if (transform == "SOFTMAX_ZERO") return softmax_zero(call, scores);
  throw NotExpressible{"its post_transform " + transform + " is unknown"};
}

Term both_scores(FunctionCall& call, Term score, bool is_margin) {
  const std::string transform = transform_of(call);
  if (transform == "PROBIT") throw NotExpressible{"the probit of one score for two classes"};
  if (transform == "LOGISTIC") return call.concat({sigmoid(negative(score)), sigmoid(score)}, 1);
  const Term other = negative(score);
  return call.concat({is_margin ? other : other + 1, score}, 1);
}

Term best_column(FunctionCall& call, Term scores) {
  reference::Attrs attrs = with_axis(1);
  attrs.set("keepdims", std::int64_t{0});
  return call.op("ArgMax", {scores}, attrs);
}

Term best_label(FunctionCall& call, const Classes& classes, Term scores) {
  return labels_at(call, classes, best_column(call, scores));
}

Term label_above(FunctionCall& call, const Classes& classes, Term score, double threshold) {
  const Term is_above = call.op("Greater", {score, call.number(threshold, call.dtype(score))});
  return labels_at(call, classes, call.reshape(call.cast(is_above, DataType::kInt64), {-1}));
}

namespace {

/// |a|^2 + |b|^2 - 2 ab: a matrix product, whose rounding is that of the squares.
Term by_product(FunctionCall& call, Term rows, Term points) {
  const Term points_squared = call.reshape(along_rows(call, "ReduceSumSquare", points), {1, -1});
  const Term apart = along_rows(call, "ReduceSumSquare", rows) + points_squared +
                     call.matmul(rows, call.transpose(points, {1, 0})) * -2;
  return call.op("Max", {apart, call.number(0, call.dtype(rows))});
}

}  // namespace

Term squared_distances(FunctionCall& call, Term rows, Term points) {
  constexpr double kMostDifferences = 1 << 22;  // 16 MB
  constexpr std::int64_t kUsualCount = 256;     // where only a run can tell
  const auto count = [&](Term value, std::int64_t axis) {
    return static_cast<double>(call.is_open(value, axis) ? kUsualCount : call.dim(value, axis));
  };
  // Differences of one column would stretch; neither ONNX Runtime nor a product takes that.
  if (!call.is_open(rows, 1) && !call.is_open(points, 1) &&
      call.dim(rows, 1) != call.dim(points, 1))
    reference::fail_model("rows have " + std::to_string(call.dim(rows, 1)) +
                          " columns, and the others " + std::to_string(call.dim(points, 1)));
  if (count(rows, 0) * count(points, 0) * count(points, 1) > kMostDifferences)
    return by_product(call, rows, points);
  const Term apart =
      call.op("Unsqueeze", {rows, call.ints({1})}) - call.op("Unsqueeze", {points, call.ints({0})});
  reference::Attrs attrs;
  attrs.set("keepdims", std::int64_t{0});
  return call.op("ReduceSumSquare", {apart, call.ints({-1})}, attrs);
}

}  // namespace aoe::graph
