// Typed access to attributes, their equality and their JSON form.
#include "reference/attrs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/json_text.h"
#include "reference/fail.h"

namespace aoe::reference {
namespace {

template <typename T>
T get(const std::map<std::string, Attr>& values, const std::string& name, T fallback,
      const char* wanted) {
  const auto found = values.find(name);
  if (found == values.end()) return fallback;
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  fail_model("attribute '" + name + "' is of kind " +
             std::string(kAttrKinds[found->second.index()]) + ", expected " + wanted);
}

bool same_bytes(const ConstantPtr& a, const ConstantPtr& b) {
  if (a == b) return true;
  if (!a || !b || a->desc() != b->desc()) return false;
  return a->size_bytes() == 0 || std::memcmp(a->data(), b->data(), a->size_bytes()) == 0;
}

// Floats compare by their bits, so that an attribute that is NaN equals itself.
bool same_float(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

bool same_attr(const Attr& a, const Attr& b) {
  if (a.index() != b.index()) return false;
  if (const auto* tensor = std::get_if<ConstantPtr>(&a))
    return same_bytes(*tensor, std::get<ConstantPtr>(b));
  if (const auto* value = std::get_if<float>(&a)) return same_float(*value, std::get<float>(b));
  if (const auto* values = std::get_if<std::vector<float>>(&a)) {
    const auto& others = std::get<std::vector<float>>(b);
    return std::equal(values->begin(), values->end(), others.begin(), others.end(), same_float);
  }
  return a == b;
}

// JSON has no words for NaN and the infinities.
nlohmann::json float_to_json(float value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

float float_from_json(const nlohmann::json& json) {
  if (!json.is_string()) return json.get<float>();
  if (json == "nan") return std::numeric_limits<float>::quiet_NaN();
  return json == "inf" ? INFINITY : -INFINITY;
}

nlohmann::json tensor_to_json(const Constant& tensor) {
  const auto* bytes = static_cast<const std::uint8_t*>(tensor.data());
  return {{"dtype", name(tensor.desc().dtype)},
          {"shape", tensor.desc().shape},
          {"bytes", nlohmann::json::binary({bytes, bytes + tensor.size_bytes()})}};
}

ConstantPtr tensor_from_json(const nlohmann::json& json) {
  const auto dtype = data_type_from_name(json.at("dtype").get<std::string>());
  if (!dtype) fail_model("unknown element type " + json_text(json.at("dtype")));
  const TensorDesc desc{.dtype = *dtype, .shape = json.at("shape").get<Shape>()};
  const auto& bytes = json.at("bytes").get_binary();
  if (bytes.size() != storage_bytes(desc))
    fail_model("a tensor attribute of " + to_string(desc) + " has " + std::to_string(bytes.size()) +
               " bytes");
  return std::make_shared<Constant>(desc, bytes.data());
}

nlohmann::json attr_to_json(const Attr& attr) {
  return std::visit(
      [](const auto& value) -> nlohmann::json {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, ConstantPtr>) {
          return tensor_to_json(*value);
        } else if constexpr (std::is_same_v<T, float>) {
          return float_to_json(value);
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          nlohmann::json list = nlohmann::json::array();
          for (const float element : value) list.push_back(float_to_json(element));
          return list;
        } else {
          return value;
        }
      },
      attr);
}

Attr attr_from_json(const std::string& kind, const nlohmann::json& json) {
  if (kind == "int") return json.get<std::int64_t>();
  if (kind == "float") return float_from_json(json);
  if (kind == "string") return json.get<std::string>();
  if (kind == "ints") return json.get<std::vector<std::int64_t>>();
  if (kind == "strings") return json.get<std::vector<std::string>>();
  if (kind == "tensor") return tensor_from_json(json);
  if (kind != "floats") fail_model("unknown kind of attribute '" + kind + "'");
  std::vector<float> floats;
  for (const auto& element : json) floats.push_back(float_from_json(element));
  return floats;
}

}  // namespace

std::int64_t Attrs::get_int(const std::string& name, std::int64_t fallback) const {
  return get(values_, name, fallback, "int");
}
float Attrs::get_float(const std::string& name, float fallback) const {
  return get(values_, name, fallback, "float");
}
std::string Attrs::get_string(const std::string& name, const std::string& fallback) const {
  return get(values_, name, fallback, "string");
}
std::vector<std::int64_t> Attrs::get_ints(const std::string& name,
                                          std::vector<std::int64_t> fallback) const {
  return get(values_, name, std::move(fallback), "ints");
}
std::vector<float> Attrs::get_floats(const std::string& name, std::vector<float> fallback) const {
  return get(values_, name, std::move(fallback), "floats");
}
std::vector<std::string> Attrs::get_strings(const std::string& name) const {
  return get<std::vector<std::string>>(values_, name, {}, "strings");
}

ConstantPtr Attrs::get_tensor(const std::string& name) const {
  return get<ConstantPtr>(values_, name, nullptr, "tensor");
}

bool Attrs::operator==(const Attrs& other) const {
  return std::equal(values_.begin(), values_.end(), other.values_.begin(), other.values_.end(),
                    [](const auto& a, const auto& b) {
                      return a.first == b.first && same_attr(a.second, b.second);
                    });
}

nlohmann::json to_json(const Attrs& attrs) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, attr] : attrs.all())
    json[name] = {{kAttrKinds[attr.index()], attr_to_json(attr)}};
  return json;
}

Attrs attrs_from_json(const nlohmann::json& json) {
  Attrs attrs;
  for (const auto& [name, tagged] : json.items()) {
    if (!tagged.is_object() || tagged.size() != 1)
      fail_model("attribute '" + name + "' is not {kind: value}");
    attrs.set(name, attr_from_json(tagged.begin().key(), tagged.begin().value()));
  }
  return attrs;
}

}  // namespace aoe::reference
