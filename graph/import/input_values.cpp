// Numbers from text to tensor.
#include "graph/import/input_values.h"

#include <algorithm>

#include "base/error.h"
#include "base/to_number.h"
#include "reference/elements/typed.h"

namespace aoe::graph {
namespace {

[[noreturn]] void fail_values(const std::string& text, const std::string& what) {
  throw Error(ExitCode::kUsage, what, "--input_value=\"" + text + "\"",
              "write it like --input_value=\"sr:16000;size:1,2\"");
}

[[noreturn]] void fail_input(const std::string& name, const std::string& what) {
  throw Error(ExitCode::kUsage, what, "--input_value of input '" + name + "'");
}

template <typename T>
T parse_number(const std::string& name, const std::string& text) {
  if constexpr (std::is_same_v<T, bool>) {
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0") return false;
    fail_input(name, "'" + text + "' is no bool");
  } else {
    using Parsed = std::conditional_t<std::is_integral_v<T>, T, double>;
    const auto value = to_number<Parsed>(text);
    if (!value)
      fail_input(name, "'" + text + "' is no number of type " +
                           std::string(aoe::name(reference::data_type_of<T>())));
    return reference::convert<T>(*value);
  }
}

/// The declared shape, its one open dimension filled in.
Shape shape_for(const std::string& name, const TensorDesc& declared, std::size_t count) {
  Shape shape = declared.shape;
  const auto open = std::ranges::count_if(shape, [](std::int64_t dim) { return dim < 0; });
  if (open > 1 || (open == 1 && shape.size() > 1))
    fail_input(name, "its shape is " + to_string(shape) + ": give it with --input_shape, too");
  if (open == 1) shape = {static_cast<std::int64_t>(count)};
  if (count != 1 && element_count(shape) != static_cast<std::int64_t>(count))
    fail_input(name,
               std::to_string(count) + " numbers are given, its shape is " + to_string(shape));
  return shape;
}

}  // namespace

std::map<std::string, std::vector<std::string>> parse_input_values(const std::string& text) {
  std::map<std::string, std::vector<std::string>> values;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string entry = text.substr(begin, end - begin);
    const std::size_t colon = entry.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == entry.size())
      fail_values(text, "'" + entry + "' is no name with its value");
    std::vector<std::string> numbers(1);
    for (const char c : entry.substr(colon + 1))
      c == ',' ? static_cast<void>(numbers.emplace_back()) : numbers.back().push_back(c);
    if (!values.emplace(entry.substr(0, colon), std::move(numbers)).second)
      fail_values(text, "'" + entry.substr(0, colon) + "' is given twice");
    begin = end + 1;
  }
  if (values.empty()) fail_values(text, "names no input");
  return values;
}

ConstantPtr constant_of_input(const std::string& name, const TensorDesc& declared,
                              const std::vector<std::string>& numbers) {
  TensorDesc desc = declared;
  desc.shape = shape_for(name, declared, numbers.size());
  auto constant = std::make_shared<Constant>(desc);
  reference::visit_type<reference::AllTypes>(desc.dtype, [&]<typename T>() {
    T* to = static_cast<T*>(constant->mutable_data());
    for (std::int64_t i = 0; i < element_count(desc.shape); ++i)
      to[i] = parse_number<T>(
          name, numbers.size() == 1 ? numbers[0] : numbers[static_cast<std::size_t>(i)]);
  });
  return constant;
}

}  // namespace aoe::graph
