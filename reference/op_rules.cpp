// How signatures are read and checked.
#include "reference/op_rules.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <vector>

#include "base/check.h"
#include "base/to_number.h"
#include "base/words.h"
#include "reference/fail.h"

namespace aoe::reference {
namespace {

// ---- reading signatures ----

constexpr std::int64_t kMostInt = std::numeric_limits<std::int32_t>::max();

struct InputRule {
  char types = 'a';
  int same_as = -1;  ///< inputs with the same number have one type; -1: none
  bool is_optional = false, is_repeated = false;
  int since = 0;  ///< the version of the operator
  std::size_t least_rank = 0, most_rank = std::numeric_limits<std::size_t>::max();
};

struct AttrRule {
  std::string name;
  bool is_required = false;
  std::string kind;  ///< int, float, string, ints, floats, strings, tensor
  std::int64_t least = -kMostInt, most = kMostInt;
  std::vector<std::string> words;  ///< empty: any
};

struct OpRules {
  std::vector<InputRule> inputs;
  std::vector<AttrRule> attributes;
};

std::int64_t parse_number(const std::string& text) {
  const auto number = to_number<std::int64_t>(text);
  AOE_CHECK(number, "no number: " + text);
  return *number;
}

InputRule parse_input(const std::string& word) {
  InputRule rule{.types = word.at(0)};
  AOE_CHECK(std::string_view("anfsiuqxlb").find(rule.types) != std::string_view::npos, word);
  std::size_t at = 1;
  for (; at < word.size() && word[at] != ':'; ++at) {
    if (word[at] == '?')
      rule.is_optional = true;
    else if (word[at] == '*')
      rule.is_repeated = true;
    else if (word[at] == '@')
      for (; at + 1 < word.size() && word[at + 1] != ':'; ++at)
        rule.since = 10 * rule.since + static_cast<int>(parse_number(word.substr(at + 1, 1)));
    else
      rule.same_as = static_cast<int>(parse_number(word.substr(at, 1)));
  }
  if (at == word.size()) return rule;
  std::string ranks = word.substr(at + 1);
  const bool is_least = ranks.ends_with('+');
  if (is_least) ranks.pop_back();
  const std::vector<std::string> bounds = split_words(ranks, '-');
  rule.least_rank = static_cast<std::size_t>(parse_number(bounds.at(0)));
  if (!is_least) rule.most_rank = static_cast<std::size_t>(parse_number(bounds.back()));
  return rule;
}

void parse_range(const std::string& text, AttrRule& rule) {
  const std::size_t dots = text.find("..");
  AOE_CHECK(dots != std::string::npos, "no range: " + text);
  rule.least = parse_number(text.substr(0, dots));
  if (dots + 2 < text.size()) rule.most = parse_number(text.substr(dots + 2));
}

AttrRule parse_attribute(const std::string& word) {
  const std::size_t equals = word.find('=');
  AOE_CHECK(equals != std::string::npos, "no kind: " + word);
  AttrRule rule{.name = word.substr(0, equals), .kind = word.substr(equals + 1)};
  if (rule.name.starts_with('!')) {
    rule.is_required = true;
    rule.name.erase(0, 1);
  }
  const auto is_kind = [](std::string_view text) {
    return std::ranges::count(kAttrKinds, text) > 0;
  };
  if (rule.kind == "long" || rule.kind == "longs") {
    rule.kind = rule.kind == "long" ? "int" : "ints";
    rule.least = std::numeric_limits<std::int64_t>::min();
    rule.most = std::numeric_limits<std::int64_t>::max();
  } else if (const std::size_t colon = rule.kind.find(':'); colon != std::string::npos) {
    parse_range(rule.kind.substr(colon + 1), rule);
    rule.kind.resize(colon);
  } else if (rule.kind.find("..") != std::string::npos) {
    parse_range(rule.kind, rule);
    rule.kind = "int";
  } else if (!is_kind(rule.kind)) {
    rule.words = split_words(rule.kind, '|');
    rule.kind = "string";
  }
  AOE_CHECK(is_kind(rule.kind), word);
  return rule;
}

OpRules parsed(const OpSignature& signature) {
  OpRules rules;
  for (const std::string& word : split_words(signature.inputs, ' '))
    rules.inputs.push_back(parse_input(word));
  for (const std::string& word : split_words(signature.attributes, ' '))
    rules.attributes.push_back(parse_attribute(word));
  return rules;
}

using Table = std::map<std::string, OpRules, std::less<>>;

const Table& table() {
  static const Table rules = [] {
    Table all;
    for (const OpDef* def : ops().all()) all.emplace(def->type, parsed(def->signature));
    return all;
  }();
  return rules;
}

// ---- checking ----

bool is_of(char types, DataType dtype) {
  switch (types) {
    case 'n':
      return is_floating(dtype) || is_integer(dtype);
    case 'f':
      return is_floating(dtype);
    case 's':
      return dtype == DataType::kFloat;
    case 'i':
      return is_integer(dtype);
    case 'u':
      return is_integer(dtype) && !is_signed(dtype);
    case 'q':
      return is_byte(dtype);
    case 'x':
      return dtype == DataType::kInt32 || dtype == DataType::kInt64;
    case 'l':
      return dtype == DataType::kInt64;
    case 'b':
      return dtype == DataType::kBool;
    default:
      return size_bytes(dtype) > 0;
  }
}

std::string words_for(char types) {
  switch (types) {
    case 'n':
      return "numbers";
    case 'f':
      return "floating point";
    case 's':
      return "float32";
    case 'i':
      return "integers";
    case 'u':
      return "unsigned integers";
    case 'q':
      return "int8 or uint8";
    case 'x':
      return "int32 or int64";
    case 'l':
      return "int64";
    case 'b':
      return "bool";
    default:
      return "numbers or bool";
  }
}

std::string words_for_rank(const InputRule& rule) {
  if (rule.most_rank == rule.least_rank) return std::to_string(rule.least_rank);
  if (rule.most_rank == std::numeric_limits<std::size_t>::max())
    return "at least " + std::to_string(rule.least_rank);
  return std::to_string(rule.least_rank) + " to " + std::to_string(rule.most_rank);
}

void check_inputs(const std::vector<InputRule>& rules, int version,
                  std::span<const Tensor> inputs) {
  const bool is_open = !rules.empty() && rules.back().is_repeated;
  if (inputs.size() > rules.size() && !is_open)
    fail_model("has " + std::to_string(inputs.size()) + " inputs, takes at most " +
               std::to_string(rules.size()));
  std::array<DataType, 10> common;  // by the digit of a rule
  common.fill(DataType::kUndefined);
  for (std::size_t i = 0; i < std::max(rules.size(), inputs.size()); ++i) {
    const InputRule& rule = rules[std::min(i, rules.size() - 1)];
    if (i >= inputs.size() || !inputs[i].is_present()) {
      if (rule.is_optional || (rule.is_repeated && i + 1 >= rules.size() && i >= inputs.size()))
        continue;
      fail_model("input " + std::to_string(i) + " is missing");
    }
    // Whoever reads an input that the version does not know contradicts what its attributes say.
    if (version < rule.since)
      fail_model("has an input " + std::to_string(i) + ", which there is since opset " +
                 std::to_string(rule.since));
    const TensorDesc& desc = inputs[i].desc;
    const auto need = [&](const std::string& what) {
      fail_model("input " + std::to_string(i) + " is " + std::string(name(desc.dtype)) + " " +
                 to_string(desc.shape) + ", needs " + what);
    };
    if (!is_of(rule.types, desc.dtype)) need(words_for(rule.types));
    if (rule.same_as >= 0) {
      DataType& first = common[static_cast<std::size_t>(rule.same_as)];
      if (first == DataType::kUndefined) first = desc.dtype;
      if (first != desc.dtype) need(std::string(name(first)) + " as the input before it");
    }
    if (desc.shape.size() < rule.least_rank || desc.shape.size() > rule.most_rank)
      need("a rank of " + words_for_rank(rule));
  }
}

void check_range(const AttrRule& rule, std::int64_t value) {
  if (value >= rule.least && value <= rule.most) return;
  fail_model("attribute '" + rule.name + "' is " + std::to_string(value) + ", needs " +
             (value < rule.least ? "at least " + std::to_string(rule.least)
                                 : "at most " + std::to_string(rule.most)));
}

void check_attribute(const AttrRule& rule, const Attrs& attrs) {
  if (!attrs.has(rule.name)) {
    if (rule.is_required) fail_model("attribute '" + rule.name + "' is missing");
    return;
  }
  if (rule.kind == "int") {
    check_range(rule, attrs.get_int(rule.name, 0));
  } else if (rule.kind == "ints") {
    for (const std::int64_t each : attrs.get_ints(rule.name)) check_range(rule, each);
  } else if (rule.kind == "float") {
    const float value = attrs.get_float(rule.name, 0);
    if (rule.least == 0 && !(value >= 0))
      fail_model("attribute '" + rule.name + "' is " + std::to_string(value) +
                 ", needs at least 0");
  } else if (rule.kind == "floats") {
    attrs.get_floats(rule.name);
  } else if (rule.kind == "tensor") {
    attrs.get_tensor(rule.name);
  } else if (rule.kind == "string") {
    const std::string value = attrs.get_string(rule.name, "");
    if (rule.words.empty() || std::ranges::find(rule.words, value) != rule.words.end()) return;
    fail_model("attribute '" + rule.name + "' is '" + value.substr(0, 64) + "', needs one of " +
               joined(rule.words, ", "));
  }
}

}  // namespace

void check_op_rules(std::string_view ir_type, int version, const Attrs& attrs,
                    std::span<const Tensor> inputs) {
  const auto found = table().find(ir_type);
  if (found == table().end()) return;
  check_inputs(found->second.inputs, version, inputs);
  for (const AttrRule& rule : found->second.attributes) check_attribute(rule, attrs);
}

bool has_attribute(std::string_view ir_type, std::string_view name) {
  const auto found = table().find(ir_type);
  return found != table().end() &&
         std::ranges::find(found->second.attributes, name, &AttrRule::name) !=
             found->second.attributes.end();
}

}  // namespace aoe::reference
