// Importing sequences whose length only a run can tell: carried by a loop, split into parts that are counted when it runs,
// read or changed at a computed place, given by branches that differ. Such a sequence is one tensor of bytes
// (reference/packed_sequence.h), which control flow carries like any other; of its items the type and rank are known.
#include "base/error.h"
#include "graph/import/onnx_importer.h"
#include "graph/rewrite.h"
#include "reference/elements/onnx_data_type.h"

namespace aoe::graph {
namespace {

Term optional_input(FunctionCall& call, std::size_t i) {
  return call.has(i) ? call.input(i) : call.absent();
}

/// What PackedAt and PackedConcat are told of the items.
reference::Attrs told(const std::optional<SequenceItem>& item) {
  if (!item) throw NotExpressible{"what the sequence holds is known only when it runs"};
  reference::Attrs attrs;
  attrs.set("dtype", reference::onnx_number(item->desc.dtype));
  attrs.set("rank", static_cast<std::int64_t>(item->desc.shape.size()));
  return attrs;
}

}  // namespace

std::optional<SequenceItem> Importer::joined_item(const std::optional<SequenceItem>& a,
                                                  const std::optional<SequenceItem>& b) {
  if (!a || !b) return a ? a : b;
  if (a->is_text != b->is_text) throw NotExpressible{"a sequence has texts and numbers"};
  return SequenceItem{joined(a->desc, b->desc, "an item of a sequence"), a->is_text};
}

SequenceItem Importer::item_of(ValueId value) const {
  return {now_->graph.values[value].desc, now_->texts.contains(value)};
}

Importer::Compound Importer::packed(const onnx::NodeProto& proto, const Compound& sequence,
                                    Scope& scope) {
  if (!sequence.is_sequence)
    throw NotExpressible{"it is given an optional that holds nothing, or may hold nothing"};
  if (sequence.packed != kNone) return sequence;
  Compound result;
  if (sequence.items.empty()) {
    const std::int64_t none = 0;
    const TensorDesc desc{.dtype = DataType::kUint8, .shape = {sizeof(none)}};
    result.packed = now_->graph.add_value(unique_value_name(scope.prefix + "empty_sequence"), desc,
                                          std::make_shared<Constant>(desc, &none));
    return result;
  }
  FunctionCall call = function_call(proto, scope);
  budget_.add_operands(sequence.items.size(), "node " + describe(proto));
  std::vector<Term> items;
  for (const ValueId item : sequence.items) {
    if (now_->small.contains(item)) throw NotExpressible{"its sequence is of a small type"};
    result.item = joined_item(result.item, item_of(item));
    items.push_back({&call, item});
  }
  result.packed = call.op("SequencePack", items).id;
  return result;
}

bool Importer::is_packed_case(const onnx::NodeProto& proto, int place, const Scope& scope) const {
  if (sequence_of(proto, 0, scope).packed != kNone) return true;
  if (place >= proto.input_size() || proto.input(place).empty()) return false;
  const ValueId value = scope.find(proto.input(place));
  return value != kNone && !now_->inference.known_value(value);
}

void Importer::import_packed(const onnx::NodeProto& proto, Scope& scope) {
  const std::string &type = proto.op_type(), &out = proto.output(0);
  Compound sequence = packed(proto, sequence_of(proto, 0, scope), scope);
  FunctionCall call = function_call(proto, scope);
  const Term bytes{&call, sequence.packed};
  if (type == "SequenceInsert") {
    const Term item = call.input(1);
    sequence.item = joined_item(sequence.item, item_of(item.id));
    sequence.packed = call.op("PackedInsert", {bytes, item, optional_input(call, 2)}).id;
    scope.compounds[out] = sequence;
  } else if (type == "SequenceErase") {
    sequence.packed = call.op("PackedErase", {bytes, optional_input(call, 1)}).id;
    scope.compounds[out] = sequence;
  } else if (type == "SequenceAt") {
    scope.values[out] =
        call.op("PackedAt", {bytes, optional_input(call, 1)}, told(sequence.item)).id;
  } else if (type == "SequenceLength") {
    scope.values[out] = call.op("PackedLength", {bytes}).id;
  } else if (type == "ConcatFromSequence") {
    reference::Attrs attrs = told(sequence.item);
    attrs.set("axis", call.attrs().get_int("axis", 0));
    attrs.set("new_axis", call.attrs().get_int("new_axis", 0));
    scope.values[out] = call.op("PackedConcat", {bytes}, attrs).id;
  } else {
    throw NotExpressible{"how long its sequence is, is known only when it runs"};
  }
  const bool gives_items = type == "SequenceAt" || type == "ConcatFromSequence";
  if (gives_items && sequence.item->is_text) now_->texts.insert(scope.values[out]);
}

/// What an optional holds that only a run can tell to be empty, or whether it holds something.
void Importer::import_packed_optional(const onnx::NodeProto& proto, const Compound& optional,
                                      Scope& scope) {
  FunctionCall call = function_call(proto, scope);
  const Term bytes{&call, optional.packed};
  const std::string& out = proto.output(0);
  if (proto.op_type() == "OptionalHasElement") {
    scope.values[out] = call.cast(call.op("PackedLength", {bytes}), DataType::kBool).id;
    return;
  }
  const Term first = call.number(0, DataType::kInt64);
  scope.values[out] = call.op("PackedAt", {bytes, first}, told(optional.item)).id;
  if (optional.item->is_text) now_->texts.insert(scope.values[out]);
}

/// Into parts of one size that only a run can tell, or of an axis that it finds.
void Importer::import_packed_split(const onnx::NodeProto& proto, Scope& scope) {
  FunctionCall call = function_call(proto, scope);
  const Term x = call.input(0);
  const Term size = call.has(1) ? call.input(1) : call.number(1, DataType::kInt64);
  if (call.rank(size) != 0)
    throw NotExpressible{"how many parts it makes is known only when it runs"};
  if (!call.has(1) && call.attrs().get_int("keepdims", 1) == 0)
    throw NotExpressible{"how long the axis is that it splits is known only when it runs"};
  Compound sequence{.item = item_of(x.id)};
  const std::int64_t axis = call.attrs().get_int("axis", 0), rank = call.rank(x);
  if (axis < -rank || axis >= rank) fail_node(proto, "splits along an axis that is not there");
  sequence.item->desc.shape[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = kUnknownDim;
  sequence.packed = call.op("PackedSplit", {x, size}, with_axis(axis)).id;
  scope.compounds[proto.output(0)] = sequence;
}

}  // namespace aoe::graph
