// Importing sequences and optionals. How long a sequence is, and whether an optional holds a value, is known while the
// model is imported in all that exporters write: the nodes leave tensors under other names, and no sequence reaches
// the graph. A loop that carries one is taken apart into its
// trips. Where a length depends on values, the node counts as unsupported and says so.
#include <algorithm>

#include "base/error.h"
#include "graph/import/onnx_importer.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

bool has_input(const onnx::NodeProto& proto, int i) {
  return i < proto.input_size() && !proto.input(i).empty();
}

/// Error(kModel) where the constant is anything but one integer.
std::int64_t one_int(const onnx::NodeProto& proto, const Constant& constant,
                     const std::string& what) {
  const TensorDesc& desc = constant.desc();
  const bool is_integer = desc.dtype == DataType::kInt64 || desc.dtype == DataType::kInt32;
  if (!is_integer || element_count(desc.shape) != 1)
    fail_node(proto, "has a " + what + " that is no integer: " + to_string(desc));
  return to_ints(constant).front();
}

std::int64_t count_or_condition(const onnx::NodeProto& proto, const ConstantPtr& known) {
  if (!known || known->desc().dtype == DataType::kUndefined ||
      element_count(known->desc().shape) != 1)
    throw NotExpressible{"it carries a sequence for a number of trips known only when it runs"};
  const bool is_bool = known->desc().dtype == DataType::kBool;
  return is_bool ? std::int64_t{*static_cast<const bool*>(known->data())}
                 : one_int(proto, *known, "count or condition");
}

}  // namespace

const Importer::Compound& Importer::sequence_of(const onnx::NodeProto& proto, int input,
                                                const Scope& scope) const {
  const Compound* found =
      has_input(proto, input) ? scope.find_compound(proto.input(input)) : nullptr;
  if (found == nullptr && unsupported_count_ > 0)
    throw NotExpressible{"it reads what another unsupported node gives"};
  if (found == nullptr || !found->is_sequence)
    fail_node(proto, "reads no sequence as its input " + std::to_string(input));
  return *found;
}

std::size_t Importer::place_in_sequence(const onnx::NodeProto& proto, int input, std::size_t length,
                                        std::int64_t absent, const Scope& scope) const {
  std::int64_t place = absent;
  if (has_input(proto, input)) {
    const ValueId value = scope.find(proto.input(input));
    const ConstantPtr known = value == kNone ? nullptr : now_->inference.known_value(value);
    if (!known || known->desc().dtype == DataType::kUndefined)
      throw NotExpressible{"its position in the sequence is known only when it runs"};
    place = one_int(proto, *known, "position");
  }
  if (place < 0) place += static_cast<std::int64_t>(length);
  if (place < 0 || place > static_cast<std::int64_t>(length))
    fail_node(proto, "reads position " + std::to_string(place) + " of a sequence of " +
                         std::to_string(length));
  return static_cast<std::size_t>(place);
}

bool Importer::import_compound(const onnx::NodeProto& proto, Scope& scope) {
  if (import_sequence(proto, scope) || import_optional(proto, scope)) return true;
  return proto.op_type() == "Identity" && has_input(proto, 0) &&
         scope.find_compound(proto.input(0)) != nullptr &&
         scope.bind(proto.output(0), proto.input(0), scope);
}

template <typename T>
void Importer::bind_scalar(const std::string& name, DataType dtype, T value, Scope& scope) {
  const TensorDesc desc{.dtype = dtype};
  scope.values[name] = now_->graph.add_value(unique_value_name(scope.prefix + name), desc,
                                             std::make_shared<Constant>(desc, &value));
}

