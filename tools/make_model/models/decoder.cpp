// A decoder of the kind of Llama and Qwen: RMS norms, rotary embedding, query heads that share keys, SwiGLU, and the cache
// of keys and values as inputs and outputs. In two forms that compute the same:
//
//   plain   operators of ONNX, as PyTorch's exporter decomposes it; `present` is `past` and the new tokens
//   genai   GroupQueryAttention, MatMulNBits and SkipSimplifiedLayerNormalization of com.microsoft, as the builders for
//           ONNX Runtime write it; `past` has room, and `present` is as long
//
// Weights are four bits and a scale for each block in both, unpacked in the plain one.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/error.h"
#include "tools/make_model/models.h"
#include "tools/make_model/packed_matrix.h"

namespace aoe::make_model {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr float kDecoderEpsilon = 1e-5f;
constexpr double kRotaryBase = 10000;

struct DecoderSizes {
  std::int64_t hidden = 576, heads = 9, kv_heads = 3, layers = 30, words = 49152;

  std::int64_t head() const { return hidden / heads; }
  std::int64_t wide() const { return (hidden * 8 / 3 + 31) / 32 * 32; }
};

DecoderSizes decoder_sizes(const ModelOptions& options) {
  DecoderSizes sizes;
  if (options.is_small) sizes = {.hidden = 32, .heads = 4, .kv_heads = 2, .layers = 2, .words = 60};
  if (options.layers > 0) sizes.layers = options.layers;
  if (options.hidden > 0) sizes.hidden = options.hidden;
  if (const std::int64_t heads = options.heads; heads > 0) {
    sizes.heads = heads;
    sizes.kv_heads = heads % 3 == 0 ? heads / 3 : heads % 2 == 0 ? heads / 2 : heads;
  }
  if (sizes.hidden % (2 * sizes.heads) != 0)
    throw Error(ExitCode::kUsage,
                std::to_string(sizes.hidden) + " elements do not divide into " +
                    std::to_string(sizes.heads) + " heads of an even size",
                "--hidden, --heads");
  return sizes;
}

/// What both forms have in common, from the words to the logits.
class Decoder {
 public:
  Decoder(OnnxWriter& model, const ModelOptions& options)
      : model_(model), options_(options), sizes_(decoder_sizes(options)) {}
  virtual ~Decoder() = default;

  void write() {
    const std::string ids = model_.input("input_ids", {options_.batch, options_.sequence},
                                         DataType::kInt64, {"batch", "sequence"});
    prepare(ids);
    const std::string words =
        model_.weight("model.embed_tokens.weight", {sizes_.words, sizes_.hidden}, 0.5);
    std::string residual = model_.node("/model/embed_tokens/Gather", "Gather", {words, ids});
    std::string x = norm("/model/layers.0/input_layernorm", residual);
    for (std::int64_t layer = 0; layer < sizes_.layers; ++layer) {
      const std::string path = "/model/layers." + std::to_string(layer);
      std::string y = attention(path + "/self_attn", x, layer);
      x = norm_of_sum(path + "/post_attention_layernorm", residual, y);
      y = gated(path + "/mlp", x);
      const std::string next = "/model/layers." + std::to_string(layer + 1) + "/input_layernorm";
      x = norm_of_sum(layer + 1 < sizes_.layers ? next : "/model/norm", residual, y);
    }
    const std::string logits = linear("/lm_head", x, sizes_.hidden, sizes_.words);
    model_.output(logits, "logits", {options_.batch, options_.sequence, sizes_.words});
  }

 protected:
  /// Inputs besides the words, and what all layers read.
  virtual void prepare(const std::string& ids) = 0;
  virtual std::string norm(const std::string& name, const std::string& x) = 0;
  /// Of residual + y, which is the residual from now on.
  virtual std::string norm_of_sum(const std::string& name, std::string& residual,
                                  const std::string& y) = 0;
  virtual std::string linear(const std::string& name, const std::string& x, std::int64_t in,
                             std::int64_t out) = 0;
  virtual std::string attention(const std::string& name, const std::string& x,
                                std::int64_t layer) = 0;
  virtual std::int64_t present_length() const = 0;

