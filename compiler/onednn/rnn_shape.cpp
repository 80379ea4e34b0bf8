// Reads recurrent operators, and turns ONNX's gates into oneDNN's.
#include "compiler/onednn/rnn_shape.h"

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
      return Unexpected("activation " + names[i] + ", oneDNN has only " +
                        defaults[i % defaults.size()] + " there");
  return {};
}

Result<void> read_lstm(const Task& task, RnnShape& s) {
  if (task.op.attrs.get_int("input_forget", 0) != 0)
    return Unexpected("coupled input and forget gates");
  s.primitive = "lstm";
  s.gates = {0, 2, 3, 1};
  s.has_cell_state = true;
  return require_default_activations(task, {"sigmoid", "tanh", "tanh"}, s.directions);
}

Result<void> read_gru(const Task& task, RnnShape& s) {
  s.primitive = task.op.attrs.get_int("linear_before_reset", 0) != 0 ? "lbr_gru" : "gru";
  s.gates = {0, 1, 2};
  return require_default_activations(task, {"sigmoid", "tanh"}, s.directions);
}

Result<void> read_vanilla(const Task& task, RnnShape& s) {
  const std::vector<std::string> names = activations_of(task, {"tanh"}, s.directions);
  s.primitive = "vanilla_rnn";
  s.gates = {0};
  if (names.front() != names.back()) return Unexpected("directions of different activations");
  if (names[0] == "tanh") return s.activation = "eltwise_tanh", Result<void>();
  if (names[0] == "relu") return s.activation = "eltwise_relu", Result<void>();
  if (names[0] == "sigmoid") return s.activation = "eltwise_logistic", Result<void>();
  return Unexpected("activation " + names[0] + ", needs tanh, relu or sigmoid");
}

Result<void> read_kind(const Task& task, RnnShape& s) {
  if (task.op.type == "DynamicRNN") return read_lstm(task, s);
  if (task.op.type == "DynamicGRUV2") return read_gru(task, s);
  return read_vanilla(task, s);
}

/// All batch elements have as many steps as there are.
Result<void> require_full_lengths(const Task& task, const RnnShape& s) {
  if (!is_present(task, kRnnLengths)) return {};
  const TaskInput& lengths = task.inputs[kRnnLengths];
  if (!lengths.constant) return Unexpected("sequence_lens is not constant");
  if (lengths.desc.dtype != DataType::kInt32)
    return Unexpected("sequence_lens is " + to_string(lengths.desc) + ", needs int32");
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
  if (Result<void> full = require_full_lengths(task, s); !full) return Unexpected(full.error());
  return s;
}

bool has_values(const Task& task, std::size_t i) {
  if (!is_present(task, i)) return false;
  if (!task.inputs[i].constant) return true;
  const float* values = values_of(task, i);
  return std::any_of(values, values + element_count(task.in(i).shape),
                     [](float x) { return x != 0; });
}

void pack_rnn_weights(const Task& task, const RnnShape& s, std::size_t i, std::int64_t direction,
                      std::int64_t columns, float* to) {
  const float* from = values_of(task, i) + direction * s.gate_count() * s.hidden * columns;
  for (std::int64_t column = 0; column < columns; ++column)
    for (const std::int64_t gate : s.gates)
      for (std::int64_t unit = 0; unit < s.hidden; ++unit)
        *to++ = from[(gate * s.hidden + unit) * columns + column];
}

void pack_rnn_bias(const Task& task, const RnnShape& s, std::int64_t direction, float* to) {
  const std::int64_t size = s.gate_count() * s.hidden;
  const bool has_bias = is_present(task, kRnnBias);
  const float* from = has_bias ? values_of(task, kRnnBias) + direction * 2 * size : nullptr;
  const bool keeps_last_apart = s.primitive == "lbr_gru";
  const auto value = [&](std::int64_t at) { return has_bias ? from[at] : 0.0f; };
  for (const std::int64_t gate : s.gates) {
    const bool is_apart = keeps_last_apart && gate == s.gates.back();
    for (std::int64_t at = gate * s.hidden; at < (gate + 1) * s.hidden; ++at)
      *to++ = value(at) + (is_apart ? 0.0f : value(size + at));
  }
  if (!keeps_last_apart) return;
  for (std::int64_t at = size - s.hidden; at < size; ++at) *to++ = value(size + at);
}

void pack_rnn_peepholes(const Task& task, const RnnShape& s, std::int64_t direction, float* to) {
  const float* from = values_of(task, kRnnPeepholes) + direction * 3 * s.hidden;
  for (const std::int64_t gate : {0, 2, 1}) to = std::copy_n(from + gate * s.hidden, s.hidden, to);
}

}  // namespace aoe::compiler