bool Importer::import_sequence(const onnx::NodeProto& proto, Scope& scope) {
  const std::string& type = proto.op_type();
  const std::string& out = proto.output(0);
  const bool is_map = type == "SequenceMap";
  const bool edits = type == "SequenceInsert" || type == "SequenceErase";
  if (edits || is_map || type == "SequenceAt" || type == "SequenceLength" ||
      type == "ConcatFromSequence") {
    const int place = is_map ? proto.input_size() : type == "SequenceInsert" ? 2 : 1;
    if (is_packed_case(proto, place, scope)) return import_packed(proto, scope), true;
  }
  if (type == "SequenceEmpty") {
    scope.compounds[out] = {.is_sequence = true, .items = {}};
  } else if (type == "SequenceConstruct") {
    std::vector<ValueId> items;
    for (const std::string& input : proto.input()) items.push_back(scope.find(input));
    if (std::ranges::find(items, kNone) != items.end())
      fail_node(proto, "has an input that is no tensor");
    scope.compounds[out] = {.is_sequence = true, .items = std::move(items)};
  } else if (edits) {
    scope.compounds[out] = {.is_sequence = true, .items = edited_items(proto, scope)};
  } else if (type == "SequenceAt") {
    const SequenceItems& items = sequence_of(proto, 0, scope).items;
    scope.values[out] = items[place_of_item(proto, items.size(), scope)];
  } else if (type == "SequenceLength") {
    bind_scalar(out, DataType::kInt64, std::ssize(sequence_of(proto, 0, scope).items), scope);
  } else if (type == "SplitToSequence") {
    import_split_to_sequence(proto, scope);
  } else if (type == "ConcatFromSequence") {
    import_concat_from_sequence(proto, scope);
  } else if (is_map) {
    import_sequence_map(proto, scope);
  } else {
    return false;
  }
  return true;
}

/// Of a sequence of `length`, whose last item it is where the node names none.
std::size_t Importer::place_of_item(const onnx::NodeProto& proto, std::size_t length,
                                    const Scope& scope) const {
  const std::size_t at = place_in_sequence(proto, 1, length, -1, scope);
  if (at >= length)
    fail_node(proto, "reads position " + std::to_string(at) + " of a sequence of " +
                         std::to_string(length));
  return at;
}

/// With one item more, or less.
std::vector<ValueId> Importer::edited_items(const onnx::NodeProto& proto, const Scope& scope) {
  const std::string where = "node " + describe(proto);
  const SequenceItems before = sequence_of(proto, 0, scope).items;
  const auto size = static_cast<std::int64_t>(before.size());
  if (proto.op_type() == "SequenceErase") {
    const std::size_t at = place_of_item(proto, before.size(), scope);
    budget_.add_items(before.size(), where);
    std::vector<ValueId> items = before.list();
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
    return items;
  }
  const std::size_t at = place_in_sequence(proto, 2, before.size(), size, scope);
  const ValueId value = has_input(proto, 1) ? scope.find(proto.input(1)) : kNone;
  if (value == kNone) fail_node(proto, "inserts no tensor");
  budget_.add_items(before.size() + 1, where);
  std::vector<ValueId> items = before.list();
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), value);
  return items;
}

bool Importer::import_optional(const onnx::NodeProto& proto, Scope& scope) {
  const std::string& type = proto.op_type();
  const std::string& out = proto.output(0);
  if (type == "Optional" && !has_input(proto, 0)) {
    scope.compounds[out] = {.is_sequence = false, .items = {}};
    return true;
  }
  const Compound* held = has_input(proto, 0) ? scope.find_compound(proto.input(0)) : nullptr;
  if (type.starts_with("OptionalGet") || type.starts_with("OptionalHas"))
    if (held != nullptr && !held->is_sequence && held->packed != kNone)
      return import_packed_optional(proto, *held, scope), true;
  const bool has_element = has_input(proto, 0) && (held == nullptr || held->is_sequence);
  if (type == "Optional" || type == "OptionalGetElement") {
    if (!has_element) fail_node(proto, "takes the value of an optional that holds nothing");
    if (!scope.bind(out, proto.input(0), scope)) fail_node(proto, "has no input");
    return true;
  }
  if (type != "OptionalHasElement") return false;
  bind_scalar(out, DataType::kBool, has_element, scope);
  return true;
}

