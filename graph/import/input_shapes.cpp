// Reading --input_shape and applying it to a model's inputs.
#include "graph/import/input_shapes.h"

#include <algorithm>

#include "base/error.h"
#include "base/to_number.h"
#include "base/words.h"
#include "graph/graph.h"
#include "graph/import/onnx_import.h"

namespace aoe::graph {
namespace {

[[noreturn]] void fail_text(const std::string& text, const std::string& what) {
  throw Error(ExitCode::kUsage, what, "--input_shape=\"" + text + "\"",
              "write it like --input_shape=\"data:1,3,224,224;mask:1,128\"");
}

Shape parse_dims(const std::string& text, const std::string& dims) {
  Shape shape;
  std::size_t begin = 0;
  while (begin < dims.size()) {
    const std::size_t end = std::min(dims.find(',', begin), dims.size());
    const std::string dim = dims.substr(begin, end - begin);
    const auto value = to_number<std::int64_t>(dim);
    if (!value) fail_text(text, "'" + dim + "' is no dimension");
    if (*value < kUnknownDim) fail_text(text, "dimension " + dim + " is negative");
    shape.push_back(*value);
    begin = end + 1;
    if (end + 1 == dims.size()) fail_text(text, "a dimension is missing behind the last ','");
  }
  return shape;
}

/// "data:1,3,224,224" with the declaration's own numbers where it has them; a named dimension keeps
/// the size that an input before gave it in `sizes`.
std::string suggestion(const DeclaredInput& input, std::map<std::string, std::int64_t>& sizes) {
  std::string text = input.name + ":";
  Shape shape = has_known_rank(input.desc) ? input.desc.shape : Shape{1, 3, 224, 224};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool is_image_side = shape.size() == 4 && i >= 2;
    if (shape[i] == kUnknownDim) {
      shape[i] = i == 0 ? 1 : is_image_side ? 224 : 128;
      if (const std::string& dim = input.dim_names[i]; !dim.empty())
        shape[i] = sizes.emplace(dim, shape[i]).first->second;
    }
    text += (i > 0 ? "," : "") + std::to_string(shape[i]);
  }
  return text;
}

/// "(batch, 3, ?, ?)"
std::string dims_text(const DeclaredInput& input) {
  if (!has_known_rank(input.desc)) return "no shape";
  std::string text;
  for (std::size_t i = 0; i < input.desc.shape.size(); ++i) {
    if (i > 0) text += ", ";
    if (input.desc.shape[i] != kUnknownDim)
      text += std::to_string(input.desc.shape[i]);
    else
      text += input.dim_names[i].empty() ? "?" : input.dim_names[i];
  }
  return "dimensions (" + text + ")";
}

void check_names(const std::vector<DeclaredInput>& inputs,
                 const std::map<std::string, Shape>& given) {
  for (const auto& [name, shape] : given) {
    if (std::ranges::find(inputs, name, &DeclaredInput::name) != inputs.end()) continue;
    const std::string names = joined(inputs, ", ", &DeclaredInput::name);
    throw Error(ExitCode::kUsage, "the model has no input '" + name + "'", "--input_shape",
                "its inputs are: " + names);
  }
}

void fail_contradiction(const DeclaredInput& input, const Shape& shape) {
  throw Error(ExitCode::kModel,
              "contradictory shapes: the model declares " + dims_text(input) +
                  ", --input_shape gives " + to_string(shape),
              "input '" + input.name + "'");
}

void apply(DeclaredInput& input, const Shape& shape, std::map<std::string, std::int64_t>& bound) {
  if (!has_known_rank(input.desc)) {
    input.desc.shape = shape;
    input.dim_names.assign(shape.size(), "");
    return;
  }
  if (input.desc.shape.size() != shape.size()) fail_contradiction(input, shape);
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (input.desc.shape[i] != kUnknownDim && input.desc.shape[i] != shape[i])
      fail_contradiction(input, shape);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::string& dim = input.dim_names[i];
    if (dim.empty()) continue;
    const auto [entry, is_new] = bound.emplace(dim, shape[i]);
    if (!is_new && entry->second != shape[i])
      throw Error(ExitCode::kModel,
                  "contradictory shapes: dimension '" + dim + "' is " + std::to_string(shape[i]) +
                      " here and " + std::to_string(entry->second) + " in another input",
                  "input '" + input.name + "'");
  }
  input.desc.shape = shape;
}

