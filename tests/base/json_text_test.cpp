// JSON and CBOR to text and back: what is refused, what is replaced, what is discarded.
#include "base/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace aoe {
namespace {

using nlohmann::json;

TEST(JsonText, IsOnOneLineOrIndented) {
  const json value = {{"a", 1}};
  EXPECT_EQ(json_text(value), R"({"a":1})");
  EXPECT_EQ(json_text(value, 2), "{\n  \"a\": 1\n}");
  EXPECT_EQ(json_text(nlohmann::ordered_json{{"b", 1}, {"a", 2}}), R"({"b":1,"a":2})");
}

TEST(JsonText, BadUtf8ThrowsUnlessItIsReplaced) {
  const json value = "a\xff";
  EXPECT_THROW(json_text(value), json::type_error);
  EXPECT_EQ(json_text(value, -1, BadUtf8::kReplaced), "\"a\xEF\xBF\xBD\"");
}

TEST(JsonText, WhatIsNoJsonThrowsOrIsDiscarded) {
  EXPECT_EQ(parse_json("[1,2]"), json({1, 2}));
  EXPECT_THROW(parse_json("[1,"), json::parse_error);
  EXPECT_EQ(json_or_discarded("[1,2]"), json({1, 2}));
  EXPECT_TRUE(json_or_discarded("[1,").is_discarded());
  const std::string deep(200, '[');  // writing it would call itself as often
  EXPECT_TRUE(json_or_discarded(deep + std::string(200, ']')).is_discarded());
  EXPECT_TRUE(is_json("[1,2]"));
  EXPECT_FALSE(is_json("[1,"));
}

TEST(JsonText, CborComesBack) {
  const json value = {{"a", {1, 2.5, "x"}}};
  const std::string bytes = cbor_bytes(value);
  EXPECT_EQ(parse_cbor(bytes), value);
  EXPECT_EQ(cbor_or_discarded(bytes), value);
  EXPECT_THROW(parse_cbor(bytes.substr(1)), json::exception);
  EXPECT_TRUE(cbor_or_discarded(bytes + "x").is_discarded());
  EXPECT_TRUE(cbor_or_discarded("\x9b\x3a\x02\x02\x02\x02\x02\x02\x02").is_discarded())
      << "an array of more elements than there can be";
}

}  // namespace
}  // namespace aoe
