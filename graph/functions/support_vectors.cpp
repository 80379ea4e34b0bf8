// SVMClassifier and SVMRegressor of ai.onnx.ml: kernels between rows and support vectors, and sums of them.
#include <algorithm>

#include "graph/import/classical.h"
#include "reference/fail.h"

namespace aoe::graph {
namespace {

using reference::fail_model;

Term number_of(Term x, double value) {
  return x.call->number(value, x.call->dtype(x));
}

/// Attribute `name` as a matrix of `rows`.
Term matrix_of(FunctionCall& call, const std::string& name, std::int64_t rows) {
  const std::vector<float> values = call.attrs().get_floats(name);
  if (values.empty() || rows < 1 || std::ssize(values) % rows != 0)
    fail_model(std::to_string(values.size()) + " " + name + " for " + std::to_string(rows) +
               " rows");
  return call.floats({rows, std::ssize(values) / rows}, values);
}

Term features_of(FunctionCall& call) {
  return call.cast(rows_of(call), DataType::kFloat);
}

/// x times each row of `weights`.
Term products(FunctionCall& call, Term x, Term weights) {
  return call.matmul(x, call.transpose(weights, {1, 0}));
}

/// [rows, vectors]: how near each row is to each support vector.
Term kernels(FunctionCall& call, Term x, std::int64_t vectors) {
  const Term support = matrix_of(call, "support_vectors", vectors);
  const std::string type = call.attrs().get_string("kernel_type", "LINEAR");
  if (type == "LINEAR") return products(call, x, support);
  const std::vector<float> given = call.attrs().get_floats("kernel_params");
  if (given.size() != 3)
    fail_model(std::to_string(given.size()) + " kernel_params, needs gamma, coef0 and degree");
  const double gamma = given[0], coef0 = given[1], degree = given[2];
  if (type == "RBF") return call.op("Exp", {squared_distances(call, x, support) * -gamma});
  const Term scaled = products(call, x, support) * gamma + coef0;
  if (type == "POLY") return call.op("Pow", {scaled, number_of(scaled, degree)});
  if (type == "SIGMOID") return call.op("Tanh", {scaled});
  throw NotExpressible{"its kernel_type is " + type};
}

std::vector<float> biases_of(const FunctionCall& call, std::size_t count) {
  std::vector<float> rho = call.attrs().get_floats("rho");
  if (rho.size() < count)
    fail_model(std::to_string(rho.size()) + " rho, needs " + std::to_string(count));
  rho.resize(count);
  return rho;
}

void expand_svm_regressor(FunctionCall& call) {
  const std::int64_t vectors = call.attrs().get_int("n_supports", 0);
  const Term x = features_of(call), weights = matrix_of(call, "coefficients", 1);
  const Term inner = vectors > 0 ? kernels(call, x, vectors) : x;
  Term y = products(call, inner, weights) + call.floats({1}, biases_of(call, 1));
  if (call.attrs().get_int("one_class", 0) != 0)
    y = call.op("Where",
                {call.op("Greater", {y, number_of(y, 0)}), number_of(y, 1), number_of(y, -1)});
  call.give(0, y);
}

/// A machine for each two classes, in the order 01, 02, ..., 12, ...
struct Pairs {
  explicit Pairs(std::int64_t count) : classes(count) {
    for (std::int64_t i = 0; i < classes; ++i)
      for (std::int64_t j = i + 1; j < classes; ++j) both.emplace_back(i, j);
  }

