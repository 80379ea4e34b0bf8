// PairwiseCoupling: probabilities of classes from those of each pair of them.
// Wu, Lin, Weng: Probability Estimates for Multi-class Classification by Pairwise Coupling, JMLR 5 (2004), Algorithm 2.
#include <cmath>
#include <cstddef>
#include <vector>

#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

// As in LIBSVM and ONNX Runtime: results are those of the round in which it ends.
constexpr int kMostRounds = 100;
constexpr double kTolerance = 0.005;

std::vector<TensorDesc> infer_coupling(const InferContext& context) {
  const std::int64_t classes = context.attrs.get_int("classes", 0), pairs = context.shape(0)[1];
  if (pairs != kUnknownDim && pairs != classes * (classes - 1) / 2)
    fail_model(std::to_string(pairs) + " pairs of " + std::to_string(classes) + " classes");
  return {{.dtype = context.dtype(0), .shape = {context.shape(0)[0], classes}}};
}

/// The quadratic form that the probabilities of one row make least.
class Coupling {
 public:
  explicit Coupling(std::size_t classes) : n_(classes), form_(n_ * n_), gradient_(n_) {}

  /// `pairs`: the probability of i against j, for all i < j in order.
  void solve(const double* pairs, double* p) {
    set_form(pairs);
    for (std::size_t i = 0; i < n_; ++i) p[i] = 1.0 / static_cast<double>(n_);
    for (int round = 0; round < kMostRounds; ++round) {
      double value = set_gradient(p);
      if (largest_error(value) < kTolerance / static_cast<double>(n_)) return;
      for (std::size_t i = 0; i < n_; ++i) value = step(i, value, p);
    }
  }

 private:
  void set_form(const double* pairs) {
    for (std::size_t i = 0; i < n_; ++i) form_[i * n_ + i] = 0;
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = i + 1; j < n_; ++j, ++pairs) {
        const double wins = *pairs, loses = 1 - wins;
        form_[i * n_ + i] += loses * loses;
        form_[j * n_ + j] += wins * wins;
        form_[i * n_ + j] = form_[j * n_ + i] = -wins * loses;
      }
  }

  double set_gradient(const double* p) {
    double value = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      gradient_[i] = 0;
      for (std::size_t j = 0; j < n_; ++j) gradient_[i] += form_[i * n_ + j] * p[j];
      value += p[i] * gradient_[i];
    }
    return value;
  }

  double largest_error(double value) const {
    double most = 0;
    for (const double each : gradient_) most = std::fmax(most, std::fabs(each - value));
    return most;
  }

  /// Makes the form least along coordinate i, and the sum 1 again; the form's value there.
  double step(std::size_t i, double value, double* p) {
    const double by = (value - gradient_[i]) / form_[i * n_ + i], scale = 1 + by;
    value = (value + by * (by * form_[i * n_ + i] + 2 * gradient_[i])) / (scale * scale);
    p[i] += by;
    for (std::size_t j = 0; j < n_; ++j) {
      gradient_[j] = (gradient_[j] + by * form_[i * n_ + j]) / scale;
      p[j] /= scale;
    }
    return value;
  }

  std::size_t n_;
  std::vector<double> form_, gradient_;
};

void compute_coupling(const OpContext& context) {
  const auto pairs = to_doubles(context.inputs[0]);
  const Shape& shape = context.inputs[0].desc.shape;
  const auto classes = static_cast<std::size_t>(context.attrs.get_int("classes", 0));
  std::vector<double> p = doubles(static_cast<std::size_t>(shape[0]) * classes);
  Coupling coupling(classes);
  for (std::size_t row = 0; row < static_cast<std::size_t>(shape[0]); ++row)
    coupling.solve(pairs.data() + row * static_cast<std::size_t>(shape[1]),
                   p.data() + row * classes);
  from_doubles(p, context.outputs[0]);
}

/// It ends after about ten rounds.
double rounds(const CostContext& cost) {
  const auto classes = static_cast<double>(cost.outputs[0].shape[1]);
  return 30 * static_cast<double>(cost.outputs[0].shape[0]) * classes * classes;
}

}  // namespace

void register_pairwise_coupling(OpRegistry& registry) {
  registry.add({.type = "PairwiseCoupling",
                .onnx_type = "",
                .signature = {"f:2", "!classes=2..4096"},
                .kind = OpKind::kSearch,
                .infer = infer_coupling,
                .compute = compute_coupling,
                .work = rounds});
}

}  // namespace aoe::reference
