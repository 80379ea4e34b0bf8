// GPT-2: decoder layers with a causal mask; one Gemm makes query, key and value, and a Split takes
// them apart, as Conv1D modules are exported.
#include <cmath>
#include <limits>

#include "tools/make_model/layers.h"
#include "tools/make_model/models.h"

namespace aoe::make_model {
namespace {

constexpr float kGpt2Epsilon = 1e-5f;

struct Gpt2Sizes {
  std::int64_t hidden = 768, heads = 12, layers = 12, words = 50257, positions = 1024;
};

/// Reshape to rows, Gemm with the weights as they are, Reshape back.
std::string conv1d(OnnxWriter& model, const std::string& name, const std::string& x, Shape shape,
                   std::int64_t out) {
  const std::int64_t in = shape.back();
  const std::string rows = model.constant(name + "/Constant", {-1, in});
  const std::string weight =
      model.weight(name.substr(1) + ".weight", {in, out}, std::sqrt(1.0 / static_cast<double>(in)));
  const std::string bias = model.weight(name.substr(1) + ".bias", {out}, 0.02);
  std::string y = model.node(name + "/Reshape", "Reshape", {x, rows});
  y = model.node(name + "/Gemm", "Gemm", {y, weight, bias}, {{"alpha", 1.0f}, {"beta", 1.0f}});
  shape.back() = out;
  return model.node(name + "/Reshape_1", "Reshape",
                    {y, model.constant(name + "/Constant_1", shape)});
}

/// 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
std::string new_gelu(OnnxWriter& model, const std::string& name, const std::string& x) {
  const auto value = [&](const char* suffix, float number) {
    return model.constant(name + "/Constant" + suffix, number);
  };
  const std::string half = model.node(name + "/Mul", "Mul", {x, value("", 0.5f)});
  const std::string cube = model.node(name + "/Pow", "Pow", {x, value("_1", 3.0f)});
  std::string y = model.node(name + "/Mul_1", "Mul", {cube, value("_2", 0.044715f)});
  y = model.node(name + "/Add", "Add", {x, y});
  y = model.node(name + "/Mul_2", "Mul", {y, value("_3", 0.79788456f)});
  y = model.node(name + "/Tanh", "Tanh", {y});
  y = model.node(name + "/Add_1", "Add", {y, value("_4", 1.0f)});
  return model.node(name + "/Mul_3", "Mul", {half, y});
}

std::string attention(OnnxWriter& model, const std::string& name, const std::string& x,
                      const std::string& causal, const Shape& shape, const Gpt2Sizes& sizes) {
  const std::int64_t size = sizes.hidden / sizes.heads;
  const std::string all = conv1d(model, name + "/c_attn", x, shape, 3 * sizes.hidden);
  const std::string widths =
      model.constant(name + "/Constant", {sizes.hidden, sizes.hidden, sizes.hidden});
  const std::vector<std::string> parts =
      model.node_with_outputs(name + "/Split", "Split", {all, widths}, 3, {{"axis", 2}});
  const auto heads = [&](int part, const std::vector<std::int64_t>& perm) {
    const std::string suffix = "_" + std::to_string(part);
    const std::string dims =
        model.constant(name + "/Constant_heads" + suffix, {shape[0], shape[1], sizes.heads, size});
    const std::string view = model.node(name + "/Reshape" + suffix, "Reshape",
                                        {parts[static_cast<std::size_t>(part)], dims});
    return model.node(name + "/Transpose" + suffix, "Transpose", {view}, {{"perm", perm}});
  };
  const std::string query = heads(0, {0, 2, 1, 3});
  const std::string key = heads(1, {0, 2, 3, 1});
  const std::string value = heads(2, {0, 2, 1, 3});
  std::string scores = model.node(name + "/MatMul", "MatMul", {query, key});
  const std::string root =
      model.constant(name + "/Constant_root", std::sqrt(static_cast<float>(size)));
  scores = model.node(name + "/Div", "Div", {scores, root});
  const std::string lowest =
      model.constant(name + "/Constant_lowest", std::numeric_limits<float>::lowest());
  scores = model.node(name + "/Where", "Where", {causal, scores, lowest});
  scores = model.node(name + "/Softmax", "Softmax", {scores}, {{"axis", -1}});
  std::string y = model.node(name + "/MatMul_1", "MatMul", {scores, value});
  y = model.node(name + "/Transpose_3", "Transpose", {y},
                 {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  y = model.node(name + "/Reshape_3", "Reshape", {y, model.constant(name + "/Constant_4", shape)});
  return conv1d(model, name + "/c_proj", y, shape, sizes.hidden);
}

/// position <= own position, as exporters of old masks write it: a table of bytes cut to size.
std::string causal_mask(OnnxWriter& model, std::int64_t length) {
  std::vector<std::int64_t> lower;
  for (std::int64_t row = 0; row < length; ++row)
    for (std::int64_t column = 0; column < length; ++column) lower.push_back(column <= row ? 1 : 0);
  const std::string table = model.ints("causal", {1, 1, length, length}, lower);
  return model.node("/Cast", "Cast", {table}, {{"to", 9}});
}

void write_gpt2(OnnxWriter& model, const ModelOptions& options) {
  Gpt2Sizes sizes;
  if (options.is_small)
    sizes = {.hidden = 32, .heads = 4, .layers = 2, .words = 60, .positions = 64};
  if (options.layers > 0) sizes.layers = options.layers;
  sizes.positions = std::max<std::int64_t>(sizes.positions, options.sequence);
  const Shape shape = {options.batch, options.sequence, sizes.hidden};
  const std::string ids =
      model.input("input_ids", {options.batch, options.sequence}, DataType::kInt64);
  const std::string words = model.weight("wte.weight", {sizes.words, sizes.hidden}, 0.1);
  const std::string positions = model.weight("wpe.weight", {options.sequence, sizes.hidden}, 0.1);
  const std::string causal = causal_mask(model, options.sequence);
  std::string x = model.node("/wte/Gather", "Gather", {words, ids});
  x = model.node("/Add", "Add", {x, positions});
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string name = "/h." + std::to_string(layer);
    std::string y = layer_norm_17(model, name + "/ln_1", x, sizes.hidden, kGpt2Epsilon);
    y = attention(model, name + "/attn", y, causal, shape, sizes);
    x = model.node(name + "/Add", "Add", {y, x});
    y = layer_norm_17(model, name + "/ln_2", x, sizes.hidden, kGpt2Epsilon);
    y = conv1d(model, name + "/mlp/c_fc", y, shape, 4 * sizes.hidden);
    y = new_gelu(model, name + "/mlp/act", y);
    Shape wide = shape;
    wide.back() = 4 * sizes.hidden;
    y = conv1d(model, name + "/mlp/c_proj", y, wide, sizes.hidden);
    x = model.node(name + "/Add_1", "Add", {x, y});
  }
  x = layer_norm_17(model, "/ln_f", x, sizes.hidden, kGpt2Epsilon);
  const std::string head = model.node("/lm_head/Transpose", "Transpose", {words},
                                      {{"perm", std::vector<std::int64_t>{1, 0}}});
  x = model.node("/lm_head/MatMul", "MatMul", {x, head});
  model.output(x, "logits", {options.batch, options.sequence, sizes.words});
}

}  // namespace

void register_gpt2(ModelRegistry& registry) {
  registry.add({"gpt2", "GPT-2 decoder, 12 layers of 768, causal mask, logits of all words", 17,
                write_gpt2});
}

}  // namespace aoe::make_model
