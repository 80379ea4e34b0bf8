// Attrs: the attributes of an op, by ONNX attribute name, ordered so that texts and keys are
// stable.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/tensor.h"

namespace aoe::reference {

using Attr = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>,
                          std::vector<float>, std::vector<std::string>, ConstantPtr>;

/// What signatures and messages call them, in their order; also the keys under which the JSON form keeps them apart.
inline constexpr std::string_view kAttrKinds[] = {"int",    "float",   "string", "ints",
                                                  "floats", "strings", "tensor"};
static_assert(std::variant_size_v<Attr> == std::size(kAttrKinds));

class Attrs {
 public:
  bool has(const std::string& name) const { return values_.contains(name); }
  void set(const std::string& name, Attr value) { values_[name] = std::move(value); }
  void erase(const std::string& name) { values_.erase(name); }
  const std::map<std::string, Attr>& all() const { return values_; }

  /// The attribute, or `fallback` when absent; throws Error(kModel) when it has another type.
  std::int64_t get_int(const std::string& name, std::int64_t fallback) const;
  float get_float(const std::string& name, float fallback) const;
  std::string get_string(const std::string& name, const std::string& fallback) const;
  std::vector<std::int64_t> get_ints(const std::string& name,
                                     std::vector<std::int64_t> fallback = {}) const;
  std::vector<float> get_floats(const std::string& name, std::vector<float> fallback = {}) const;
  std::vector<std::string> get_strings(const std::string& name) const;  ///< none when absent
  ConstantPtr get_tensor(const std::string& name) const;                ///< nullptr when absent

  bool operator==(const Attrs& other) const;  ///< tensors compare by description and bytes

 private:
  std::map<std::string, Attr> values_;
};

/// Lossless, used by the om, the bank keys and the worker protocol. Tensors become {dtype, shape,
/// base64-free CBOR binary}.
nlohmann::json to_json(const Attrs& attrs);
Attrs attrs_from_json(const nlohmann::json& json);

}  // namespace aoe::reference
