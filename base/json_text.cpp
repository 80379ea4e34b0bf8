#include "base/json_text.h"

#include <nlohmann/json.hpp>

#include "base/nesting.h"

namespace aoe {

using nlohmann::json;

namespace {

template <typename Json>
std::string text_of(const Json& value, int indent, BadUtf8 bad) {
  return value.dump(
      indent, ' ', false,
      bad == BadUtf8::kReplaced ? Json::error_handler_t::replace : Json::error_handler_t::strict);
}

}  // namespace

std::string json_text(const json& value, int indent, BadUtf8 bad) {
  return text_of(value, indent, bad);
}

std::string json_text(const nlohmann::ordered_json& value, int indent, BadUtf8 bad) {
  return text_of(value, indent, bad);
}

json parse_json(std::string_view text) {
  return json::parse(text);
}

json json_or_discarded(std::string_view text) {
  if (!nests_little_json(text)) return json(json::value_t::discarded);
  return json::parse(text, nullptr, false);
}

bool is_json(std::string_view text) {
  return json::accept(text);
}

std::string cbor_bytes(const json& value) {
  std::string bytes;
  json::to_cbor(value, bytes);
  return bytes;
}

json parse_cbor(std::string_view bytes) {
  return json::from_cbor(bytes.begin(), bytes.end());
}

json cbor_or_discarded(std::string_view bytes) {
  try {
    return json::from_cbor(bytes.begin(), bytes.end(), true, false);
  } catch (
      const json::exception&) {  // of an array or object larger than any can be, in spite of that
    return json(json::value_t::discarded);
  }
}

}  // namespace aoe
