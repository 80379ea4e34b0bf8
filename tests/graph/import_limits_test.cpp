// Small files that ask for very much: refused with the limit, or left to the run, before much is done.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <stop_token>

#include "base/error.h"
#include "base/file.h"
#include "base/stop_scope.h"
#include "graph/evaluation.h"
#include "graph/import/import_budget.h"
#include "graph/passes.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"

namespace aoe::tests {
namespace {

std::string message_of(const onnx::ModelProto& model) {
  try {
    import_bytes(model.SerializeAsString());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kModel);
    return error.what();
  }
  return "imports";
}

/// An initializer of few bytes for `elements` float32.
void add_sparse_zeros(onnx::GraphProto& graph, const std::string& name, std::int64_t elements) {
  auto& sparse = *graph.add_sparse_initializer();
  sparse.add_dims(elements);
  sparse.mutable_values()->set_name(name);
  sparse.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  sparse.mutable_values()->add_dims(0);
  sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse.mutable_indices()->add_dims(0);
}

/// f0 calls f1 twice, f1 calls f2 twice, ...: 2^depth nodes in the end.
onnx::ModelProto doubling(int depth) {
  onnx::ModelProto model = parsed_model("g (float[2] x) => (float[2] y) { y = Relu (x) }");
  auto* local = model.add_opset_import();
  local->set_domain("local");
  local->set_version(1);
  auto& first = *model.mutable_graph()->mutable_node(0);
  first.set_domain("local");
  first.set_op_type("f0");
  for (int i = 0; i <= depth; ++i) {
    onnx::FunctionProto& function = *model.add_functions();
    function.set_domain("local");
    function.set_name("f" + std::to_string(i));
    function.add_input("x");
    function.add_output("b");
    *function.mutable_opset_import() = model.opset_import();
    for (int k = 0; k < 2; ++k) {
      onnx::NodeProto& node = *function.add_node();
      node.set_domain(i < depth ? "local" : "");
      node.set_op_type(i < depth ? "f" + std::to_string(i + 1) : "Relu");
      node.add_input(k == 0 ? "x" : "a");
      node.add_output(k == 0 ? "a" : "b");
    }
  }
  return model;
}

TEST(ImportLimits, AStopEndsImportAndPasses) {
  std::stop_source stop;
  stop.request_stop();
  const auto code_of = [&](const auto& work) {
    const StopScope scope(stop.get_token());
    try {
      work();
    } catch (const Error& error) {
      return error.code();
    }
    return ExitCode::kSuccess;
  };
  graph::Graph graph = import_text("g (float[2] x) => (float[2] y) { y = Relu (x) }");
  EXPECT_EQ(code_of([&] { import_bytes(doubling(3).SerializeAsString()); }),
            ExitCode::kInterrupted);
  EXPECT_EQ(code_of([&] { graph::run_passes(graph, {}); }), ExitCode::kInterrupted);
  graph::run_passes(graph, {});  // outside of the scope
}

TEST(ImportLimits, FunctionsMayCallFunctions) {
  EXPECT_EQ(message_of(doubling(4)), "imports");
}

TEST(ImportLimits, FunctionsThatDoubleEndAtTheLimit) {
  EXPECT_NE(message_of(doubling(40)).find("has more than 100000 nodes with its functions"),
            std::string::npos);
}

/// The limit is the whole model's: a branch beyond it is no branch for inputs of other shapes, which a run may do without.
TEST(ImportLimits, ABranchThatIsTooLargeEndsAtTheLimit) {
  onnx::ModelProto model = parsed_model(
      "g (float[2] x, bool c) => (float[2] y) { y = If (c) <"
      "then_branch = t () => (float[2] p) { p = Neg (x) },"
      "else_branch = e () => (float[2] q) { q = Relu (x) }> }");
  for (auto& attribute : *model.mutable_graph()->mutable_node(0)->mutable_attribute()) {
    if (attribute.name() != "then_branch") continue;
    add_sparse_zeros(*attribute.mutable_g(), "s", std::int64_t{600} << 20);
  }
  EXPECT_NE(message_of(model).find("has more than 1073741824 bytes"), std::string::npos);
}

TEST(ImportLimits, BodiesThatAreLargeAreCountedEachTime) {
  onnx::ModelProto model = doubling(20);
  auto& last = *model.mutable_functions(20);
  onnx::NodeProto& constant = *last.add_node();
  constant.set_op_type("Constant");
  constant.add_output("weights");
  auto& attribute = *constant.add_attribute();
  attribute.set_name("value");
  attribute.set_type(onnx::AttributeProto::TENSOR);
  attribute.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  attribute.mutable_t()->add_dims(1 << 18);
  attribute.mutable_t()->set_raw_data(std::string(std::size_t{1} << 20, '\0'));
  EXPECT_NE(message_of(model).find("has more than 1073741824 bytes"), std::string::npos);
}

TEST(ImportLimits, NamesThatGrowWithEachCall) {
  onnx::ModelProto model = doubling(12);
  for (auto& function : *model.mutable_functions())
    for (auto& node : *function.mutable_node()) node.set_name(std::string(20000, 'n'));
  EXPECT_NE(message_of(model).find("has more than 1073741824 bytes"), std::string::npos);
}

TEST(ImportLimits, SparseTensorsAreCountedAsWhatTheyStandFor) {
  onnx::ModelProto model = parsed_model("g (float[2] x) => (float[2] y) { y = Relu (x) }");
  for (int i = 0; i < 3; ++i) {
    add_sparse_zeros(*model.mutable_graph(), "s" + std::to_string(i), std::int64_t{100} << 20);
  }
  EXPECT_NE(message_of(model).find("has more than 1073741824 bytes"), std::string::npos);
}

TEST(ImportLimits, SizesBeyond2To48BytesNameTheirTensor) {
  EXPECT_NE(
      message_of(
          parsed_model("g (float[1099511627776,1099511627776] x) => (float[2] y) { y = Relu (x) }"))
          .find("value 'x': float32 1099511627776x1099511627776 is larger than 2^48 bytes"),
      std::string::npos);
  const std::string text =
      "g (float[1048576] a, float[1048576,1] b) => (float[N,M] y) { c = Add (a, b) \n"
      " d = Unsqueeze <axes=[0]> (c) \n e = Concat <axis=0> (";
  std::string list = "d";
  for (int i = 0; i < 200; ++i) list += ",d";
  EXPECT_NE(message_of(parsed_model(text + list + ") \n y = Flatten (e) }", 11))
                .find("is larger than 2^48 bytes"),
            std::string::npos);
  onnx::ModelProto model = parsed_model("g (float[2] x) => (float[2] y) { y = Relu (x) }");
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("weights");
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(std::int64_t{1} << 62);
  tensor.add_dims(4);  // the product wraps around to 0
  EXPECT_NE(message_of(model).find("tensor 'weights'"), std::string::npos);
}

TEST(ImportLimits, NodesWithoutOutputs) {
  onnx::ModelProto model = parsed_model("g (float[2] x) => (float[2] y) { y = Relu (x) }");
  auto& node = *model.mutable_graph()->add_node();
  node.set_name("mute");
  node.set_op_type("Split");
  node.add_input("x");
  EXPECT_NE(message_of(model).find("node mute (ONNX Split): has no output"), std::string::npos);
}

/// As exporters leave it where nobody read what its branches gave.
TEST(ImportLimits, AnIfWithoutOutputsDoesNothing) {
  onnx::ModelProto model = parsed_model(
      "g (bool c, float[2] x) => (float[2] y, float[2] z) { y = Relu (x) z = If (c) <then_branch = "
      "a () => "
      "(float[2] p) { p = Tanh (x) }, else_branch = b () => (float[2] q) { q = Abs (x) }> }");
  model.mutable_graph()->mutable_node(1)->clear_output();
  model.mutable_graph()->mutable_output()->RemoveLast();
  EXPECT_EQ(import_bytes(model.SerializeAsString()).nodes.size(), 1u);
}

/// How many nodes are left behind all passes.
std::size_t nodes_behind_passes(const std::string& text, int opset = 13) {
  graph::Graph graph = import_text(text, opset);
  graph::run_passes(graph, {});
  return graph.nodes.size();
}

TEST(ImportLimits, DearConstantsAreLeftToTheRun) {
  // Two constants of 400 KB, and 10^13 products.
  EXPECT_GT(nodes_behind_passes(R"(g (float[1] x) => (float[1] y)
      <int64[2] n = {3000, 3000}, int64[2] axes = {0, 1}> {
    a = ConstantOfShape (n)
    b = MatMul (a, a)
    c = MatMul (b, a)
    d = MatMul (c, a)
    e = ReduceMax <keepdims=0> (d)
    y = Add (x, e)
  })"),
            1u);
}

TEST(ImportLimits, ManyFoldedConstantsStayWithinTheBudget) {
  // Each below the limit of one constant, together far beyond that of all.
  std::string text =
      "g (float[1] x) => (float[1] y) <int64[1] n = {60000000}, int64[1] k = {5}> {\n";
  std::string sum = "x";
  for (int i = 0; i < 30; ++i) {
    const std::string n = std::to_string(i);
    text += "a" + n + " = ConstantOfShape (n)\n b" + n + " = Gather (a" + n + ", k)\n";
    text += "s" + n + " = Add (" + sum + ", b" + n + ")\n";
    sum = "s" + n;
  }
  text += "y = Relu (" + sum + ") }";
  EXPECT_GT(nodes_behind_passes(text), 1u);
}

TEST(ImportLimits, WorkIsEstimatedByWhatTheReferenceDoes) {
  const auto tensor = [](const Shape& shape) {
    return Tensor{{.dtype = DataType::kFloat, .shape = shape}, nullptr};
  };
  const auto work = [&](const reference::OpCall& call, const std::vector<Tensor>& inputs) {
    return graph::evaluation_work(call, inputs, reference::infer(call, inputs, 1));
  };
  reference::OpCall pool{.type = "MaxPoolV3"};
  pool.attrs.set("kernel_shape", std::vector<std::int64_t>{100, 100});
  EXPECT_GE(work(pool, {tensor({1, 1, 1000, 1000})}), 8e9);
  EXPECT_GE(work({.type = "MatMulV2"}, {tensor({1000, 2000}), tensor({2000, 1000})}), 2e9);
  EXPECT_GE(work({.type = "Conv2D"}, {tensor({1, 64, 100, 100}), tensor({64, 64, 3, 3})}), 3e8);
  EXPECT_LT(work({.type = "Relu"}, {tensor({1000})}), 1e4);
}

}  // namespace
}  // namespace aoe::tests
