// Importing tensors of texts: their elements are places in a table of all texts of the model (text_table.h), so that
// what moves texts moves numbers, and two texts are equal where their places are.
#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "graph/import/classical.h"
#include "graph/import/onnx_importer.h"
#include "graph/import/small_types.h"
#include "graph/rewrite.h"
#include "reference/elements/onnx_data_type.h"
#include "reference/texts/texts.h"

namespace aoe::graph {
namespace {

/// What an operator does with texts: a bit for each input that may be texts, and then for each output that is.
struct TextRule {
  std::string_view domain, type;
  unsigned inputs;
  unsigned outputs;
  enum class Kind {
    kMoves,  ///< when one of the inputs is texts, all of them have to be
    kReads,  ///< they have to be
    kMixes,  ///< each for itself
  } kind = Kind::kMoves;
};
constexpr unsigned kFirst = 1, kAll = ~0U;
constexpr TextRule kTextRules[] = {
    {"", "Identity", kFirst, kFirst},
    {"", "Reshape", kFirst, kFirst},
    {"", "Flatten", kFirst, kFirst},
    {"", "Squeeze", kFirst, kFirst},
    {"", "Unsqueeze", kFirst, kFirst},
    {"", "Transpose", kFirst, kFirst},
    {"", "Expand", kFirst, kFirst},
    {"", "Tile", kFirst, kFirst},
    {"", "Slice", kFirst, kFirst},
    {"", "Split", kFirst, kAll},
    {"", "Gather", kFirst, kFirst},
    {"", "GatherElements", kFirst, kFirst},
    {"", "GatherND", kFirst, kFirst},
    {"", "ScatterElements", 0b101, kFirst},
    {"", "ScatterND", 0b101, kFirst},
    {"", "Scatter", 0b101, kFirst},
    {"", "Compress", kFirst, kFirst},
    {"", "ReverseSequence", kFirst, kFirst},
    {"", "OneHot", 0b100, kFirst},
    {"", "Concat", kAll, kFirst},
    {"", "Where", 0b110, kFirst},
    {"", "Equal", 0b11, 0},
    {"", "Shape", kFirst, 0},
    {"", "Size", kFirst, 0},
    {"", "TfIdfVectorizer", kFirst, 0},
    {"", "StringNormalizer", kFirst, kFirst, TextRule::Kind::kReads},
    {"", "StringConcat", 0b11, kFirst, TextRule::Kind::kReads},
    {"", "StringSplit", kFirst, kFirst, TextRule::Kind::kReads},
    {"", "RegexFullMatch", kFirst, 0, TextRule::Kind::kReads},
    {"com.microsoft", "Tokenizer", kFirst, kFirst, TextRule::Kind::kReads},
    {"", "SequenceConstruct", kAll, 0},
    {"", "SequenceInsert", 0b10, 0},
    {"", "SplitToSequence", kFirst, 0},
    {"", "SequenceMap", kAll, 0, TextRule::Kind::kMixes},
    {"", "Optional", kFirst, 0},
    {"", "OptionalGetElement", kFirst, 0},
    {"", "OptionalHasElement", kFirst, 0},
    {"", "Loop", kAll, 0, TextRule::Kind::kMixes},
    {"", "Scan", kAll, 0, TextRule::Kind::kMixes},
    {kClassical, "ArrayFeatureExtractor", kFirst, kFirst},
    {kClassical, "LabelEncoder", kFirst, 0},
    {kClassical, "OneHotEncoder", kFirst, 0},
    {kClassical, "CategoryMapper", kFirst, 0}};

const TextRule* rule_of(const std::string& domain, const std::string& type) {
  const auto* const found = std::ranges::find_if(
      kTextRules, [&](const TextRule& rule) { return rule.domain == domain && rule.type == type; });
  return found == std::end(kTextRules) ? nullptr : found;
}

/// Whether place i of a list is in a set of bits.
bool is_among(int i, unsigned bits) {
  return bits == kAll || (i < 32 && (bits >> i & 1U) != 0);
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

/// They look nothing up, and whether two are equal tells no sum.
bool combines(const onnx::NodeProto& proto) {
  const onnx::AttributeProto* reduction = attribute_of(proto, "reduction");
  return reduction != nullptr && reduction->s() != "none";
}

/// In the graph, or in a body of one of its nodes.
bool has_reader(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) {
    if (node.is_dead) return false;
    return reference::reads_texts(node.op.type) ||
           std::ranges::any_of(node.bodies, [](const auto& body) { return has_reader(*body); });
  });
}

}  // namespace

bool Importer::is_text_value(const std::string& name, const Scope& scope) const {
  return !name.empty() && now_->texts.contains(scope.find(name));
}

/// NotExpressible where the operator does with texts what no rule says.
unsigned Importer::find_text_outputs(const onnx::NodeProto& proto, const std::string& domain,
                                     const Scope& scope) const {
  const auto is_text = [&](const std::string& input) { return is_text_value(input, scope); };
  const TextRule* rule = rule_of(domain, proto.op_type());
  const bool has_to_read = rule != nullptr && rule->kind == TextRule::Kind::kReads;
  if (!has_to_read && (now_->texts.empty() || std::ranges::none_of(proto.input(), is_text)))
    return 0;
  if (rule == nullptr || combines(proto))
    throw NotExpressible{"it reads texts, which it knows nothing to do with"};
  for (int i = 0; i < proto.input_size(); ++i)
    if (is_text(proto.input(i)) != is_among(i, rule->inputs) && !proto.input(i).empty() &&
        rule->kind != TextRule::Kind::kMixes)
      throw NotExpressible{"its input " + std::to_string(i) +
                           (is_text(proto.input(i)) ? " is texts" : " is no texts")};
  return rule->outputs;
}