  std::string gated(const std::string& name, const std::string& x) {
    const std::string gate = linear(name + "/gate_proj", x, sizes_.hidden, sizes_.wide());
    const std::string up = linear(name + "/up_proj", x, sizes_.hidden, sizes_.wide());
    const std::string sigmoid = model_.node(name + "/act_fn/Sigmoid", "Sigmoid", {gate});
    const std::string silu = model_.node(name + "/act_fn/Mul", "Mul", {gate, sigmoid});
    const std::string product = model_.node(name + "/Mul", "Mul", {silu, up});
    return linear(name + "/down_proj", product, sizes_.wide(), sizes_.hidden);
  }

  std::string norm_weight(const std::string& name) {
    return model_.uniform(name.substr(1) + ".weight", {sizes_.hidden}, 0.8, 1.2);
  }

  Shape cache_shape(std::int64_t length) const {
    return {options_.batch, sizes_.kv_heads, length, sizes_.head()};
  }

  std::string past(std::int64_t layer, const char* what) {
    return model_.input("past_key_values." + std::to_string(layer) + "." + what,
                        cache_shape(options_.past), DataType::kFloat,
                        {"batch", "", "past_sequence_length", ""});
  }

  void give_present(std::int64_t layer, const std::string& key, const std::string& value) {
    const std::string name = "present." + std::to_string(layer);
    model_.output(key, name + ".key", cache_shape(present_length()));
    model_.output(value, name + ".value", cache_shape(present_length()));
  }

  std::string attention_mask(std::int64_t length) {
    return model_.input("attention_mask", {options_.batch, length}, DataType::kInt64,
                        {"batch", "total_sequence_length"});
  }

  OnnxWriter& model_;
  const ModelOptions& options_;
  const DecoderSizes sizes_;
};

// ---- plain ----

class PlainDecoder final : public Decoder {
 public:
  using Decoder::Decoder;

 private:
  std::int64_t present_length() const override { return options_.past + options_.sequence; }

  void prepare(const std::string& ids) override {
    const std::string seen = attention_mask(present_length());
    const std::string positions = model_.input("position_ids", {options_.batch, options_.sequence},
                                               DataType::kInt64, {"batch", "sequence"});
    add_mask(ids, seen);
    add_angles(positions);
  }

  /// 0 where a token sees a key, the lowest number elsewhere: (batch, 1, sequence, total).
  void add_mask(const std::string& ids, const std::string& seen) {
    const std::string name = "/model/mask";
    const std::string total = size_of(name + "/total", seen), tokens = size_of(name + "/new", ids);
    const std::string first = model_.node(name + "/Sub", "Sub", {total, tokens});
    const std::string zero = model_.constant(name + "/zero", Ints{0}, true),
                      one = model_.constant(name + "/one", Ints{1}, true);
    const std::string keys = model_.node(name + "/Range", "Range", {zero, total, one});
    const std::string rows = model_.node(name + "/Range_1", "Range", {first, total, one});
    const std::string causal = model_.node(name + "/LessOrEqual", "LessOrEqual",
                                           {keys, unsqueeze(name + "/Unsqueeze", rows, {1})});
    const std::string is_token = model_.node(name + "/Cast", "Cast", {seen}, {{"to", 9}});
    const std::string sees = model_.node(
        name + "/And", "And", {causal, unsqueeze(name + "/Unsqueeze_1", is_token, {1, 2})});
    mask_ = model_.node(name + "/Where", "Where",
                        {sees, model_.constant(name + "/seen", 0.0f),
                         model_.constant(name + "/hidden", std::numeric_limits<float>::lowest())});
  }

