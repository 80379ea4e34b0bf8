// onednn_layer_norm: oneDNN's layer normalization.
#include "compiler/onednn/onednn_impl.h"
#include "compiler/plain_task.h"
#include "reference/tensors/axes.h"

namespace aoe::compiler {
namespace {

enum Input : std::size_t { kX, kScale, kShift };

/// Rows that are normalised, and the elements of each.
Shape matrix_of(const Task& task) {
  const Shape& shape = task.in(kX).shape;
  const std::size_t axis =
      reference::normalize_axis(task.op.attrs.get_int("axis", -1), shape.size());
  return {reference::dim_product(shape, 0, axis),
          reference::dim_product(shape, axis, shape.size())};
}

class OneDnnLayerNorm final : public OneDnnImpl {
 public:
  std::string_view name() const override { return "onednn_layer_norm"; }

 protected:
  double estimate_ns(const Task& task, const FormatChoice&, const Soc& soc) const override {
    constexpr double kEfficiency = 0.3, kRowNs = 8;  // measured on a Zen 5 core
    return onednn_estimate_ns(task, soc, flops(task), kEfficiency) +
           kRowNs * static_cast<double>(matrix_of(task)[0]) / soc.threads;
  }

  Result<void> accepts(const Task& task) const override {
    if (auto plain = supports_plain(task, {"LayerNorm"}); !plain) return plain;
    const std::int64_t row = matrix_of(task)[1];
    for (const std::size_t i : {kScale, kShift}) {
      if (!task.has_input(i)) continue;
      if (task.in(i).dtype != DataType::kFloat || element_count(task.in(i).shape) != row)
        return Unexpected("parameter " + to_string(task.in(i)) + ", needs " + std::to_string(row) +
                          " of float32");
    }
    return {};
  }

  std::vector<FormatChoice> candidates(const Task& task) const override {
    return {plain_format(task, "ND", Format::kND)};
  }

  Result<OneDnnDraft> draft(const Task& task, const FormatChoice& format,
                            const Soc& soc) const override {
    const Shape rows = matrix_of(task);
    OneDnnDraft draft(task, format, soc, "layer_normalization");
    draft.params()["epsilon"] = task.op.attrs.get_float("epsilon", 1e-5f);
    draft.params()["has_scale"] = task.has_input(kScale);
    draft.params()["has_shift"] = task.has_input(kShift);
    draft.input("src", kX, onednn_dense(rows));
    draft.output("dst", 0, onednn_dense(rows));
    if (task.has_input(kScale)) draft.any_input("scale", kScale, onednn_dense({rows[1]}));
    if (task.has_input(kShift)) draft.any_input("shift", kShift, onednn_dense({rows[1]}));
    return draft;
  }
};

}  // namespace

void register_onednn_layer_norm(ImplRegistry& registry) {
  registry.add(std::make_unique<OneDnnLayerNorm>());
}

}  // namespace aoe::compiler