/// Cast and CastLike of texts, or to them; false when the node is none.
bool Importer::import_text_cast(const onnx::NodeProto& proto, Scope& scope) {
  const bool is_like = proto.op_type() == "CastLike";
  if (!is_like && proto.op_type() != "Cast") return false;
  if (proto.input_size() != (is_like ? 2 : 1)) return false;
  const onnx::AttributeProto* to = is_like ? nullptr : attribute_of(proto, "to");
  const bool from_text = is_text_value(proto.input(0), scope);
  const bool to_text = is_like ? is_text_value(proto.input(1), scope)
                               : to != nullptr && to->i() == onnx::TensorProto::STRING;
  if (!from_text && !to_text) return false;
  if (from_text && to_text) {
    scope.values[proto.output(0)] = scope.find(proto.input(0));
    return true;
  }
  FunctionCall call = function_call(proto, scope);
  if (to_text) {
    if (small_of(proto.input(0), scope) != nullptr)
      throw NotExpressible{"it makes texts of a small type"};
    const Term text = text_op(call, "NumberToText", call.input(0));
    call.mark_as_text(text);
    scope.values[proto.output(0)] = text.id;
    return true;
  }
  if (is_like ? small_of(proto.input(1), scope) != nullptr
              : to != nullptr && small_type(to->i()) != nullptr)
    throw NotExpressible{"it makes a small type of texts"};
  reference::Attrs attrs;
  attrs.set("to", is_like ? reference::onnx_number(call.dtype(call.input(1)))
                          : call.attrs().get_int("to", 0));
  scope.values[proto.output(0)] = text_op(call, "TextToNumber", call.input(0), attrs).id;
  return true;
}

/// Unique of texts: of their places in order, where the first of each are; false when the node is none.
bool Importer::import_text_unique(const onnx::NodeProto& proto, Scope& scope) {
  if (proto.op_type() != "Unique" || proto.input_size() != 1 ||
      !is_text_value(proto.input(0), scope))
    return false;
  constexpr int kOutputs = 4;
  if (proto.output_size() > kOutputs)
    fail_node(proto, "has " + std::to_string(kOutputs) + " outputs, the model asks for " +
                         std::to_string(proto.output_size()));
  FunctionCall call = function_call(proto, scope);
  const Term x = call.input(0);
  const auto found = call.ops("Unique", {text_op(call, "TextRank", x)}, call.attrs(), kOutputs);
  const bool is_flat = !call.attrs().has("axis");
  const reference::Attrs along = with_axis(call.attrs().get_int("axis", 0));
  const Term rows = is_flat ? call.reshape(x, {-1}) : x;
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty()) continue;
    const auto at = static_cast<std::size_t>(i);
    scope.values[proto.output(i)] =
        i == 0 ? call.op("Gather", {rows, found[1]}, along).id : found[at].id;
  }
  return true;
}

/// Shape inference compiles regular expressions, whatever it knows of what they are matched with.
void Importer::count_expressions(NodeId id) {
  const Node& node = now_->graph.nodes[id];
  evaluation_.work -= evaluation_work(node.op, {}, {});
  if (evaluation_.work < 0)
    throw ImportBudget::Exceeded(ExitCode::kModel,
                                 "the model's regular expressions are too many or too large",
                                 "node " + node.name);
}

/// A node that reads letters which are known becomes what it gives: no later pass has the table.
void Importer::fold_texts(NodeId id) {
  Graph& graph = now_->graph;
  const auto is_known = [&](ValueId value) {
    return value == kNone || now_->inference.known_value(value) != nullptr;
  };
  if (!std::ranges::all_of(graph.nodes[id].inputs, is_known)) return;
  texts_.during([&] { now_->inference.infer_node(id); });
  const std::vector<ValueId> outputs = graph.nodes[id].outputs;
  if (!std::ranges::all_of(outputs, is_known)) return;
  graph.remove_node(id);
  for (const ValueId output : outputs)
    if (output != kNone) graph.values[output].constant = now_->inference.known_value(output);
}

Term Importer::text_op(FunctionCall& call, const std::string& type, const Term& input,
                       reference::Attrs attrs) {
  const Term result = call.op(type, {input}, std::move(attrs));
  fold_texts(now_->graph.values[result.id].producer);
  return result;
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
  const std::vector<std::string> pool = node.op.attrs.get_strings("pool_strings");
  node.op.attrs.erase("pool_strings");
  node.op.attrs.set("pool_int64s", texts_.places_of(pool));
}

void Importer::mark_texts(const onnx::NodeProto& proto, unsigned outputs, const Scope& scope) {
  for (int i = 0; i < proto.output_size(); ++i)
    if (is_among(i, outputs) && !proto.output(i).empty())
      now_->texts.insert(scope.find(proto.output(i)));
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
  const bool are_read = has_reader(graph);
  if (graph.texts.empty() && !are_read) return;
  // What measures with invented inputs takes 0 and 1 for indices: where places are read, there are texts of these.
  if (are_read) texts_.places_of({"", " "});
  graph.texts.list = texts_.list();
  if (names.empty()) return;
  logger("graph")->warn(
      "texts in the model are here their places among {} that the om lists ({}): {}",
      graph.texts.list.size(), few_of(graph.texts.list), names);
}

}  // namespace aoe::graph
