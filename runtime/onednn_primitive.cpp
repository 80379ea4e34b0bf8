// JSON -> oneDNN 2.6 descriptors, one function per primitive.
#include "runtime/onednn_primitive.h"

#include <cstring>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"

namespace aoe::runtime {
namespace {

using dnnl::algorithm;
using dnnl::engine;
using dnnl::memory;
using dnnl::primitive_attr;
using dnnl::primitive_desc_base;
using nlohmann::json;
constexpr auto kInference = dnnl::prop_kind::forward_inference;

template <typename Value>
Value word(const std::map<std::string, Value>& words, const std::string& text) {
  const auto at = words.find(text);
  if (at == words.end())
    throw Error(ExitCode::kOm, "unknown oneDNN word '" + text + "'", "", "compile the model again");
  return at->second;
}

algorithm algorithm_from(const json& params) {
  static const std::map<std::string, algorithm> kWords = {
      {"convolution_direct", algorithm::convolution_direct},
      {"convolution_winograd", algorithm::convolution_winograd},
      {"deconvolution_direct", algorithm::deconvolution_direct},
      {"pooling_max", algorithm::pooling_max},
      {"pooling_avg_include_padding", algorithm::pooling_avg_include_padding},
      {"pooling_avg_exclude_padding", algorithm::pooling_avg_exclude_padding},
      {"lrn_across_channels", algorithm::lrn_across_channels},
      {"softmax_accurate", algorithm::softmax_accurate},
      {"softmax_log", algorithm::softmax_log},
      {"reduction_sum", algorithm::reduction_sum},
      {"reduction_mean", algorithm::reduction_mean},
      {"reduction_max", algorithm::reduction_max},
      {"reduction_min", algorithm::reduction_min},
      {"reduction_mul", algorithm::reduction_mul},
      {"binary_add", algorithm::binary_add},
      {"binary_sub", algorithm::binary_sub},
      {"binary_mul", algorithm::binary_mul},
      {"binary_div", algorithm::binary_div},
      {"binary_max", algorithm::binary_max},
      {"binary_min", algorithm::binary_min},
      {"eltwise_relu", algorithm::eltwise_relu},
      {"eltwise_tanh", algorithm::eltwise_tanh},
      {"eltwise_elu", algorithm::eltwise_elu},
      {"eltwise_abs", algorithm::eltwise_abs},
      {"eltwise_sqrt", algorithm::eltwise_sqrt},
      {"eltwise_linear", algorithm::eltwise_linear},
      {"eltwise_clip", algorithm::eltwise_clip},
      {"eltwise_exp", algorithm::eltwise_exp},
      {"eltwise_logistic", algorithm::eltwise_logistic},
      {"eltwise_swish", algorithm::eltwise_swish},
      {"eltwise_hardswish", algorithm::eltwise_hardswish},
      {"eltwise_gelu_erf", algorithm::eltwise_gelu_erf},
      {"eltwise_gelu_tanh", algorithm::eltwise_gelu_tanh},
  };
  return word(kWords, params.at("algorithm").get<std::string>());
}

memory::data_type data_type_from(const std::string& text) {
  static const std::map<std::string, memory::data_type> kWords = {
      {"f32", memory::data_type::f32},
      {"s32", memory::data_type::s32},
      {"s8", memory::data_type::s8},
      {"u8", memory::data_type::u8},
  };
  return word(kWords, text);
}

memory::format_tag tag_from(const std::string& text) {
  using tag = memory::format_tag;
  static const std::map<std::string, tag> kWords = {
      {"any", tag::any},     {"a", tag::a},           {"ab", tag::ab},          {"abc", tag::abc},
      {"abcd", tag::abcd},   {"abcde", tag::abcde},   {"acb", tag::acb},        {"acdb", tag::acdb},
      {"acdeb", tag::acdeb}, {"aBcd8b", tag::aBcd8b}, {"aBcd16b", tag::aBcd16b}};
  return word(kWords, text);
}

memory::dims dims_from(const json& params, const char* field) {
  return params.at(field).get<memory::dims>();
}

memory::desc tensor(const json& params, const char* field) {
  return memory_desc_from_json(params.at(field));
}

/// A descriptor that oneDNN takes for "none" where the field is absent.
memory::desc optional_tensor(const json& params, const char* field) {
  return params.contains(field) ? tensor(params, field) : memory::desc();
}

primitive_attr attributes_from(const json& params) {
  primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (!params.contains("post_ops")) return attributes;
  dnnl::post_ops post_ops;
  for (const json& each : params.at("post_ops")) {
    const std::string kind = each.at("kind");
    if (kind == "sum") {
      post_ops.append_sum();
    } else if (kind == "binary") {
      post_ops.append_binary(algorithm_from(each), tensor(each, "src"));
    } else {
      post_ops.append_eltwise(1.0f, algorithm_from(each), each.at("alpha"), each.at("beta"));
    }
  }
  attributes.set_post_ops(post_ops);
  return attributes;
}

template <typename Primitive>
primitive_desc_base convolution(const json& p, const engine& e) {
  return typename Primitive::primitive_desc(
      {kInference, algorithm_from(p), tensor(p, "src"), tensor(p, "weights"),
       optional_tensor(p, "bias"), tensor(p, "dst"), dims_from(p, "strides"),
       dims_from(p, "dilations"), dims_from(p, "padding_l"), dims_from(p, "padding_r")},
      attributes_from(p), e);
}

primitive_desc_base matmul(const json& p, const engine& e) {
  return dnnl::matmul::primitive_desc(
      {tensor(p, "src"), tensor(p, "weights"), optional_tensor(p, "bias"), tensor(p, "dst")},
      attributes_from(p), e);
}

primitive_desc_base inner_product(const json& p, const engine& e) {
  return dnnl::inner_product_forward::primitive_desc(
      {kInference, tensor(p, "src"), tensor(p, "weights"), optional_tensor(p, "bias"),
       tensor(p, "dst")},
      attributes_from(p), e);
}

primitive_desc_base pooling(const json& p, const engine& e) {
  return dnnl::pooling_v2_forward::primitive_desc(
      {kInference, algorithm_from(p), tensor(p, "src"), tensor(p, "dst"), dims_from(p, "strides"),
       dims_from(p, "kernel"), dims_from(p, "dilations"), dims_from(p, "padding_l"),
       dims_from(p, "padding_r")},
      attributes_from(p), e);
}

primitive_desc_base softmax(const json& p, const engine& e) {
  return dnnl::softmax_v2_forward::primitive_desc(
      {kInference, algorithm_from(p), tensor(p, "src"), tensor(p, "dst"), p.at("axis").get<int>()},
      attributes_from(p), e);
}

primitive_desc_base layer_normalization(const json& p, const engine& e) {
  auto flags = dnnl::normalization_flags::none;
  if (p.at("has_scale").get<bool>()) flags |= dnnl::normalization_flags::use_scale;
  if (p.at("has_shift").get<bool>()) flags |= dnnl::normalization_flags::use_shift;
  return dnnl::layer_normalization_forward::primitive_desc(
      {kInference, tensor(p, "src"), p.at("epsilon").get<float>(), flags}, attributes_from(p), e);
}

primitive_desc_base lrn(const json& p, const engine& e) {
  return dnnl::lrn_forward::primitive_desc(
      {kInference, algorithm_from(p), tensor(p, "src"), p.at("size").get<memory::dim>(),
       p.at("alpha").get<float>(), p.at("beta").get<float>(), p.at("k").get<float>()},
      attributes_from(p), e);
}

primitive_desc_base eltwise(const json& p, const engine& e) {
  return dnnl::eltwise_forward::primitive_desc(
      {kInference, algorithm_from(p), tensor(p, "src"), p.at("alpha").get<float>(),
       p.at("beta").get<float>()},
      attributes_from(p), e);
}

primitive_desc_base binary(const json& p, const engine& e) {
  return dnnl::binary::primitive_desc(
      {algorithm_from(p), tensor(p, "src0"), tensor(p, "src1"), tensor(p, "dst")},
      attributes_from(p), e);
}

primitive_desc_base reduction(const json& p, const engine& e) {
  return dnnl::reduction::primitive_desc(
      {algorithm_from(p), tensor(p, "src"), tensor(p, "dst"), 0.0f, 0.0f}, attributes_from(p), e);
}

primitive_desc_base reorder(const json& p, const engine& e) {
  return dnnl::reorder::primitive_desc(e, tensor(p, "src"), e, tensor(p, "dst"),
                                       attributes_from(p));
}

primitive_desc_base concat(const json& p, const engine& e) {
  std::vector<memory::desc> sources;
  for (const json& source : p.at("sources")) sources.push_back(memory_desc_from_json(source));
  return dnnl::concat::primitive_desc(tensor(p, "dst"), p.at("axis").get<int>(), sources, e,
                                      attributes_from(p));
}

primitive_desc_base shuffle(const json& p, const engine& e) {
  // Axis and group size are those of channel shuffle: groups are the outer of the two.
  return dnnl::shuffle_forward::primitive_desc(
      {kInference, tensor(p, "src"), p.at("axis").get<int>(), p.at("group_size").get<int>()}, e,
      attributes_from(p));
}

using MakePrimitive = std::function<primitive_desc_base(const json&, const engine&)>;

}  // namespace

memory::desc memory_desc_from_json(const json& j) {
  if (j.contains("bytes")) {
    const std::string hex = j.at("bytes");
    dnnl_memory_desc_t raw{};
    if (hex.size() != 2 * sizeof raw)
      throw Error(ExitCode::kOm, "a oneDNN descriptor has the wrong size", "",
                  "compile the model again");
    auto* bytes = reinterpret_cast<unsigned char*>(&raw);
    for (std::size_t i = 0; i < sizeof raw; ++i)
      bytes[i] = static_cast<unsigned char>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
    return memory::desc(raw);
  }
  const memory::dims dims = dims_from(j, "dims");
  const memory::data_type type = data_type_from(j.at("dtype"));
  if (j.contains("strides")) return {dims, type, dims_from(j, "strides")};
  return {dims, type, tag_from(j.at("tag"))};
}

json memory_desc_to_json(const memory::desc& desc) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto* bytes = reinterpret_cast<const unsigned char*>(&desc.data);
  std::string hex;
  for (std::size_t i = 0; i < sizeof desc.data; ++i) {
    hex += kDigits[bytes[i] >> 4];
    hex += kDigits[bytes[i] & 15];
  }
  return {{"bytes", hex}};
}

primitive_desc_base primitive_desc_from_json(const json& params, const engine& engine) {
  static const std::map<std::string, MakePrimitive> kPrimitives = {
      {"convolution", convolution<dnnl::convolution_forward>},
      {"deconvolution", convolution<dnnl::deconvolution_forward>},
      {"matmul", matmul},
      {"inner_product", inner_product},
      {"pooling", pooling},
      {"softmax", softmax},
      {"layer_normalization", layer_normalization},
      {"lrn", lrn},
      {"eltwise", eltwise},
      {"binary", binary},
      {"reduction", reduction},
      {"reorder", reorder},
      {"concat", concat},
      {"shuffle", shuffle},
  };
  return word(kPrimitives, params.at("primitive").get<std::string>())(params, engine);
}

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
}

}  // namespace aoe::runtime