  std::int64_t count() const { return std::ssize(both); }
  std::int64_t classes;
  std::vector<std::pair<std::int64_t, std::int64_t>> both;
};

/// [vectors, pairs]: what the kernel with each support vector counts for in each machine. The attribute has a row for each
/// other class of the vector's own, in their order.
Term weights_of_pairs(FunctionCall& call, const Pairs& pairs,
                      const std::vector<std::int64_t>& of_class, std::int64_t vectors) {
  const std::vector<float> given = call.attrs().get_floats("coefficients");
  if (std::ssize(given) < (pairs.classes - 1) * vectors)
    fail_model(std::to_string(given.size()) + " coefficients, needs " +
               std::to_string((pairs.classes - 1) * vectors));
  std::vector<float> weights(static_cast<std::size_t>(vectors * pairs.count()));
  std::int64_t vector = 0;
  for (std::int64_t own = 0; own < pairs.classes; ++own)
    for (std::int64_t k = 0; k < of_class[static_cast<std::size_t>(own)]; ++k, ++vector)
      for (std::int64_t p = 0; p < pairs.count(); ++p) {
        const auto [i, j] = pairs.both[static_cast<std::size_t>(p)];
        if (own != i && own != j) continue;
        const std::int64_t row = own == i ? j - 1 : i;
        weights[static_cast<std::size_t>(vector * pairs.count() + p)] =
            given[static_cast<std::size_t>(row * vectors + vector)];
      }
  return call.floats({vectors, pairs.count()}, weights);
}

/// The class that wins most of its pairs, the first of several: a win of i over j is a vote for i, else one for j.
Term most_votes(FunctionCall& call, const Pairs& pairs, Term scores) {
  std::vector<float> wins(static_cast<std::size_t>(pairs.count() * pairs.classes)),
      none(static_cast<std::size_t>(pairs.classes));
  for (std::int64_t p = 0; p < pairs.count(); ++p) {
    const auto [i, j] = pairs.both[static_cast<std::size_t>(p)];
    wins[static_cast<std::size_t>(p * pairs.classes + i)] = 1;
    wins[static_cast<std::size_t>(p * pairs.classes + j)] = -1;
    ++none[static_cast<std::size_t>(j)];
  }
  const Term is_win =
      call.cast(call.op("Greater", {scores, number_of(scores, 0)}), DataType::kFloat);
  const Term votes = call.matmul(is_win, call.floats({pairs.count(), pairs.classes}, wins)) +
                     call.floats({pairs.classes}, none);
  return best_column(call, votes);
}

/// [rows, classes], by Platt's sigmoid of each pair.
Term probabilities(FunctionCall& call, const Pairs& pairs, Term scores) {
  const auto of_pairs = [&](const char* name) {
    std::vector<float> values = call.attrs().get_floats(name);
    if (std::ssize(values) < pairs.count())
      fail_model(std::to_string(values.size()) + " " + name + ", needs " +
                 std::to_string(pairs.count()));
    values.resize(static_cast<std::size_t>(pairs.count()));
    return call.floats({pairs.count()}, values);
  };
  constexpr double kLeast = 1e-7;
  const Term score = scores * of_pairs("prob_a") + of_pairs("prob_b");
  const Term wins = call.op("Sigmoid", {score * -1});
  reference::Attrs attrs;
  attrs.set("classes", pairs.classes);
  return call.op("PairwiseCoupling",
                 {call.op("Clip", {wins, number_of(wins, kLeast), number_of(wins, 1 - kLeast)})},
                 attrs);
}

/// As ONNX Runtime gives them where there are no probabilities.
Term scores_of_pairs(FunctionCall& call, const Pairs& pairs, Term scores) {
  if (pairs.count() > 1) return transformed(call, scores, pairs.count());
  const std::string transform = call.attrs().get_string("post_transform", "NONE");
  if (transform == "PROBIT") throw NotExpressible{"the probit of one score for two classes"};
  const Term other = scores * -1;
  return call.concat({transform == "NONE" ? other : other + 1, scores}, 1);
}

void expand_pairs(FunctionCall& call, const Classes& classes,
                  const std::vector<std::int64_t>& of_class) {
  const auto count = static_cast<std::int64_t>(classes.count());
  std::int64_t vectors = 0;
  for (const std::int64_t each : of_class) {
    if (each < 0 || each > (std::int64_t{1} << 31))
      fail_model("a class has " + std::to_string(each) + " vectors");
    vectors += each;
  }
  if (std::ssize(of_class) != count)
    fail_model(std::to_string(of_class.size()) + " vectors_per_class for " + std::to_string(count) +
               " classes");
  // Each pair has a weight for each vector, and a vote for each class.
  constexpr std::int64_t kMostClasses = 4096, kMostWeights = 1 << 26;
  if (count > kMostClasses || vectors + count > kMostWeights / (count * (count - 1) / 2))
    throw NotExpressible{"its pairs of classes are too many"};
  const Pairs pairs(count);
  const Term scores =
      call.matmul(kernels(call, features_of(call), vectors),
                  weights_of_pairs(call, pairs, of_class, vectors)) +
      call.floats({pairs.count()}, biases_of(call, static_cast<std::size_t>(pairs.count())));
  if (call.wants(0)) call.give(0, labels_at(call, classes, most_votes(call, pairs, scores)));
  if (!call.wants(1)) return;
  call.give(1, call.attrs().get_floats("prob_a").empty()
                   ? scores_of_pairs(call, pairs, scores)
                   : transformed(call, probabilities(call, pairs, scores), count));
}

/// Without support vectors: one row of coefficients for each class. Of two, the second wins from a score on.
void expand_linear(FunctionCall& call, const Classes& classes) {
  const auto count = static_cast<std::int64_t>(classes.count());
  const Term scores = products(call, features_of(call), matrix_of(call, "coefficients", count)) +
                      call.floats({1}, biases_of(call, 1));
  Term best = best_column(call, scores);
  if (count == 2) {
    const bool is_positive = std::ranges::all_of(call.attrs().get_floats("coefficients"),
                                                 [](float value) { return value >= 0; });
    reference::Attrs attrs;
    attrs.set("keepdims", std::int64_t{0});
    const Term most = call.op("ReduceMax", {scores, call.ints({1})}, attrs);
    const Term is_second = call.op(is_positive ? "GreaterOrEqual" : "Greater",
                                   {most, number_of(most, is_positive ? 0.5 : 0)});
    best = call.op("Where", {is_second, call.ints({1}), best});
  }
  if (call.wants(0)) call.give(0, labels_at(call, classes, best));
  if (call.wants(1)) call.give(1, transformed(call, scores, count));
}

void expand_svm_classifier(FunctionCall& call) {
  const Classes classes = classes_of(call, "classlabels_ints", "classlabels_strings");
  if (classes.count() < 2) throw NotExpressible{"it has less than two classes"};
  const std::vector<std::int64_t> of_class = call.attrs().get_ints("vectors_per_class");
  if (std::ranges::all_of(of_class, [](std::int64_t each) { return each == 0; }))
    expand_linear(call, classes);
  else
    expand_pairs(call, classes, of_class);
}

}  // namespace

void register_support_vectors(FunctionRegistry& registry) {
  registry.add({kClassical, "SVMClassifier", expand_svm_classifier});
  registry.add({kClassical, "SVMRegressor", expand_svm_regressor});
}

}  // namespace aoe::graph
