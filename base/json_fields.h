// Fields of a struct that stand in JSON by a key each, listed once for writing and reading:
//
//   constexpr auto kFields = std::tuple(JsonField("seed", &Provenance::seed), ...);
//   json j = json_of_fields(provenance, kFields);
//   read_fields(j, provenance, kFields);
#pragma once

#include <nlohmann/json.hpp>
#include <tuple>

namespace aoe {

template <typename Struct, typename Value>
struct JsonField {
  constexpr JsonField(const char* its_key, Value Struct::*its_field)
      : key(its_key), field(its_field) {}

  const char* key;
  Value Struct::*field;
};

/// An object.
template <typename Struct, typename... Fields>
nlohmann::json json_of_fields(const Struct& from, const std::tuple<Fields...>& fields) {
  nlohmann::json object = nlohmann::json::object();
  std::apply([&](const auto&... each) { ((object[each.key] = from.*each.field), ...); }, fields);
  return object;
}

/// Throws nlohmann::json::exception where a key is not there, or its value of another type.
template <typename Struct, typename... Fields>
void read_fields(const nlohmann::json& object, Struct& to, const std::tuple<Fields...>& fields) {
  std::apply([&](const auto&... each) { (object.at(each.key).get_to(to.*each.field), ...); },
             fields);
}

}  // namespace aoe
