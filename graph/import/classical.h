// What classifiers and regressors of ai.onnx.ml have in common: rows of features, scores, and labels for the best.
#pragma once

#include "graph/import/function_call.h"

namespace aoe::graph {

/// The domain of classical models.
inline constexpr const char* kClassical = "ai.onnx.ml";

/// Input 0 as a matrix, a row for each example: a single example may come without its axis.
Term rows_of(FunctionCall& call);

/// Where x is the number `key`, of x's type; NaN is found as well.
Term is_key(FunctionCall& call, Term x, Term key);

/// Attribute `post_transform` as ai.onnx.ml means it, of two columns or more; of a single one only PROBIT counts.
Term transformed(FunctionCall& call, Term scores, std::int64_t columns);

/// The scores [rows, 2] of both classes from that of the second, [rows, 1]: a probability, unless `is_margin`.
Term both_scores(FunctionCall& call, Term score, bool is_margin);

/// Which class each row belongs to.
struct Classes {
  std::vector<std::int64_t> labels;
  std::vector<std::string> names;  ///< instead of labels
  std::size_t count() const { return std::max(labels.size(), names.size()); }
};

/// Attributes `ints` and `strings` of a classifier.
Classes classes_of(const FunctionCall& call, const std::string& ints, const std::string& strings);

/// The labels of classes, [rows], from their places. Names are the places that stand for them.
Term labels_at(FunctionCall& call, const Classes& classes, Term index);

/// The place of the best column of each row, [rows].
Term best_column(FunctionCall& call, Term scores);

/// The label of the best column of each row, [rows].
Term best_label(FunctionCall& call, const Classes& classes, Term scores);

/// The second label where `score`, [rows, 1], is above a threshold, else the first.
Term label_above(FunctionCall& call, const Classes& classes, Term score, double threshold);

/// The square of the distance of each of `rows` from each of `points`, both matrices of as many columns.
Term squared_distances(FunctionCall& call, Term rows, Term points);

}  // namespace aoe::graph
