// A walk over all fields that are set. Tested by tests/graph/import_errors_test.cpp.
#include "graph/import/onnx_text.h"

#include <google/protobuf/message.h>

#include <set>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace aoe::graph {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

bool is_unread(const FieldDescriptor& field) {
  static const std::set<std::string_view> kUnread = {"doc_string", "metadata_props",
                                                     "producer_name", "producer_version"};
  return kUnread.contains(field.name());
}

/// Attributes are declared as bytes, and become text of ours.
bool is_text(const FieldDescriptor& field) {
  if (field.type() == FieldDescriptor::TYPE_STRING) return true;
  return field.type() == FieldDescriptor::TYPE_BYTES &&
         field.containing_type()->name() == "AttributeProto";
}

bool is_good_text(const Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  std::string room;
  if (!field.is_repeated()) return is_utf8(reflection.GetStringReference(message, &field, &room));
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i)
    if (!is_utf8(reflection.GetRepeatedStringReference(message, &field, i, &room))) return false;
  return true;
}

std::optional<std::string> place_within(const Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  if (!field.is_repeated()) return place_of_bad_text(reflection.GetMessage(message, &field));
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i)
    if (auto place = place_of_bad_text(reflection.GetRepeatedMessage(message, &field, i)))
      return place;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> place_of_bad_text(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    if (is_unread(*field)) continue;
    if (is_text(*field) && !is_good_text(message, *field)) return field->name();
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (const auto place = place_within(message, *field)) return field->name() + "." + *place;
  }
  return std::nullopt;
}

}  // namespace aoe::graph