  void add_angles(const std::string& positions) {
    const std::string name = "/model/rotary_emb";
    std::vector<float> speeds;
    for (std::int64_t i = 0; i < sizes_.head() / 2; ++i)
      speeds.push_back(static_cast<float>(std::pow(
          kRotaryBase, -2.0 * static_cast<double>(i) / static_cast<double>(sizes_.head()))));
    const std::string frequency =
        model_.floats("model.rotary_emb.inv_freq", {1, sizes_.head() / 2, 1}, speeds);
    const std::string row = unsqueeze(name + "/Unsqueeze", positions, {1});
    const std::string real = model_.node(name + "/Cast", "Cast", {row}, {{"to", 1}});
    std::string angles = model_.node(name + "/MatMul", "MatMul", {frequency, real});
    angles = model_.node(name + "/Transpose", "Transpose", {angles}, {{"perm", Ints{0, 2, 1}}});
    angles = model_.node(name + "/Concat", "Concat", {angles, angles}, {{"axis", -1}});
    cos_ = unsqueeze(name + "/Unsqueeze_1", model_.node(name + "/Cos", "Cos", {angles}), {1});
    sin_ = unsqueeze(name + "/Unsqueeze_2", model_.node(name + "/Sin", "Sin", {angles}), {1});
  }

  std::string norm(const std::string& name, const std::string& x) override {
    const std::string square =
        model_.node(name + "/Pow", "Pow", {x, model_.constant(name + "/Constant", 2.0f)});
    const std::string mean =
        model_.node(name + "/ReduceMean", "ReduceMean", {square}, {{"axes", Ints{-1}}});
    const std::string sum = model_.node(
        name + "/Add", "Add", {mean, model_.constant(name + "/Constant_1", kDecoderEpsilon)});
    const std::string root = model_.node(name + "/Sqrt", "Sqrt", {sum});
    const std::string inverse =
        model_.node(name + "/Div", "Div", {model_.constant(name + "/Constant_2", 1.0f), root});
    const std::string normal = model_.node(name + "/Mul", "Mul", {x, inverse});
    return model_.node(name + "/Mul_1", "Mul", {norm_weight(name), normal});
  }

  std::string norm_of_sum(const std::string& name, std::string& residual,
                          const std::string& y) override {
    residual = model_.node(name + "/residual/Add", "Add", {residual, y});
    return norm(name, residual);
  }

  std::string linear(const std::string& name, const std::string& x, std::int64_t in,
                     std::int64_t out) override {
    const std::string weight = model_.floats(name.substr(1) + ".weight_transposed", {in, out},
                                             PackedMatrix::draw(model_, in, out).transposed());
    return model_.node(name + "/MatMul", "MatMul", {x, weight});
  }

