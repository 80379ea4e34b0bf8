// JSON -> oneDNN descriptors, one function per primitive.
#include "runtime/onednn/onednn_primitive.h"

#include <dnnl_debug.h>

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

/// oneDNN's words for its layouts: "abcd", "aBcd16b", "ABcd16b16a", ..., "any".
const std::map<std::string, memory::format_tag>& tag_words() {
  static const std::map<std::string, memory::format_tag> kWords = [] {
    std::map<std::string, memory::format_tag> words;
    for (int tag = dnnl_format_tag_any; tag < dnnl_format_tag_last; ++tag)
      words.emplace(dnnl_fmt_tag2str(static_cast<dnnl_format_tag_t>(tag)),
                    static_cast<memory::format_tag>(tag));
    return words;
  }();
  return kWords;
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

primitive_desc_base binary(const json& p, const engine& e) {
  return dnnl::binary::primitive_desc(
      {algorithm_from(p), tensor(p, "src"), tensor(p, "src1"), tensor(p, "dst")},
      attributes_from(p), e);
}

primitive_desc_base reorder(const json& p, const engine& e) {
  return dnnl::reorder::primitive_desc(e, tensor(p, "src"), e, tensor(p, "dst"),
                                       attributes_from(p));
}

dnnl::rnn_direction direction_from(const json& params) {
  using dnnl::rnn_direction;
  static const std::map<std::string, rnn_direction> kWords = {
      {"forward", rnn_direction::unidirectional_left2right},
      {"reverse", rnn_direction::unidirectional_right2left},
      {"bidirectional", rnn_direction::bidirectional_concat}};
  return word(kWords, params.at("direction").get<std::string>());
}

primitive_desc_base lstm(const json& p, const engine& e) {
  return dnnl::lstm_forward::primitive_desc(
      {kInference, direction_from(p), tensor(p, "src"), optional_tensor(p, "src_iter"),
       optional_tensor(p, "src_iter_c"), tensor(p, "weights"), tensor(p, "weights_iter"),
       optional_tensor(p, "weights_peephole"), tensor(p, "bias"), tensor(p, "dst"),
       optional_tensor(p, "dst_iter"), optional_tensor(p, "dst_iter_c")},
      attributes_from(p), e);
}

primitive_desc_base vanilla_rnn(const json& p, const engine& e) {
  return dnnl::vanilla_rnn_forward::primitive_desc(
      {kInference, algorithm_from(p), direction_from(p), tensor(p, "src"),
       optional_tensor(p, "src_iter"), tensor(p, "weights"), tensor(p, "weights_iter"),
       tensor(p, "bias"), tensor(p, "dst"), optional_tensor(p, "dst_iter")},
      attributes_from(p), e);
}

template <typename Primitive>
primitive_desc_base gru(const json& p, const engine& e) {
  return typename Primitive::primitive_desc(
      {kInference, direction_from(p), tensor(p, "src"), optional_tensor(p, "src_iter"),
       tensor(p, "weights"), tensor(p, "weights_iter"), tensor(p, "bias"), tensor(p, "dst"),
       optional_tensor(p, "dst_iter")},
      attributes_from(p), e);
}

using MakePrimitive = std::function<primitive_desc_base(const json&, const engine&)>;

}  // namespace

memory::desc memory_desc_from_json(const json& j) {
  const memory::dims dims = dims_from(j, "dims");
  const memory::data_type type = data_type_from(j.at("dtype"));
  if (j.contains("strides")) return {dims, type, dims_from(j, "strides")};
  return {dims, type, word(tag_words(), j.at("tag").get<std::string>())};
}

json named_layout(const memory::desc& desc) {
  if (desc.data_type() != memory::data_type::f32) return nullptr;
  for (const auto& [name, tag] : tag_words())
    if (tag != memory::format_tag::any &&
        memory::desc(desc.dims(), desc.data_type(), tag, /*allow_empty=*/true) == desc)
      return {{"dims", desc.dims()}, {"dtype", "f32"}, {"tag", name}};
  return nullptr;
}

primitive_desc_base primitive_desc_from_json(const json& stage, const engine& engine) {
  static const std::map<std::string, MakePrimitive> kPrimitives = {
      {"convolution", convolution<dnnl::convolution_forward>},
      {"deconvolution", convolution<dnnl::deconvolution_forward>},
      {"matmul", matmul},
      {"pooling", pooling},
      {"softmax", softmax},
      {"layer_normalization", layer_normalization},
      {"lrn", lrn},
      {"binary", binary},
      {"reorder", reorder},
      {"vanilla_rnn", vanilla_rnn},
      {"lstm", lstm},
      {"gru", gru<dnnl::gru_forward>},
      {"lbr_gru", gru<dnnl::lbr_gru_forward>},
  };
  return word(kPrimitives, stage.at("primitive").get<std::string>())(stage, engine);
}

}  // namespace aoe::runtime