/// Whether --input_shape says that what is unknown of it is left open.
bool is_left_open(const DeclaredInput& input, const std::map<std::string, Shape>& given,
                  const std::map<std::string, std::int64_t>& bound) {
  if (given.contains(input.name)) return true;
  if (!has_known_rank(input.desc)) return false;
  for (std::size_t i = 0; i < input.desc.shape.size(); ++i)
    if (input.desc.shape[i] == kUnknownDim && !bound.contains(input.dim_names[i])) return false;
  return true;
}

void check_all_are_said(const std::vector<DeclaredInput>& inputs,
                        const std::map<std::string, Shape>& given,
                        const std::map<std::string, std::int64_t>& bound) {
  std::string what, flag;
  std::map<std::string, std::int64_t> sizes;  // dimension name -> size suggested
  for (const DeclaredInput& input : inputs) {
    if (is_static(input.desc.shape) || is_left_open(input, given, bound)) continue;
    what += (what.empty() ? "" : ", ") + ("input '" + input.name + "' has " + dims_text(input));
    flag += (flag.empty() ? "" : ";") + suggestion(input, sizes);
  }
  if (!what.empty())
    throw Error(ExitCode::kModel, "dynamic dimensions need a definite size: " + what, "",
                "give them, for example --input_shape=\"" + flag +
                    "\"; -1 leaves a size to gears or, for atc, open");
}

}  // namespace

std::vector<std::pair<std::string, Shape>> parse_open_input_shapes(const std::string& text) {
  std::vector<std::pair<std::string, Shape>> shapes;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string entry = text.substr(begin, end - begin);
    const std::size_t colon = entry.rfind(':');  // names may have colons, dimensions have none
    if (colon == std::string::npos || colon == 0)
      fail_text(text, "'" + entry + "' is not name:dimensions");
    const std::string name = entry.substr(0, colon);
    if (std::ranges::find(shapes, name, &std::pair<std::string, Shape>::first) != shapes.end())
      fail_text(text, "'" + name + "' is given twice");
    shapes.emplace_back(name, parse_dims(text, entry.substr(colon + 1)));
    begin = end + 1;
  }
  return shapes;
}

std::map<std::string, Shape> parse_input_shapes(const std::string& text, OpenSizes open) {
  std::map<std::string, Shape> shapes;
  for (auto& [name, shape] : parse_open_input_shapes(text)) {
    if (!is_static(shape) && open == OpenSizes::kRefused)
      throw Error(ExitCode::kUsage, "'" + name + "' has a dimension of -1",
                  "--input_shape=\"" + text + "\"",
                  "give its size, or its gears with --dynamic_batch_size, --dynamic_image_size or "
                  "--dynamic_dims (atc alone leaves sizes open)");
    shapes.emplace(name, std::move(shape));
  }
  return shapes;
}

void resolve_input_shapes(std::vector<DeclaredInput>& inputs,
                          const std::map<std::string, Shape>& given) {
  check_names(inputs, given);
  // PaddlePaddle's exporter writes "?" for every size that it does not know: no name, and no two are the same.
  for (DeclaredInput& input : inputs)
    for (std::string& dim : input.dim_names)
      if (dim == "?") dim.clear();
  std::map<std::string, std::int64_t> bound;  // dimension name -> size
  for (DeclaredInput& input : inputs)
    if (const auto shape = given.find(input.name); shape != given.end())
      apply(input, shape->second, bound);
  for (DeclaredInput& input : inputs)
    for (std::size_t i = 0; i < input.dim_names.size(); ++i)
      if (const auto size = bound.find(input.dim_names[i]);
          size != bound.end() && input.desc.shape[i] == kUnknownDim)
        input.desc.shape[i] = size->second;
  check_all_are_said(inputs, given, bound);
}

}  // namespace aoe::graph