void Importer::import_split_to_sequence(const onnx::NodeProto& proto, Scope& scope) {
  FunctionCall call = function_call(proto, scope);
  const Term x = call.input(0);
  std::int64_t axis = call.attrs().get_int("axis", 0);
  if (axis < 0) axis += call.rank(x);
  const bool is_given = call.has(1);
  if (is_given && !call.known(call.input(1)) && call.rank(call.input(1)) == 1) {
    const reference::Attrs attrs = with_axis(axis);
    const auto count = static_cast<std::size_t>(call.dim(call.input(1), 0));
    budget_.add_operands(count, "node " + describe(proto));
    std::vector<ValueId> items;
    for (const Term& part : call.ops("Split", {x, call.input(1)}, attrs, count))
      items.push_back(part.id);
    scope.compounds[proto.output(0)] = {.is_sequence = true, .items = std::move(items)};
    return;
  }
  const auto shape = call.shape(x);
  const bool is_open =
      axis >= 0 && axis < std::ssize(shape) && shape[static_cast<std::size_t>(axis)] == kUnknownDim;
  if (is_open || (is_given && !call.known(call.input(1)))) return import_packed_split(proto, scope);
  const std::int64_t size = call.dim(x, axis);
  std::vector<std::int64_t> parts;
  const std::vector<std::int64_t> given =
      is_given ? call.known_ints(call.input(1)) : std::vector<std::int64_t>{1};
  if (is_given && call.rank(call.input(1)) == 1) {
    parts = given;
  } else {
    if (given.empty() || given.front() <= 0) fail_node(proto, "splits into parts of no size");
    const auto count = static_cast<std::size_t>(size / given.front());
    if (count > ImportBudget::kMostNodes)  // parts are nodes, and each is counted
      budget_.add_nodes(count, "node " + describe(proto));
    for (std::int64_t begin = 0; begin < size; begin += given.front())
      parts.push_back(std::min(given.front(), size - begin));
  }
  const bool drops_axis = !is_given && call.attrs().get_int("keepdims", 1) == 0;
  std::int64_t begin = 0;
  std::vector<ValueId> items;
  for (const std::int64_t part : parts) {
    if (part < 0 || part > size - begin) fail_node(proto, "splits more than there is");
    Term item = call.slice(x, axis, begin, begin + part);
    if (drops_axis) item = call.op("Squeeze", {item, call.ints({axis})});
    items.push_back(item.id);
    begin += part;
  }
  if (begin != size) fail_node(proto, "splits less than there is");
  scope.compounds[proto.output(0)] = {.is_sequence = true, .items = std::move(items)};
}

void Importer::import_concat_from_sequence(const onnx::NodeProto& proto, Scope& scope) {
  const SequenceItems items = sequence_of(proto, 0, scope).items;
  if (items.empty()) fail_node(proto, "joins an empty sequence");
  budget_.add_operands(items.size(), "node " + describe(proto));
  Node node = call_node(proto, scope);
  node.inputs = items.list();
  FunctionCall call(function_site(), node);
  const std::int64_t axis = call.attrs().get_int("axis", 0);
  std::vector<Term> parts;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Term part = call.input(i);
    const bool is_new = call.attrs().get_int("new_axis", 0) != 0;
    parts.push_back(is_new ? call.op("Unsqueeze", {part, call.ints({axis})}) : part);
  }
  scope.values[proto.output(0)] = call.concat(parts, axis).id;
}

/// The body, once for each element; inputs behind the first that are sequences too are taken element by element.
void Importer::import_sequence_map(const onnx::NodeProto& proto, Scope& scope) {
  const std::size_t length = sequence_of(proto, 0, scope).items.size();
  const onnx::GraphProto* body = subgraph(proto, "body");
  if (body == nullptr || body->output_size() < proto.output_size() ||
      body->input_size() != proto.input_size())
    fail_node(proto, "has no body with its inputs and outputs");
  std::vector<std::vector<ValueId>> results(static_cast<std::size_t>(proto.output_size()));
  for (std::size_t element = 0; element < length; ++element) {
    budget_.add_operands(results.size() + 1, "node " + describe(proto));
    Scope inner = inner_scope(proto, *body, scope);
    inner.prefix = unique_node_name(proto, scope) + "/";
    for (int i = 0; i < proto.input_size(); ++i) {
      const Compound* sequence = scope.find_compound(proto.input(i));
      if (sequence != nullptr && sequence->items.size() != length)
        fail_node(proto, "maps sequences that differ in length");
      const std::string& name = body->input(i).name();
      if (sequence != nullptr)
        inner.values[name] = sequence->items[element];
      else
        inner.bind(name, proto.input(i), scope);
    }
    import_body(*body, inner);
    for (int i = 0; i < proto.output_size(); ++i) {
      const ValueId result = inner.find(body->output(i).name());
      if (result == kNone)
        fail_node(proto, "has a body whose output '" + body->output(i).name() + "' is no tensor");
      results[static_cast<std::size_t>(i)].push_back(result);
    }
  }
  for (int i = 0; i < proto.output_size(); ++i)
    if (!proto.output(i).empty())
      scope.compounds[proto.output(i)] = {.is_sequence = true,
                                          .items = std::move(results[static_cast<std::size_t>(i)])};
}

