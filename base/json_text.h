// JSON and CBOR to text and bytes, and back. The reader and the writer are templates that cost each source that uses them a second or
// two of compiling: they are compiled here, once.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace aoe {

enum class BadUtf8 {
  kThrows,    ///< nlohmann::json::type_error
  kReplaced,  ///< by U+FFFD: for what is shown
};

/// On one line, or with so many blanks of indentation.
std::string json_text(const nlohmann::json& value, int indent = -1, BadUtf8 bad = BadUtf8::kThrows);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1,
                      BadUtf8 bad = BadUtf8::kThrows);

/// Throws nlohmann::json::parse_error, with the place.
nlohmann::json parse_json(std::string_view text);

/// Discarded when the text is no JSON, or nests deeper than kDeepestDocument (nesting.h), so that is_object() and its like are
/// false.
nlohmann::json json_or_discarded(std::string_view text);

bool is_json(std::string_view text);

std::string cbor_bytes(const nlohmann::json& value);

/// Throws nlohmann::json::exception.
nlohmann::json parse_cbor(std::string_view bytes);

/// Discarded when the bytes are no CBOR, or more than one item.
nlohmann::json cbor_or_discarded(std::string_view bytes);

}  // namespace aoe
