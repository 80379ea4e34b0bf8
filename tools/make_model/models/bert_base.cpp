// BERT base: embeddings, encoder layers with self-attention, pooler. Shapes are computed by the
// model, as exporters of dynamic shapes write it.
#include <cmath>
#include <limits>

#include "tools/make_model/layers.h"
#include "tools/make_model/models.h"

namespace aoe::make_model {
namespace {

constexpr float kBertEpsilon = 1e-12f;

struct BertSizes {
  std::int64_t hidden = 768, heads = 12, feed_forward = 3072, layers = 12, words = 30522,
               positions = 512;
};

BertSizes bert_sizes(const ModelOptions& options) {
  BertSizes sizes;
  if (options.is_small)
    sizes = {
        .hidden = 32, .heads = 4, .feed_forward = 64, .layers = 2, .words = 60, .positions = 64};
  if (options.layers > 0) sizes.layers = options.layers;
  sizes.positions = std::max<std::int64_t>(sizes.positions, options.sequence);
  return sizes;
}

std::string embeddings(OnnxWriter& model, const BertSizes& sizes, const std::string& words,
                       const std::string& types) {
  const std::string name = "/embeddings";
  const auto table = [&](const std::string& kind, std::int64_t rows) {
    return model.weight("embeddings." + kind + "_embeddings.weight", {rows, sizes.hidden}, 0.5);
  };
  const std::string by_word =
      model.node(name + "/word_embeddings/Gather", "Gather", {table("word", sizes.words), words});
  const std::string by_type =
      model.node(name + "/token_type_embeddings/Gather", "Gather", {table("token_type", 2), types});
  std::string x = model.node(name + "/Add", "Add", {by_word, by_type});
  // position_ids[:, :sequence]
  std::vector<std::int64_t> ids(static_cast<std::size_t>(sizes.positions));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i);
  const std::string all = model.ints("embeddings.position_ids", {1, sizes.positions}, ids);
  const std::string length = size_of(model, name + "/length", words, 1);
  const std::string axes = model.constant(name + "/Constant", std::vector<std::int64_t>{0});
  const std::string end = model.node(name + "/Unsqueeze", "Unsqueeze", {length, axes});
  const std::string begin = model.constant(name + "/Constant_1", std::vector<std::int64_t>{0});
  const std::string axis = model.constant(name + "/Constant_2", std::vector<std::int64_t>{1});
  const std::string used = model.node(name + "/Slice", "Slice", {all, begin, end, axis});
  const std::string by_position = model.node(name + "/position_embeddings/Gather", "Gather",
                                             {table("position", sizes.positions), used});
  x = model.node(name + "/Add_1", "Add", {x, by_position});
  return layer_norm(model, name + "/LayerNorm", x, sizes.hidden, kBertEpsilon);
}

/// 0 where a token counts, the lowest float where it does not: batch x 1 x 1 x sequence.
std::string additive_mask(OnnxWriter& model, const std::string& mask) {
  const std::string one_axis = model.constant("/Constant", std::vector<std::int64_t>{1});
  const std::string two_axis = model.constant("/Constant_1", std::vector<std::int64_t>{2});
  std::string x = model.node("/Unsqueeze", "Unsqueeze", {mask, one_axis});
  x = model.node("/Unsqueeze_1", "Unsqueeze", {x, two_axis});
  x = model.node("/Cast", "Cast", {x}, {{"to", 1}});
  x = model.node("/Sub", "Sub", {model.constant("/Constant_2", 1.0f), x});
  return model.node("/Mul", "Mul",
                    {x, model.constant("/Constant_3", std::numeric_limits<float>::lowest())});
}

/// batch x sequence x hidden -> batch x heads x sequence x size, or with the last two exchanged.
std::string split_heads(OnnxWriter& model, const std::string& name, const std::string& x,
                        const BertSizes& sizes, const std::vector<std::int64_t>& perm) {
  const std::string batch = size_of(model, name + "/batch", x, 0);
  const std::string length = size_of(model, name + "/length", x, 1);
  const std::string heads = model.constant(name + "/Constant_heads", {sizes.heads}, true);
  const std::string size =
      model.constant(name + "/Constant_size", {sizes.hidden / sizes.heads}, true);
  const std::string split = view(model, name, x, {batch, length, heads, size});
  return model.node(name + "/Transpose", "Transpose", {split}, {{"perm", perm}});
}

std::string self_attention(OnnxWriter& model, const std::string& name, const std::string& x,
                           const std::string& mask, const BertSizes& sizes) {
  const auto project = [&](const std::string& part) {
    return linear(model, name + "/" + part, x, sizes.hidden, sizes.hidden);
  };
  const std::string query = split_heads(model, name + "/q", project("query"), sizes, {0, 2, 1, 3});
  const std::string key = split_heads(model, name + "/k", project("key"), sizes, {0, 2, 3, 1});
  const std::string value = split_heads(model, name + "/v", project("value"), sizes, {0, 2, 1, 3});
  std::string scores = model.node(name + "/MatMul", "MatMul", {query, key});
  const float root = std::sqrt(static_cast<float>(sizes.hidden / sizes.heads));
  scores = model.node(name + "/Div", "Div", {scores, model.constant(name + "/Constant", root)});
  scores = model.node(name + "/Add", "Add", {scores, mask});
  scores = model.node(name + "/Softmax", "Softmax", {scores}, {{"axis", -1}});
  std::string context = model.node(name + "/MatMul_1", "MatMul", {scores, value});
  context = model.node(name + "/Transpose", "Transpose", {context},
                       {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  const std::string batch = size_of(model, name + "/batch", context, 0);
  const std::string length = size_of(model, name + "/length", context, 1);
  const std::string hidden = model.constant(name + "/Constant_1", {sizes.hidden}, true);
  return view(model, name + "/merge", context, {batch, length, hidden});
}

std::string encoder_layer(OnnxWriter& model, const std::string& name, const std::string& x,
                          const std::string& mask, const BertSizes& sizes) {
  std::string y = self_attention(model, name + "/attention/self", x, mask, sizes);
  y = linear(model, name + "/attention/output/dense", y, sizes.hidden, sizes.hidden);
  y = model.node(name + "/attention/output/Add", "Add", {y, x});
  const std::string attended =
      layer_norm(model, name + "/attention/output/LayerNorm", y, sizes.hidden, kBertEpsilon);
  y = linear(model, name + "/intermediate/dense", attended, sizes.hidden, sizes.feed_forward);
  y = gelu(model, name + "/intermediate/intermediate_act_fn", y);
  y = linear(model, name + "/output/dense", y, sizes.feed_forward, sizes.hidden);
  y = model.node(name + "/output/Add", "Add", {y, attended});
  return layer_norm(model, name + "/output/LayerNorm", y, sizes.hidden, kBertEpsilon);
}

void write_bert_base(OnnxWriter& model, const ModelOptions& options) {
  const BertSizes sizes = bert_sizes(options);
  const Shape text = {options.batch, options.sequence};
  const std::string words = model.input("input_ids", text, DataType::kInt64);
  const std::string attended = model.input("attention_mask", text, DataType::kInt64);
  const std::string types = model.input("token_type_ids", text, DataType::kInt64);
  const std::string mask = additive_mask(model, attended);
  std::string x = embeddings(model, sizes, words, types);
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer)
    x = encoder_layer(model, "/encoder/layer." + std::to_string(layer), x, mask, sizes);
  const std::string first =
      model.node("/pooler/Gather", "Gather", {x, model.constant("/pooler/Constant", {0}, true)},
                 {{"axis", 1}});
  std::string pooled = gemm(model, "/pooler/dense", first, sizes.hidden, sizes.hidden,
                            std::sqrt(1.0 / static_cast<double>(sizes.hidden)));
  pooled = model.node("/pooler/activation/Tanh", "Tanh", {pooled});
  model.output(x, "last_hidden_state", {options.batch, options.sequence, sizes.hidden});
  model.output(pooled, "pooler_output", {options.batch, sizes.hidden});
}

}  // namespace

void register_bert_base(ModelRegistry& registry) {
  registry.add({"bert-base", "BERT encoder, 12 layers of 768; LayerNorm and Gelu in pieces", 13,
                write_bert_base});
}

}  // namespace aoe::make_model