  std::string attention(const std::string& name, const std::string& x,
                        std::int64_t layer) override {
    const std::int64_t row = sizes_.heads * sizes_.head(), kv_row = sizes_.kv_heads * sizes_.head();
    std::string q =
        split(name + "/q", linear(name + "/q_proj", x, sizes_.hidden, row), sizes_.heads);
    std::string k =
        split(name + "/k", linear(name + "/k_proj", x, sizes_.hidden, kv_row), sizes_.kv_heads);
    std::string v =
        split(name + "/v", linear(name + "/v_proj", x, sizes_.hidden, kv_row), sizes_.kv_heads);
    q = rotate(name + "/rotary_q", q);
    k = rotate(name + "/rotary_k", k);
    k = model_.node(name + "/Concat_k", "Concat", {past(layer, "key"), k}, {{"axis", 2}});
    v = model_.node(name + "/Concat_v", "Concat", {past(layer, "value"), v}, {{"axis", 2}});
    const std::string keys = repeat(name + "/repeat_k", k), values = repeat(name + "/repeat_v", v);
    const std::string columns =
        model_.node(name + "/Transpose", "Transpose", {keys}, {{"perm", Ints{0, 1, 3, 2}}});
    std::string y = model_.node(name + "/MatMul", "MatMul", {q, columns});
    const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(sizes_.head())));
    y = model_.node(name + "/Mul", "Mul", {y, model_.constant(name + "/Constant", scale)});
    y = model_.node(name + "/Add", "Add", {y, mask_});
    y = model_.node(name + "/Softmax", "Softmax", {y}, {{"axis", -1}});
    y = model_.node(name + "/MatMul_1", "MatMul", {y, values});
    y = model_.node(name + "/Transpose_1", "Transpose", {y}, {{"perm", Ints{0, 2, 1, 3}}});
    y = reshape(name + "/Reshape", y, {0, 0, row});
    give_present(layer, k, v);
    return linear(name + "/o_proj", y, row, sizes_.hidden);
  }

  std::string split(const std::string& name, const std::string& x, std::int64_t heads) {
    const std::string view = reshape(name + "/Reshape", x, {0, 0, heads, sizes_.head()});
    return model_.node(name + "/Transpose", "Transpose", {view}, {{"perm", Ints{0, 2, 1, 3}}});
  }

  /// x * cos + (-second half, first half) * sin
  std::string rotate(const std::string& name, const std::string& x) {
    const std::int64_t half = sizes_.head() / 2;
    const std::string axis = model_.constant(name + "/axis", Ints{3});
    const std::string zero = model_.constant(name + "/zero", Ints{0}),
                      middle = model_.constant(name + "/middle", Ints{half}),
                      end = model_.constant(name + "/end",
                                            Ints{std::numeric_limits<std::int64_t>::max()});
    const std::string first = model_.node(name + "/Slice", "Slice", {x, zero, middle, axis});
    const std::string second = model_.node(name + "/Slice_1", "Slice", {x, middle, end, axis});
    const std::string negative = model_.node(name + "/Neg", "Neg", {second});
    const std::string turned =
        model_.node(name + "/Concat", "Concat", {negative, first}, {{"axis", -1}});
    const std::string a = model_.node(name + "/Mul", "Mul", {x, cos_});
    const std::string b = model_.node(name + "/Mul_1", "Mul", {turned, sin_});
    return model_.node(name + "/Add", "Add", {a, b});
  }

  /// Keys for each head of queries.
  std::string repeat(const std::string& name, const std::string& x) {
    const std::int64_t times = sizes_.heads / sizes_.kv_heads;
    if (times == 1) return x;
    const std::string apart = unsqueeze(name + "/Unsqueeze", x, {2});
    const std::string many =
        model_.node(name + "/Expand", "Expand",
                    {apart, model_.constant(name + "/Constant", Ints{1, 1, times, 1, 1})});
    return reshape(name + "/Reshape", many, {0, sizes_.heads, -1, sizes_.head()});
  }

  std::string reshape(const std::string& name, const std::string& x, const Ints& dims) {
    return model_.node(name, "Reshape", {x, model_.constant(name + "/shape", dims)});
  }
  std::string unsqueeze(const std::string& name, const std::string& x, const Ints& axes) {
    return model_.node(name, "Unsqueeze", {x, model_.constant(name + "/axes", axes)});
  }
  std::string size_of(const std::string& name, const std::string& x) {
    const std::string shape = model_.node(name + "/Shape", "Shape", {x});
    return model_.node(name + "/Gather", "Gather",
                       {shape, model_.constant(name + "/Constant", Ints{1}, true)}, {{"axis", 0}});
  }

  std::string mask_, cos_, sin_;
};

// ---- genai ----

class GenaiDecoder final : public Decoder {
 public:
  using Decoder::Decoder;

 private:
  std::int64_t present_length() const override {
    return std::max<std::int64_t>(options_.past, options_.sequence);
  }

  void prepare(const std::string&) override {
    const std::string seen = attention_mask(present_length());
    const std::string name = "/model/attn_mask_reformat";
    const std::string axis = model_.constant(name + "/axis", Ints{1});
    const std::string sum =
        model_.node(name + "/ReduceSum", "ReduceSum", {seen, axis}, {{"keepdims", 0}});
    const std::string last =
        model_.node(name + "/Sub", "Sub", {sum, model_.constant(name + "/one", Ints{1})});
    lengths_ = model_.node(name + "/Cast", "Cast", {last}, {{"to", 6}});
    const std::string shape = model_.node(name + "/Shape", "Shape", {seen});
    const std::string total =
        model_.node(name + "/Gather", "Gather",
                    {shape, model_.constant(name + "/index", Ints{1}, true)}, {{"axis", 0}});
    total_ = model_.node(name + "/Cast_1", "Cast", {total}, {{"to", 6}});
    add_angles();
  }