/// A loop that carries a sequence: its trips one behind the other, as long as what they are counted by is known.
void Importer::import_unrolled_loop(const onnx::NodeProto& proto, const onnx::GraphProto& body,
                                    Scope& scope) {
  const auto known_of = [&](ValueId value) {
    return count_or_condition(proto, value == kNone ? nullptr : now_->inference.known_value(value));
  };
  FunctionCall call = function_call(proto, scope);
  const std::int64_t most =
      has_input(proto, 0) ? known_of(scope.find(proto.input(0))) : std::int64_t{1} << 62;
  bool goes_on = !has_input(proto, 1) || known_of(scope.find(proto.input(1))) != 0;
  Scope carried;  // what a trip gives to the next, under the body's names for its inputs
  for (int i = 2; i < proto.input_size(); ++i)
    if (!carried.bind(body.input(i).name(), proto.input(i), scope))
      fail_node(proto, "carries '" + proto.input(i) + "', which nothing produces");
  const int kept = body.input_size() - 2;
  std::vector<std::vector<Term>> collected(static_cast<std::size_t>(body.output_size() - 1 - kept));
  const std::string prefix = unique_node_name(proto, scope) + "/";
  for (std::int64_t trip = 0; trip < most && goes_on; ++trip) {
    const std::string where = "trip " + std::to_string(trip) + " of node " + describe(proto);
    budget_.add_node(where);
    budget_.add_operands(static_cast<std::size_t>(body.output_size()), where);
    Scope inner = inner_scope(proto, body, scope);
    inner.prefix = prefix;
    inner.values = carried.values;
    inner.compounds = carried.compounds;
    const auto set_constant = [&](int input, const TensorDesc& desc, const void* value) {
      const std::string& name = body.input(input).name();
      inner.values[name] = now_->graph.add_value(unique_value_name(prefix + name), desc,
                                                 std::make_shared<Constant>(desc, value));
    };
    set_constant(0, {.dtype = DataType::kInt64}, &trip);
    set_constant(1, {.dtype = DataType::kBool}, &goes_on);
    import_body(body, inner);
    if (unsupported_count_ > 0) return bind_unknown_outputs(proto, scope);
    carried = {};
    for (int i = 0; i < kept; ++i)
      if (!carried.bind(body.input(2 + i).name(), body.output(1 + i).name(), inner))
        fail_node(proto,
                  "has a body whose output '" + body.output(1 + i).name() + "' nothing produces");
    for (std::size_t i = 0; i < collected.size(); ++i) {
      const ValueId slice = inner.find(body.output(1 + kept + static_cast<int>(i)).name());
      if (slice == kNone) throw NotExpressible{"it collects what is no tensor"};
      collected[i].push_back(call.op("Unsqueeze", {Term{&call, slice}, call.ints({0})}));
    }
    goes_on = known_of(inner.find(body.output(0).name())) != 0;
  }
  for (int i = 0; i < proto.output_size(); ++i) {
    const std::string& name = proto.output(i);
    if (name.empty()) continue;
    if (i < kept) {
      scope.bind(name, body.input(2 + i).name(), carried);
      continue;
    }
    const std::vector<Term>& parts = collected[static_cast<std::size_t>(i - kept)];
    if (parts.empty()) throw NotExpressible{"it collects the slices of no trip"};
    scope.values[name] = call.concat(parts, 0).id;
  }
}

}  // namespace aoe::graph
