// See plain_task.h.
#include "compiler/plain_task.h"

#include <algorithm>

#include "compiler/roofline.h"

namespace aoe::compiler {

Result<void> supports_typed(const Task& task, std::initializer_list<std::string_view> types) {
  if (std::find(types.begin(), types.end(), task.op.type) == types.end()) {
    return Unexpected("does not compute " + task.op.type);
  }
  if (task.outputs.size() != 1) {
    return Unexpected(std::to_string(task.outputs.size()) + " outputs, needs 1");
  }
  if (task.in(0).dtype != task.out().dtype)
    return Unexpected(to_string(task.in(0)) + " to " + to_string(task.out()));
  return {};
}

Result<void> supports_plain(const Task& task, std::initializer_list<std::string_view> types) {
  if (Result<void> typed = supports_typed(task, types); !typed) return typed;
  // The maximum of bytes is the same in float32, which the vectors hold them in.
  const bool are_bytes = task.op.type == "MaxPoolV3" && (task.in(0).dtype == DataType::kInt8 ||
                                                         task.in(0).dtype == DataType::kUint8);
  if (task.in(0).dtype != DataType::kFloat && !are_bytes) {
    return Unexpected(to_string(task.in(0)) + ", needs float32");
  }
  return {};
}

FormatChoice plain_format(const Task& task, const std::string& name, Format format) {
  FormatChoice choice{.name = name, .inputs = {}, .outputs = {format}};
  for (const TaskInput& input : task.inputs) {
    choice.inputs.push_back(input.is_present() ? Format::kND : Format::kUndefined);
  }
  choice.inputs[0] = format;
  return choice;
}

double plain_estimate_ns(const Task& task, const Soc& soc, double operations_per_input) {
  constexpr double kEfficiency = 0.3;  // dependent chains, no multiply-adds
  const double work = operations_per_input * static_cast<double>(element_count(task.in(0).shape));
  return launch_ns(soc) +
         std::max(compute_ns(soc, work, kEfficiency), memory_ns(soc, bytes_moved(task)));
}

}  // namespace aoe::compiler
