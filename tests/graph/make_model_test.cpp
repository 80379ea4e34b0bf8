// The generated networks, small: they import, every pass runs over them, and they mean the same
// before and after.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <stdexcept>

#include "graph/passes.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"
#include "tools/make_model/models.h"

namespace aoe::make_model {
void PrintTo(const Model& model, std::ostream* out) {
  *out << model.name;
}
}  // namespace aoe::make_model

namespace aoe::tests {
namespace {

using make_model::Model;
using make_model::ModelOptions;

std::string bytes_of(const Model& model, const ModelOptions& options) {
  make_model::OnnxWriter writer(model.name, {.opset = model.opset, .seed = options.seed});
  model.write(writer, options);
  return writer.serialize();
}

const ModelOptions kSmall = {.batch = 2, .image = 64, .sequence = 5, .is_small = true};

class EachModel : public testing::TestWithParam<Model> {};

TEST_P(EachModel, MeansTheSameBehindAllPasses) {
  const graph::Graph before = import_bytes(bytes_of(GetParam(), kSmall));
  graph::Graph after = before;
  graph::run_passes(after, {});
  EXPECT_LT(after.nodes.size(), before.nodes.size());
  expect_same_outputs(before, after, 1);
}

TEST_P(EachModel, KeepsItsActivationsInRange) {
  const graph::Graph graph = import_bytes(bytes_of(GetParam(), kSmall));
  for (const ConstantPtr& output : interpret(graph, random_inputs(graph, 1))) {
    const auto* data = static_cast<const float*>(output->data());
    double squares = 0;
    const std::int64_t count = element_count(output->desc().shape);
    for (std::int64_t i = 0; i < count; ++i)
      squares += static_cast<double>(data[i]) * static_cast<double>(data[i]);
    const double root_mean_square = std::sqrt(squares / static_cast<double>(count));
    EXPECT_GT(root_mean_square, 1e-3);
    EXPECT_LT(root_mean_square, 1e3);
  }
}

TEST_P(EachModel, DependsOnTheSeedAlone) {
  ModelOptions other = kSmall;
  other.seed = 1;
  EXPECT_EQ(bytes_of(GetParam(), kSmall), bytes_of(GetParam(), kSmall));
  EXPECT_NE(bytes_of(GetParam(), kSmall), bytes_of(GetParam(), other));
}

std::string test_name(const testing::TestParamInfo<Model>& model) {
  std::string name = model.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(MakeModel, EachModel, testing::ValuesIn(make_model::models()), test_name);

/// How often each operator is left behind all passes.
std::map<std::string, int> operators_of(const std::string& name, const ModelOptions& options) {
  const auto model = std::ranges::find(make_model::models(), name, &Model::name);
  if (model == make_model::models().end()) throw std::logic_error("there is no model " + name);
  graph::Graph graph = import_bytes(bytes_of(*model, options));
  graph::run_passes(graph, {});
  std::map<std::string, int> counts;
  for (const graph::Node& node : graph.nodes) ++counts[reference::type_name(node.op)];
  return counts;
}

TEST(MakeModel, ResNetBecomesConvolutionsAndLittleElse) {
  EXPECT_EQ(operators_of("resnet50", {}), (std::map<std::string, int>{{"Conv2D", 53},
                                                                      {"MaxPoolV3", 1},
                                                                      {"GlobalAveragePool", 1},
                                                                      {"Reshape", 1},
                                                                      {"Gemm", 1}}));
}

TEST(MakeModel, AttentionBecomesOneNodeALayer) {
  auto bert = operators_of("bert-base", kSmall), vit = operators_of("vit-b16", kSmall);
  EXPECT_EQ(bert["FlashAttentionScore"], 2);
  EXPECT_EQ(bert["SoftmaxV2"] + bert["Transpose"], 0);
  EXPECT_EQ(vit["FlashAttentionScore"], 2);
  EXPECT_EQ(vit["SoftmaxV2"] + vit["GatherV2"], 1);  // the class token's
  EXPECT_EQ(vit["Transpose"], 1);                    // of the patches
}

}  // namespace
}  // namespace aoe::tests
