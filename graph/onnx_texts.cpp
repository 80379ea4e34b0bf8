// Importing tensors of texts: their elements are places in a table of all texts of the model (text_table.h), so that
// what moves texts moves numbers, and two texts are equal where their places are.
#include <algorithm>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "graph/classical.h"
#include "graph/onnx_importer.h"
#include "graph/rewrite.h"
#include "reference/onnx_data_type.h"

namespace aoe::graph {
namespace {

/// What an operator does with texts.
struct TextRule {
  std::string_view domain, type;
  unsigned
      inputs;  ///< a bit for each that may be texts; when one of them is, all of them have to be
  bool gives_texts;  ///< its outputs are texts then
};
constexpr unsigned kFirstInput = 1, kAllInputs = ~0U;
constexpr TextRule kTextRules[] = {{"", "Identity", kFirstInput, true},
                                   {"", "Reshape", kFirstInput, true},
                                   {"", "Flatten", kFirstInput, true},
                                   {"", "Squeeze", kFirstInput, true},
                                   {"", "Unsqueeze", kFirstInput, true},
                                   {"", "Transpose", kFirstInput, true},
                                   {"", "Expand", kFirstInput, true},
                                   {"", "Tile", kFirstInput, true},
                                   {"", "Slice", kFirstInput, true},
                                   {"", "Split", kFirstInput, true},
                                   {"", "Gather", kFirstInput, true},
                                   {"", "GatherElements", kFirstInput, true},
                                   {"", "GatherND", kFirstInput, true},
                                   {"", "Compress", kFirstInput, true},
                                   {"", "ReverseSequence", kFirstInput, true},
                                   {"", "Concat", kAllInputs, true},
                                   {"", "Where", 0b110, true},
                                   {"", "Equal", 0b11, false},
                                   {"", "Shape", kFirstInput, false},
                                   {"", "Size", kFirstInput, false},
                                   {"", "TfIdfVectorizer", kFirstInput, false},
                                   {kClassical, "ArrayFeatureExtractor", kFirstInput, true},
                                   {kClassical, "LabelEncoder", kFirstInput, false},
                                   {kClassical, "OneHotEncoder", kFirstInput, false},
                                   {kClassical, "CategoryMapper", kFirstInput, false}};

const TextRule* rule_of(const std::string& domain, const std::string& type) {
  const auto* const found = std::ranges::find_if(
      kTextRules, [&](const TextRule& rule) { return rule.domain == domain && rule.type == type; });
  return found == std::end(kTextRules) ? nullptr : found;
}

bool is_among(int input, unsigned inputs) {
  return inputs == kAllInputs || (input < 32 && (inputs >> input & 1U) != 0);
}

/// Fits into a message of one line.
bool is_shown(const std::string& text) {
  constexpr std::size_t kLongest = 40;
  return text.size() <= kLongest &&
         std::ranges::none_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

std::string few_of(const std::vector<std::string>& texts) {
  constexpr std::size_t kMostListed = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(texts.size(), kMostListed); ++i)
    list += (i == 0 ? "" : ", ") + (is_shown(texts[i]) ? "'" + texts[i] + "'" : "...");
  return texts.size() > kMostListed ? list + ", ..." : list;
}

std::int64_t cast_target(const onnx::NodeProto& proto) {
  for (const auto& own : proto.attribute())
    if (own.name() == "to") return own.i();
  return 0;
}

/// The number that a text says, as ONNX means it; nothing when it says none.
std::optional<double> number_said(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

bool Importer::is_text_value(const std::string& name, const Scope& scope) const {
  return !name.empty() && now_->texts.contains(scope.find(name));
}

/// Whether what the node gives are texts. NotExpressible where it does with texts what places cannot tell.
bool Importer::moves_texts(const onnx::NodeProto& proto, const std::string& domain,
                           const Scope& scope) const {
  const auto is_text = [&](const std::string& input) { return is_text_value(input, scope); };
  if (now_->texts.empty() || std::ranges::none_of(proto.input(), is_text)) return false;
  const TextRule* rule = rule_of(domain, proto.op_type());
  if (rule == nullptr)
    throw NotExpressible{
        "it reads texts, which are numbers here that tell no more than whether two are equal"};
  for (int i = 0; i < proto.input_size(); ++i)
    if (is_text(proto.input(i)) != is_among(i, rule->inputs) && !proto.input(i).empty())
      throw NotExpressible{"its input " + std::to_string(i) +
                           (is_text(proto.input(i)) ? " is texts" : " is no texts beside texts")};
  return rule->gives_texts;
}

/// Cast of texts to texts, or of known ones to numbers; false when the node is none.
bool Importer::import_text_cast(const onnx::NodeProto& proto, Scope& scope) {
  if (proto.op_type() != "Cast" || proto.input_size() != 1) return false;
  const bool from_text = is_text_value(proto.input(0), scope);
  const bool to_text = cast_target(proto) == onnx::TensorProto::STRING;
  if (to_text && !from_text) throw NotExpressible{"it makes texts of numbers"};
  if (!from_text) return false;
  const ValueId from = scope.find(proto.input(0));
  if (to_text) {
    scope.values[proto.output(0)] = from;
    return true;
  }
  const ConstantPtr known = now_->inference.known_value(from);
  if (!known) throw NotExpressible{"it makes numbers of texts that only a run knows"};
  std::vector<double> numbers;
  for (const std::int64_t place : to_ints(*known)) {
    const bool is_listed = place >= 0 && place < std::ssize(texts_.list());
    const auto number =
        number_said(is_listed ? texts_.list()[static_cast<std::size_t>(place)] : "");
    if (!number) throw NotExpressible{"it makes a number of a text that says none"};
    numbers.push_back(*number);
  }
  const Node node = call_node(proto, scope);
  const FunctionSite site = function_site();
  FunctionCall call(site, node);
  const Term read = call.reals(DataType::kDouble, known->desc().shape, numbers);
  scope.values[proto.output(0)] =
      call.cast(read, reference::data_type_from_onnx(cast_target(proto))).id;
  return true;
}

/// What TfIdfVectorizer counts is of the kind that it reads.
void Importer::check_pool(const onnx::NodeProto& proto, const Scope& scope) const {
  if (proto.op_type() != "TfIdfVectorizer" || proto.input_size() == 0) return;
  const bool has_texts = std::ranges::any_of(
      proto.attribute(), [](const auto& own) { return own.name() == "pool_strings"; });
  if (has_texts == is_text_value(proto.input(0), scope)) return;
  throw NotExpressible{has_texts ? "its pool is texts, its input is none"
                                 : "its input is texts, its pool is none"};
}

/// A pool of texts becomes one of their places.
void Importer::place_pool(Node& node) {
  const std::vector<std::string> pool = strings_of(node.op.attrs, "pool_strings");
  node.op.attrs.erase("pool_strings");
  node.op.attrs.set("pool_int64s", texts_.places_of(pool));
}

void Importer::mark_texts(const onnx::NodeProto& proto, const Scope& scope) {
  for (const std::string& output : proto.output())
    if (!output.empty()) now_->texts.insert(scope.find(output));
}

/// What the model and the import call texts has to be the same.
void Importer::check_output_texts(const onnx::ValueInfoProto& info, ValueId id) const {
  const bool is_computed = now_->texts.contains(id);
  const bool is_declared = info.type().tensor_type().elem_type() != onnx::TensorProto::UNDEFINED;
  if (is_computed == is_text(info) || !is_declared) return;
  throw Error(ExitCode::kModel,
              is_computed ? "contradictory types: it is declared as numbers and computed as texts"
                          : "contradictory types: it is declared as texts and computed as numbers",
              "output '" + info.name() + "'");
}

/// What the graph tells about texts, and one line for who will call it.
void Importer::tell_texts() {
  Graph& graph = now_->graph;
  std::string names;
  const auto tell = [&](const std::vector<ValueId>& ids, const char* what,
                        std::vector<std::string>& told) {
    for (const ValueId id : ids) {
      if (!now_->texts.contains(id)) continue;
      told.push_back(graph.values[id].name);
      names += (names.empty() ? "" : ", ") + std::string(what) + " '" + told.back() + "'";
    }
  };
  tell(graph.inputs, "input", graph.texts.inputs);
  tell(graph.outputs, "output", graph.texts.outputs);
  if (graph.texts.empty()) return;
  graph.texts.list = texts_.list();
  logger("graph")->warn(
      "texts in the model are here their places among {} that the om lists ({}): {}",
      graph.texts.list.size(), few_of(graph.texts.list), names);
}

}  // namespace aoe::graph