  void add_angles() {
    constexpr std::int64_t kLeastPositions = 64;
    const std::int64_t positions = std::max(kLeastPositions, present_length());
    std::vector<float> cos, sin;
    for (std::int64_t position = 0; position < positions; ++position)
      for (std::int64_t i = 0; i < sizes_.head() / 2; ++i) {
        const auto speed = static_cast<float>(std::pow(
            kRotaryBase, -2.0 * static_cast<double>(i) / static_cast<double>(sizes_.head())));
        const float angle = static_cast<float>(position) * speed;
        cos.push_back(std::cos(angle));
        sin.push_back(std::sin(angle));
      }
    cos_ = model_.floats("cos_cache", {positions, sizes_.head() / 2}, cos);
    sin_ = model_.floats("sin_cache", {positions, sizes_.head() / 2}, sin);
  }

  std::string norm(const std::string& name, const std::string& x) override {
    return model_.node(name + "/LayerNorm", "SimplifiedLayerNormalization", {x, norm_weight(name)},
                       {{"axis", -1}, {"epsilon", kDecoderEpsilon}, {"stash_type", 1}});
  }

  std::string norm_of_sum(const std::string& name, std::string& residual,
                          const std::string& y) override {
    const std::string sum = residual;
    const std::vector<std::string> outputs = model_.node_with_outputs(
        name + "/SkipLayerNorm", "com.microsoft.SkipSimplifiedLayerNormalization",
        {sum, y, norm_weight(name)}, std::vector<std::size_t>{0, 3},
        {{"epsilon", kDecoderEpsilon}});
    residual = outputs[1];
    return outputs[0];
  }

  std::string linear(const std::string& name, const std::string& x, std::int64_t in,
                     std::int64_t out) override {
    const PackedMatrix packed = PackedMatrix::draw(model_, in, out);
    const std::string stem = name.substr(1) + ".MatMulNBits";
    const std::string weight = model_.bytes(
        stem + ".qweight", {out, packed.blocks(), PackedMatrix::kBlock / 2}, packed.pairs());
    const std::string scales =
        model_.floats(stem + ".scales", {out * packed.blocks()}, packed.scales());
    return model_.node(name + "/MatMulNBits", "com.microsoft.MatMulNBits", {x, weight, scales},
                       {{"K", static_cast<int>(in)},
                        {"N", static_cast<int>(out)},
                        {"bits", 4},
                        {"block_size", static_cast<int>(PackedMatrix::kBlock)},
                        {"accuracy_level", 0}});
  }

  std::string attention(const std::string& name, const std::string& x,
                        std::int64_t layer) override {
    const std::int64_t row = sizes_.heads * sizes_.head(), kv_row = sizes_.kv_heads * sizes_.head();
    const std::string q = linear(name + "/q_proj", x, sizes_.hidden, row);
    const std::string k = linear(name + "/k_proj", x, sizes_.hidden, kv_row);
    const std::string v = linear(name + "/v_proj", x, sizes_.hidden, kv_row);
    const std::string past_key = past(layer, "key"), past_value = past(layer, "value");
    const std::vector<std::string> outputs = model_.node_with_outputs(
        name + "/GroupQueryAttention", "com.microsoft.GroupQueryAttention",
        {q, k, v, past_key, past_value, lengths_, total_, cos_, sin_}, 3,
        {{"num_heads", static_cast<int>(sizes_.heads)},
         {"kv_num_heads", static_cast<int>(sizes_.kv_heads)},
         {"scale", static_cast<float>(1 / std::sqrt(static_cast<double>(sizes_.head())))},
         {"do_rotary", 1},
         {"rotary_interleaved", 0}});
    give_present(layer, outputs[1], outputs[2]);
    return linear(name + "/o_proj", outputs[0], row, sizes_.hidden);
  }

  std::string lengths_, total_, cos_, sin_;
};

void write_decoder(OnnxWriter& model, const ModelOptions& options) {
  if (options.form == "genai")
    GenaiDecoder(model, options).write();
  else
    PlainDecoder(model, options).write();
}

}  // namespace

void register_decoder(ModelRegistry& registry) {
  registry.add({"decoder",
                "Llama-kind decoder with a cache, 30 layers of 576, 4-bit weights, --form=genai",
                17,
                write_decoder,
                {"plain", "genai"}});
}

}  // namespace aoe::make_model
