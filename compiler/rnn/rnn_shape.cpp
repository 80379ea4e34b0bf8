// Reads recurrent operators.
#include "compiler/rnn/rnn_shape.h"

#include <algorithm>
#include <cctype>

namespace aoe::compiler {
namespace {

const float* values_of(const Task& task, std::size_t i) {
  return task.inputs[i].constant->view().as<float>();
}

bool is_present(const Task& task, std::size_t i) {
  return i < task.inputs.size() && task.inputs[i].is_present();
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// The activations of all directions, the defaults filled in.
std::vector<std::string> activations_of(const Task& task, const std::vector<std::string>& defaults,
                                        std::int64_t directions) {
  std::vector<std::string> names;
  const auto& attributes = task.op.attrs.all();
  if (const auto at = attributes.find("activations"); at != attributes.end())
    if (const auto* given = std::get_if<std::vector<std::string>>(&at->second)) names = *given;
  const std::size_t needed = defaults.size() * static_cast<std::size_t>(directions);
  while (names.size() < needed) names.push_back(defaults[names.size() % defaults.size()]);
  names.resize(needed);
  std::ranges::transform(names, names.begin(), lower_case);
  return names;
}

Result<void> require_default_activations(const Task& task, const std::vector<std::string>& defaults,
                                         std::int64_t directions) {
  const std::vector<std::string> names = activations_of(task, defaults, directions);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] != defaults[i % defaults.size()])
      return Unexpected("activation " + names[i] + ", needs " + defaults[i % defaults.size()] +
                        " there");
  return {};
}

Result<void> read_lstm(const Task& task, RnnShape& s) {
  if (task.op.attrs.get_int("input_forget", 0) != 0)
    return Unexpected("coupled input and forget gates");
  s.kind = RnnKind::kLstm;
  return require_default_activations(task, {"sigmoid", "tanh", "tanh"}, s.directions);
}

Result<void> read_gru(const Task& task, RnnShape& s) {
  const bool is_linear = task.op.attrs.get_int("linear_before_reset", 0) != 0;
  s.kind = is_linear ? RnnKind::kLinearBeforeResetGru : RnnKind::kGru;
  return require_default_activations(task, {"sigmoid", "tanh"}, s.directions);
}

Result<void> read_vanilla(const Task& task, RnnShape& s) {
  const std::vector<std::string> names = activations_of(task, {"tanh"}, s.directions);
  s.kind = RnnKind::kVanilla;
  s.activation = names[0];
  if (names.front() != names.back()) return Unexpected("directions of different activations");
  if (names[0] == "tanh" || names[0] == "relu" || names[0] == "sigmoid") return {};
  return Unexpected("activation " + names[0] + ", needs tanh, relu or sigmoid");
}

Result<void> read_kind(const Task& task, RnnShape& s) {
  if (task.op.type == "DynamicRNN") return read_lstm(task, s);
  if (task.op.type == "DynamicGRUV2") return read_gru(task, s);
  return read_vanilla(task, s);
}

/// Lengths that are known are those of all steps.
Result<void> read_lengths(const Task& task, RnnShape& s) {
  if (!is_present(task, kRnnLengths)) return {};
  const TaskInput& lengths = task.inputs[kRnnLengths];
  if (lengths.desc.dtype != DataType::kInt32)
    return Unexpected("sequence_lens is " + to_string(lengths.desc) + ", needs int32");
  s.has_lengths = !lengths.constant;
  if (s.has_lengths) return {};
  const auto* values = lengths.constant->view().as<std::int32_t>();
  for (std::int64_t b = 0; b < s.batch; ++b)
    if (values[b] != s.steps)
      return Unexpected("a sequence of " + std::to_string(values[b]) + " of " +
                        std::to_string(s.steps) + " steps");
  return {};
}

Result<void> require_constant_parameters(const Task& task) {
  constexpr std::pair<std::size_t, const char*> kParameters[] = {
      {kRnnWeights, "W"}, {kRnnRecurrence, "R"}, {kRnnBias, "B"}, {kRnnPeepholes, "P"}};
  for (const auto& [i, name] : kParameters) {
    if (!is_present(task, i)) continue;
    if (!task.inputs[i].constant) return Unexpected(std::string(name) + " is not constant");
    if (task.in(i).dtype != DataType::kFloat)
      return Unexpected(to_string(task.in(i)) + ", needs float32");
  }
  return {};
}

}  // namespace

std::int64_t RnnShape::gate_count() const {
  if (kind == RnnKind::kLstm) return 4;
  return kind == RnnKind::kVanilla ? 1 : 3;
}

double RnnShape::input_flops() const {
  return 2.0 * static_cast<double>(steps * batch * directions) *
         static_cast<double>(gate_count() * hidden * input);
}

double RnnShape::recurrent_flops() const {
  return input_flops() / static_cast<double>(input) * static_cast<double>(hidden);
}

Result<RnnShape> rnn_shape(const Task& task) {
  const std::string& type = task.op.type;
  if (type != "DynamicRNN" && type != "DynamicGRUV2" && type != "CommonRNN")
    return Unexpected(type + " is not recurrent");
  if (!task.is_static()) return Unexpected("shapes are not static");
  const reference::Attrs& attrs = task.op.attrs;
  if (attrs.get_float("clip", 0) > 0) return Unexpected("clips what enters the activations");
  RnnShape s;
  const Shape& x = task.in(kRnnX).shape;
  s.is_batch_first = attrs.get_int("layout", 0) != 0;
  s.steps = x[s.is_batch_first ? 1 : 0];
  s.batch = x[s.is_batch_first ? 0 : 1];
  s.input = x[2];
  s.hidden = task.in(kRnnRecurrence).shape[2];
  s.directions = task.in(kRnnRecurrence).shape[0];
  s.is_reverse = attrs.get_string("direction", "forward") == "reverse";
  if (Result<void> kind = read_kind(task, s); !kind) return Unexpected(kind.error());
  if (Result<void> constant = require_constant_parameters(task); !constant)
    return Unexpected(constant.error());
  if (Result<void> lengths = read_lengths(task, s); !lengths) return Unexpected(lengths.error());
  return s;
}

bool has_values(const Task& task, std::size_t i) {
  if (!is_present(task, i)) return false;
  if (!task.inputs[i].constant) return true;
  const float* values = values_of(task, i);
  return std::any_of(values, values + element_count(task.in(i).shape),
                     [](float x) { return x != 0; });
}

bool is_wanted(const Task& task, RnnOutput output) {
  return output < task.outputs.size() && task.outputs[output].dtype != DataType::kUndefined;
}

FormatChoice rnn_format(const Task& task) {
  FormatChoice choice{.name = "ND", .inputs = {}, .outputs = {}};
  for (const TaskInput& input : task.inputs)
    choice.inputs.push_back(input.is_present() ? Format::kND : Format::kUndefined);
  for (const TensorDesc& output : task.outputs) {
    const bool is_read = output.dtype != DataType::kUndefined;
    choice.outputs.push_back(is_read ? Format::kND : Format::kUndefined);
  }
  return choice;
}

}  // namespace aoe::compiler
