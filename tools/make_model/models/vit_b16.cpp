// Vision Transformer B/16: the image as 16x16 patches, a class token in front, pre-norm encoder
// blocks with one projection for query, key and value.
#include <cmath>

#include "base/error.h"
#include "tools/make_model/layers.h"
#include "tools/make_model/models.h"

namespace aoe::make_model {
namespace {

constexpr float kVitEpsilon = 1e-6f;
constexpr std::int64_t kPatch = 16;

struct VitSizes {
  std::int64_t hidden = 768, heads = 12, feed_forward = 3072, layers = 12, classes = 1000;
};

VitSizes vit_sizes(const ModelOptions& options) {
  VitSizes sizes;
  if (options.is_small)
    sizes = {.hidden = 32, .heads = 4, .feed_forward = 64, .layers = 2, .classes = 10};
  if (options.layers > 0) sizes.layers = options.layers;
  return sizes;
}

/// batch x 3 x image x image -> batch x patches x hidden
std::string embed_patches(OnnxWriter& model, const VitSizes& sizes, const std::string& image) {
  const std::string name = "/patch_embed";
  std::string x =
      conv(model, name + "/proj", image,
           {.in = 3, .out = sizes.hidden, .kernel = kPatch, .stride = kPatch, .has_bias = true});
  // flatten(2): the first two sizes, then -1
  const std::string shape = model.node(name + "/Shape", "Shape", {x});
  const std::string zero = model.constant(name + "/Constant", std::vector<std::int64_t>{0});
  const std::string two = model.constant(name + "/Constant_1", std::vector<std::int64_t>{2});
  const std::string kept = model.node(name + "/Slice", "Slice", {shape, zero, two});
  const std::string rest = model.constant(name + "/Constant_2", std::vector<std::int64_t>{-1});
  const std::string flat = model.node(name + "/Concat", "Concat", {kept, rest}, {{"axis", 0}});
  x = model.node(name + "/Reshape", "Reshape", {x, flat});
  return model.node(name + "/Transpose", "Transpose", {x},
                    {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
}

std::string add_class_token(OnnxWriter& model, const VitSizes& sizes, const std::string& patches) {
  const std::string token = model.weight("cls_token", {1, 1, sizes.hidden}, 0.5);
  const std::string batch = size_of(model, "/batch", patches, 0);
  const std::string axes = model.constant("/Constant", std::vector<std::int64_t>{0});
  const std::string batch_1d = model.node("/Unsqueeze", "Unsqueeze", {batch, axes});
  const std::string same = model.constant("/Constant_1", std::vector<std::int64_t>{1, 1});
  const std::string shape = model.node("/Concat_shape", "Concat", {batch_1d, same}, {{"axis", 0}});
  const std::string tokens = model.node("/Expand", "Expand", {token, shape});
  return model.node("/Concat", "Concat", {tokens, patches}, {{"axis", 1}});
}

std::string attention(OnnxWriter& model, const std::string& name, const std::string& x,
                      const VitSizes& sizes) {
  const std::int64_t size = sizes.hidden / sizes.heads;
  const std::string batch = size_of(model, name + "/batch", x, 0);
  const std::string length = size_of(model, name + "/length", x, 1);
  std::string qkv = linear(model, name + "/qkv", x, sizes.hidden, 3 * sizes.hidden);
  qkv = view(model, name + "/split", qkv,
             {batch, length, model.constant(name + "/Constant", {3}, true),
              model.constant(name + "/Constant_1", {sizes.heads}, true),
              model.constant(name + "/Constant_2", {size}, true)});
  qkv = model.node(name + "/Transpose", "Transpose", {qkv},
                   {{"perm", std::vector<std::int64_t>{2, 0, 3, 1, 4}}});
  const auto part = [&](std::int64_t i) {
    const std::string index =
        model.constant(name + "/Constant_index" + std::to_string(i), {i}, true);
    return model.node(name + "/Gather_" + std::to_string(i), "Gather", {qkv, index}, {{"axis", 0}});
  };
  std::string query = part(0), key = part(1);
  const std::string value = part(2);
  const float scale = 1 / std::sqrt(static_cast<float>(size));
  query = model.node(name + "/Mul", "Mul", {query, model.constant(name + "/Constant_3", scale)});
  key = model.node(name + "/Transpose_1", "Transpose", {key},
                   {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}});
  std::string scores = model.node(name + "/MatMul", "MatMul", {query, key});
  scores = model.node(name + "/Softmax", "Softmax", {scores}, {{"axis", -1}});
  std::string y = model.node(name + "/MatMul_1", "MatMul", {scores, value});
  y = model.node(name + "/Transpose_2", "Transpose", {y},
                 {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  y = view(model, name + "/merge", y,
           {batch, length, model.constant(name + "/Constant_4", {sizes.hidden}, true)});
  return linear(model, name + "/proj", y, sizes.hidden, sizes.hidden);
}

std::string encoder_block(OnnxWriter& model, const std::string& name, const std::string& x,
                          const VitSizes& sizes) {
  std::string y = layer_norm_17(model, name + "/norm1", x, sizes.hidden, kVitEpsilon);
  y = attention(model, name + "/attn", y, sizes);
  const std::string attended = model.node(name + "/Add", "Add", {x, y});
  y = layer_norm_17(model, name + "/norm2", attended, sizes.hidden, kVitEpsilon);
  y = linear(model, name + "/mlp/fc1", y, sizes.hidden, sizes.feed_forward);
  y = gelu(model, name + "/mlp/act", y);
  y = linear(model, name + "/mlp/fc2", y, sizes.feed_forward, sizes.hidden);
  return model.node(name + "/Add_1", "Add", {attended, y});
}

void write_vit_b16(OnnxWriter& model, const ModelOptions& options) {
  if (options.image % kPatch != 0 || options.image < kPatch)
    throw Error(ExitCode::kUsage, "vit-b16 needs an image side that 16 divides",
                "--image=" + std::to_string(options.image));
  const VitSizes sizes = vit_sizes(options);
  const std::int64_t side = options.image / kPatch;
  const std::string image = model.input("input", {options.batch, 3, options.image, options.image});
  std::string x = add_class_token(model, sizes, embed_patches(model, sizes, image));
  const std::string positions = model.weight("pos_embed", {1, side * side + 1, sizes.hidden}, 0.5);
  x = model.node("/Add", "Add", {x, positions});
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer)
    x = encoder_block(model, "/blocks/blocks." + std::to_string(layer), x, sizes);
  x = layer_norm_17(model, "/norm", x, sizes.hidden, kVitEpsilon);
  x = model.node("/Gather", "Gather", {x, model.constant("/Constant_first", {0}, true)},
                 {{"axis", 1}});
  x = gemm(model, "/head", x, sizes.hidden, sizes.classes,
           std::sqrt(1.0 / static_cast<double>(sizes.hidden)));
  model.output(x, "output", {options.batch, sizes.classes});
}

}  // namespace

void register_vit_b16(ModelRegistry& registry) {
  registry.add(
      {"vit-b16", "Vision Transformer B/16, LayerNormalization of opset 17", 17, write_vit_b16});
}

}  // namespace aoe::make_model
