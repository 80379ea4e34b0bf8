// See shape_line.h.
#include "tests/compiler/shape_line.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "base/json_text.h"
#include "base/words.h"
#include "reference/elements/typed.h"

namespace aoe::compiler {
namespace {

using nlohmann::json;
using reference::Attr;

[[noreturn]] void refuse(const std::string& word) {
  throw Error(ExitCode::kData, "cannot read '" + word + "'", "shape line");
}

Shape parse_dims(const std::string& text) {
  Shape shape;
  if (text == "scalar") return shape;
  for (const std::string& dim : split_words(text, 'x')) shape.push_back(std::stoll(dim));
  return shape;
}

Attr parse_attribute(const std::string& name, const json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) return value.get<float>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array() && !value.empty() && value[0].is_number_float()) {
    return value.get<std::vector<float>>();
  }
  if (value.is_array() && !value.empty() && value[0].is_string()) {
    return value.get<std::vector<std::string>>();
  }
  if (value.is_array()) return value.get<std::vector<std::int64_t>>();
  refuse(name);
}

/// "name=JSON"; false when the word is none.
bool read_attribute(const std::string& word, reference::Attrs& attrs) {
  const auto equals = word.find('=');
  if (equals == std::string::npos) return false;
  const std::string name = word.substr(0, equals);
  const json value = json_or_discarded(word.substr(equals + 1));
  if (value.is_discarded()) refuse(word);
  attrs.set(name, parse_attribute(name, value));
  return true;
}

/// "Type@version"; without one, the newest.
void read_type(const std::string& word, std::string& type, int& version) {
  const auto at = word.find('@');
  type = word.substr(0, at);
  const reference::OpDef* def = reference::ops().find(type);
  if (def == nullptr && type != reference::kElementwiseName && type != reference::kChainName)
    refuse(word);
  version = at != std::string::npos ? std::stoi(word.substr(at + 1))
            : def != nullptr        ? def->versions.back()
                                    : 1;
}

struct ParsedInput {
  TaskInput task;
  std::shared_ptr<Constant> values;
};

ParsedInput parse_input(const std::string& text, std::mt19937& engine) {
  if (text == "-") return {};
  TensorDesc desc{.dtype = DataType::kFloat};
  if (text[0] == '[') {
    const auto list = parse_json(text).get<std::vector<std::int64_t>>();
    desc = {.dtype = DataType::kInt64, .shape = {static_cast<std::int64_t>(list.size())}};
    const auto values = std::make_shared<Constant>(desc, list.data());
    return {{desc, values}, values};
  }
  const std::vector<std::string> words = split_words(text, ':');
  desc.shape = parse_dims(words[0]);
  float low = -2, high = 2;
  bool is_constant = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "const") {
      is_constant = true;
    } else if (word == "pos") {
      low = 0.1f, high = 3;
    } else if (word.starts_with("value=")) {
      low = high = std::stof(word.substr(6));
      is_constant = true;
    } else if (word.starts_with("below=")) {
      high = std::stof(word.substr(6));
      low = -high;
    } else if (const auto dtype = data_type_from_name(word)) {
      desc.dtype = *dtype;
    } else {
      refuse(text);
    }
  }
  const auto values = std::make_shared<Constant>(desc);
  std::uniform_real_distribution<float> uniform(low, high);
  for (std::int64_t i = 0; i < element_count(desc.shape); ++i) {
    const float value = low == high ? low : uniform(engine);
    reference::visit_type<reference::AllTypes>(desc.dtype, [&]<typename T>() {
      double number = value;
      if (is_integer(desc.dtype))
        number = std::is_unsigned_v<T> ? std::fabs(number) : std::floor(number);
      if (desc.dtype == DataType::kBool) number = value > 0;
      values->view().as<T>()[i] = reference::convert<T>(number);
    });
  }
  return {{desc, is_constant ? values : nullptr}, values};
}

json operand_json(const std::string& word) {
  if (word == "anchor") return {"anchor", 0};
  if (word.starts_with("in")) return {"input", std::stoi(word.substr(2))};
  if (word.starts_with("step")) return {"step", std::stoi(word.substr(4))};
  refuse(word);
}

json step_json(const std::vector<std::string>& words) {
  reference::OpCall op;
  json operands = json::array();
  read_type(words.at(0), op.type, op.version);
  for (std::size_t i = 1; i < words.size(); ++i)
    if (!read_attribute(words[i], op.attrs)) operands.push_back(operand_json(words[i]));
  json step = reference::to_json(op);
  step["operands"] = operands;
  return step;
}

}  // namespace

ShapeLine parse_shape_line(const std::string& text, unsigned seed) {
  ShapeLine line{.text = text, .task = {}, .inputs = {}};
  std::mt19937 engine(seed);
  std::size_t output_count = 1;
  std::optional<int> anchor_inputs;
  std::vector<std::size_t> unread;
  std::vector<std::vector<std::string>> segments(1);
  for (const std::string& word : split_words(text, ' ')) {
    if (word == "->") {
      segments.emplace_back();
    } else {
      segments.back().push_back(word);
    }
  }
  Task& task = line.task;
  read_type(segments[0].at(0), task.op.type, task.op.version);
  for (std::size_t i = 1; i < segments[0].size(); ++i) {
    const std::string& word = segments[0][i];
    if (word.starts_with("in=")) {
      ParsedInput input = parse_input(word.substr(3), engine);
      task.inputs.push_back(input.task);
      line.inputs.push_back(input.values);
    } else if (word.starts_with("anchor_inputs=")) {
      anchor_inputs = std::stoi(word.substr(14));
    } else if (word.starts_with("outputs=")) {
      output_count = std::stoul(word.substr(8));
    } else if (word.starts_with("unread=")) {
      unread.push_back(std::stoul(word.substr(7)));
    } else if (!read_attribute(word, task.op.attrs)) {
      refuse(word);
    }
  }
  if (segments.size() > 1) {
    json fused = {{"type", task.op.type}, {"version", task.op.version}};
    fused["attrs"] = reference::to_json(task.op.attrs);
    fused["anchor_inputs"] = anchor_inputs.value_or(static_cast<int>(task.inputs.size()));
    for (std::size_t i = 1; i < segments.size(); ++i)
      fused["epilogue"].push_back(step_json(segments[i]));
    task.op = reference::op_call_from_json(fused);
  }
  std::vector<Tensor> known;
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    const TaskInput& input = task.inputs[i];
    known.push_back({input.desc, input.constant ? line.inputs[i]->mutable_data() : nullptr});
  }
  // The Formats of a TransData are not the task's: a FormatChoice carries them.
  task.outputs = task.op.type == "TransData" ? std::vector{task.in(0)}
                                             : reference::infer(task.op, known, output_count);
  for (const std::size_t output : unread) task.outputs.at(output) = {};
  return line;
}

std::vector<std::string> read_shape_lines(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(' ') != std::string::npos) lines.push_back(line);
  }
  return lines;
}

}  // namespace aoe::compiler
