// NLLLoss: one score of each column, images side by side.
#include <vector>

#include "native/by_type.h"
#include "reference/fail.h"
#include "reference/tensors/axes.h"

namespace aoe::native {
namespace {

/// Of an image: of the losses, and of the weights by which a mean divides.
struct Sums {
  double losses = 0, weights = 0;
};

template <typename T, typename Label>
class Loss {
 public:
  explicit Loss(const Run& run)
      : run_(run),
        view_(reference::view_axis(run.shape(0), 1)),
        scores_(run.inputs[0].as<T>()),
        labels_(run.inputs[1].as<Label>()),
        weights_(run.has_input(2) ? run.inputs[2].as<T>() : nullptr),
        can_ignore_(run.attrs.has("ignore_index")),
        ignored_(run.attrs.get_int("ignore_index", 0)) {}

  void run() const {
    check();
    const std::string reduction = run_.attrs.get_string("reduction", "mean");
    T* y = run_.output(0).template as<T>();
    if (y == nullptr) return;
    const bool is_reduced = reduction != "none";
    std::vector<Sums> sums(static_cast<std::size_t>(view_.outer));
    run_.threads.share(view_.outer, 3 * static_cast<double>(view_.inner),
                       [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t n = begin; n < end; ++n)
                           sums[static_cast<std::size_t>(n)] =
                               write(n, is_reduced ? nullptr : y + n * view_.inner);
                       });
    if (!is_reduced) return;
    Sums all;
    for (const Sums& each : sums) all.losses += each.losses, all.weights += each.weights;
    *y = static_cast<T>(reduction == "mean" ? all.losses / all.weights : all.losses);
  }

 private:
  bool counts(Label label) const { return !can_ignore_ || label != ignored_; }

  void check() const {
    for (std::int64_t i = 0; i < view_.outer * view_.inner; ++i)
      if (counts(labels_[i]) && (labels_[i] < 0 || labels_[i] >= view_.dim))
        reference::fail_model("label " + std::to_string(labels_[i]) + " of " +
                              std::to_string(view_.dim) + " classes");
  }

  /// `to`: its losses; null where only their sum is wanted.
  Sums write(std::int64_t n, T* to) const {
    Sums sums;
    for (std::int64_t i = 0; i < view_.inner; ++i) {
      const Label label = labels_[n * view_.inner + i];
      if (to != nullptr) to[i] = 0;
      if (!counts(label)) continue;
      const double weight = weights_ == nullptr ? 1.0 : static_cast<double>(weights_[label]);
      const double loss = -weight * scores_[(n * view_.dim + label) * view_.inner + i];
      if (to != nullptr) to[i] = static_cast<T>(loss);
      sums.losses += loss;
      sums.weights += weight;
    }
    return sums;
  }

  const Run& run_;
  const reference::AxisView view_;
  const T* const scores_;
  const Label* const labels_;
  const T* const weights_;
  const bool can_ignore_;
  const std::int64_t ignored_;
};

template <typename T>
void run_typed(const Run& run) {
  reference::visit_type<reference::IndexTypes>(
      run.inputs[1].desc.dtype, [&]<typename Label>() { Loss<T, Label>(run).run(); });
}

Result<void> supports(const Question& question) {
  if (auto taken = takes_types(question, 0, {DataType::kFloat, DataType::kDouble}); !taken)
    return taken;
  return takes_types(question, 2, {question.inputs[0].dtype});
}

}  // namespace

void register_nll_loss(KernelRegistry& registry) {
  registry.add({.type = "NLLLoss",
                .supports = supports,
                .run = by_type<reference::TypeList<float, double>>(
                    []<typename T>(const Run& run) { run_typed<T>(run); })});
}

}  // namespace aoe::native
