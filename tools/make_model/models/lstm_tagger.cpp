// LSTM tagger: word embeddings, a bidirectional LSTM of several layers, scores per token.
#include <cmath>

#include "tools/make_model/layers.h"
#include "tools/make_model/models.h"

namespace aoe::make_model {
namespace {

constexpr std::int64_t kDirections = 2;

/// Zeros of directions x batch x hidden, made from the batch size that the input has.
std::string initial_state(OnnxWriter& model, const std::string& name, const std::string& batch,
                          std::int64_t hidden) {
  const std::string axes = model.constant(name + "/Constant_axes", std::vector<std::int64_t>{0});
  const std::string directions =
      model.constant(name + "/Constant", std::vector<std::int64_t>{kDirections});
  const std::string size = model.constant(name + "/Constant_1", std::vector<std::int64_t>{hidden});
  const std::string batch_1d = model.node(name + "/Unsqueeze", "Unsqueeze", {batch, axes});
  const std::string shape =
      model.node(name + "/Concat", "Concat", {directions, batch_1d, size}, {{"axis", 0}});
  const std::string zero = model.constant(name + "/Constant_2", 0.0f);
  return model.node(name + "/Expand", "Expand", {zero, shape});
}

/// time x batch x in -> time x batch x (directions * hidden)
std::string lstm(OnnxWriter& model, const std::string& name, const std::string& x,
                 const std::string& state, std::int64_t in, std::int64_t hidden) {
  const double deviation = std::sqrt(1.0 / static_cast<double>(hidden));
  const std::string w = model.weight(name + ".weight_ih", {kDirections, 4 * hidden, in}, deviation);
  const std::string r =
      model.weight(name + ".weight_hh", {kDirections, 4 * hidden, hidden}, deviation);
  const std::string b = model.weight(name + ".bias", {kDirections, 8 * hidden}, 0.05);
  const std::string y = model.node_with_outputs(
      "/" + name + "/LSTM", "LSTM", {x, w, r, b, "", state, state}, 3,
      {{"direction", std::string("bidirectional")}, {"hidden_size", static_cast<int>(hidden)}})[0];
  // time x directions x batch x hidden
  const std::string by_token = model.node("/" + name + "/Transpose", "Transpose", {y},
                                          {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  const std::string shape =
      model.constant("/" + name + "/Constant", std::vector<std::int64_t>{0, 0, -1});
  return model.node("/" + name + "/Reshape", "Reshape", {by_token, shape});
}

void write_lstm_tagger(OnnxWriter& model, const ModelOptions& options) {
  const std::int64_t words = options.is_small ? 50 : 20000, embedding = options.is_small ? 8 : 128;
  const std::int64_t hidden = options.is_small ? 8 : 256, tags = options.is_small ? 5 : 45;
  std::int64_t layers = options.layers;
  if (layers == 0) layers = options.is_small ? 1 : 2;
  const std::string tokens =
      model.input("tokens", {options.batch, options.sequence}, DataType::kInt64);
  const std::string table = model.weight("embedding.weight", {words, embedding}, 1.0);
  std::string x = model.node("/embedding/Gather", "Gather", {table, tokens});
  x = model.node("/Transpose", "Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}});
  const std::string state =
      initial_state(model, "/lstm", size_of(model, "/lstm/batch", x, 1), hidden);
  std::int64_t in = embedding;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    x = lstm(model, "lstm." + std::to_string(layer), x, state, in, hidden);
    in = kDirections * hidden;
  }
  x = model.node("/Transpose_1", "Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}});
  x = linear(model, "/hidden2tag", x, in, tags);
  x = model.node("/LogSoftmax", "LogSoftmax", {x}, {{"axis", -1}});
  model.output(x, "scores", {options.batch, options.sequence, tags});
}

}  // namespace

void register_lstm_tagger(ModelRegistry& registry) {
  registry.add({"lstm-tagger", "bidirectional LSTM over word embeddings, a score per token and tag",
                14, write_lstm_tagger});
}

}  // namespace aoe::make_model
