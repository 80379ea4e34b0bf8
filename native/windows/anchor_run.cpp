#include "native/windows/anchor_run.h"

#include <limits>

namespace aoe::native {
namespace {

/// A bound of ClipByValue: operand `i`, or an attribute of older versions.
float bound_of(const reference::BodyStep& clip, std::span<const Tensor> operands, std::size_t i,
               const std::string& attribute, float otherwise) {
  if (i < operands.size() && operands[i].is_present()) return *operands[i].as<float>();
  return clip.call.attrs.get_float(attribute, otherwise);
}

}  // namespace

bool is_chain(const Question& question) {
  if (!question.call.body || question.outputs != 1) return false;
  const reference::Body& body = *question.call.body;
  if (std::ssize(question.inputs) != body.inputs || body.steps.empty()) return false;
  for (std::size_t i = 1; i < body.steps.size(); ++i) {
    const std::vector<int>& operands = body.steps[i].operands;
    if (operands.empty() || operands[0] != body.value_of(i - 1)) return false;
  }
  return true;
}

Bounds bounds_of(const reference::BodyStep& activation, std::span<const Tensor> inputs) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (activation.call.type == "Relu") return {0, kInfinity};
  if (activation.call.type != "ClipByValue") return {-kInfinity, kInfinity};
  const std::vector<Tensor> operands = read_by(activation, inputs);
  return {bound_of(activation, operands, 1, "min", -kInfinity),
          bound_of(activation, operands, 2, "max", kInfinity)};
}

}  // namespace aoe::native
