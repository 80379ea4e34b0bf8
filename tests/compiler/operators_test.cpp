// Every operator that has a formula, in every element type that its rules allow: alone, behind an addition, a convolution
// and a matrix product, as the passes leave it, generated code carries it and agrees with the reference, also where
// numbers end. The operators come from the registry: a new one is covered by being there.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/error.h"
#include "base/json_text.h"
#include "graph/passes.h"
#include "reference/elements/typed.h"
#include "tests/compiler/element_types.h"
#include "tests/compiler/impl_check.h"
#include "tests/compiler/machine_code.h"

namespace aoe::compiler {
namespace {

using graph::Graph;
using graph::ValueId;
using reference::Attrs;
using reference::OpDef;
using reference::OpKind;

/// Attributes that an operator must have, or that choose between its formulas. Others run with none.
std::vector<Attrs> attributes_of(const std::string& type) {
  const auto with = [](const char* name, reference::Attr value) {
    Attrs attrs;
    attrs.set(name, std::move(value));
    return attrs;
  };
  if (type == "BitShift")
    return {with("direction", std::string("LEFT")), with("direction", std::string("RIGHT"))};
  if (type == "Mod") return {Attrs(), with("fmod", std::int64_t{1})};
  if (type == "Gelu") return {Attrs(), with("approximate", std::string("tanh"))};
  if (type == "IsInf") return {Attrs(), with("detect_negative", std::int64_t{0})};
  if (type == "RoundToSmallFloat") {
    std::vector<Attrs> all;
    for (const char* beyond : {"most", "infinity", "nan"}) {
      Attrs& attrs = all.emplace_back(with("beyond", std::string(beyond)));
      attrs.set("mantissa_bits", std::int64_t{2});
      attrs.set("least_exponent", std::int64_t{-14});
      attrs.set("most", 57344.0f);
    }
    return all;
  }
  if (type == "Cast") {
    std::vector<Attrs> all;
    for (const std::int64_t onnx_type : {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16})
      all.push_back(with("to", onnx_type));
    return all;
  }
  return {Attrs()};
}

/// Random numbers around zero; integers of all sizes, zeros among them. Real numbers are eighths, which sums of products
/// hold exactly: what a steep function makes of a product then does not depend on the order of the sum.
std::shared_ptr<Constant> random_values(const TensorDesc& desc, std::mt19937& engine) {
  auto values = std::make_shared<Constant>(desc);
  const auto real = [](std::mt19937& from) { return static_cast<double>(from() % 32) / 8 - 2; };
  reference::visit_type<reference::AllTypes>(desc.dtype, [&]<typename T>() {
    for (std::int64_t i = 0; i < element_count(desc.shape); ++i) {
      double number = real(engine);
      if (is_integer(desc.dtype)) number = std::floor(number * (engine() % 4 == 0 ? 60 : 4));
      if (!reference::kIsFloat<T> && std::is_unsigned_v<T>) number = std::abs(number);
      values->view().as<T>()[i] = reference::convert<T>(number);
    }
  });
  return values;
}

/// Where functions have corners and types end.
std::vector<double> corners_of(DataType type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (type == DataType::kBool) return {0, 1};
  if (is_floating(type))
    return {0,    -0.0, 1,   -1,   0.5,  -0.5,  1.5,    -1.5,    2.5, -2.5,      3,          -3,
            0.25, -7,   5.5, 1e-3, -0.9, 100.5, 1000.5, -2000.5, 6e4, kInfinity, -kInfinity, kNan};
  std::vector<double> corners = {0, 1, 2, 3, 7, 8, 31, 100};
  if (is_signed(type))
    for (const double number : {-1, -2, -3, -7, -100}) corners.push_back(number);
  return corners;
}

/// Corners of the type, each next to each of another operand whose `stride` is another power of their number.
std::shared_ptr<Constant> corner_values(const TensorDesc& desc, std::int64_t stride) {
  auto values = std::make_shared<Constant>(desc);
  reference::visit_type<reference::AllTypes>(desc.dtype, [&]<typename T>() {
    std::vector<T> corners;
    for (const double number : corners_of(desc.dtype))
      corners.push_back(reference::convert<T>(number));
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      corners.push_back(std::numeric_limits<T>::lowest());
      corners.push_back(std::numeric_limits<T>::max());
    }
    for (std::int64_t i = 0; i < element_count(desc.shape); ++i)
      values->view().as<T>()[i] = corners[static_cast<std::size_t>(i / stride) % corners.size()];
  });
  return values;
}

struct Call {
  const OpDef* def;
  Attrs attrs;
  std::vector<DataType> types;  ///< of the operands

  bool is_parameter(std::size_t i) const {
    return def->first_parameter >= 0 && static_cast<int>(i) >= def->first_parameter;
  }
  /// Bounds of Clip are numbers as well, by its rules.
  bool is_number(std::size_t i) const {
    return is_parameter(i) || (def->type == "ClipByValue" && i > 0);
  }

  std::string text() const {
    std::string text = def->type;
    for (const DataType type : types) text += " " + std::string(name(type));
    return text + " " + json_text(nlohmann::json(reference::to_json(attrs)));
  }

  /// What the operator says about operands of this shape; nothing when it refuses the types.
  std::optional<TensorDesc> infer(const Shape& shape) const {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < types.size(); ++i)
      inputs.push_back({{.dtype = types[i], .shape = is_number(i) ? Shape{} : shape}, nullptr});
    try {
      return reference::infer(op(), inputs, 1).front();
    } catch (const Error&) {
      return {};
    }
  }

  reference::OpCall op() const {
    return {.type = def->type, .version = def->versions.back(), .attrs = attrs};
  }
};

/// All that the rules allow with this type of the first operand; the others are of the same type, bool or float32.
std::vector<Call> calls_of(const OpDef& def, DataType first) {
  std::vector<Call> calls;
  for (const Attrs& attrs : attributes_of(def.type)) {
    const std::size_t most = std::max<std::size_t>(def.min_inputs, 3);
    for (std::size_t count = std::max<std::size_t>(def.min_inputs, 1); count <= most; ++count) {
      for (const DataType second : {first, DataType::kFloat, DataType::kInt32, DataType::kBool}) {
        for (const DataType third : {second, first, DataType::kInt8, DataType::kUint8}) {
          Call call{&def, attrs, {first, second, third}};
          call.types.resize(count);
          const auto is_same = [&](const Call& other) {
            return other.types == call.types && other.attrs == call.attrs;
          };
          if (call.infer({2, 3}) && std::ranges::none_of(calls, is_same)) calls.push_back(call);
        }
      }
    }
  }
  return calls;
}

/// A graph of the call, alone or behind an anchor.
class Chain {
 public:
  explicit Chain(Call call) : call_(std::move(call)) {}

  void add_alone(const Shape& shape) { add_call(input({.dtype = call_.types[0], .shape = shape})); }

  void add_anchor(const std::string& type, const std::vector<TensorDesc>& inputs) {
    std::vector<Tensor> tensors;
    graph::Node node{.name = "anchor", .op = {.type = type}};
    node.op.version = reference::ops().find(type)->versions.back();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool is_weight = i > 0 && type != "Add";
      const ValueId value = is_weight ? constant(inputs[i]) : input(inputs[i]);
      node.inputs.push_back(value);
      tensors.push_back({inputs[i], nullptr});
    }
    const TensorDesc out = reference::infer(node.op, tensors, 1).front();
    node.outputs = {graph_.add_value("anchored", out)};
    graph_.add_node(node);
    add_call(node.outputs[0]);
  }

  const Graph& graph() const { return graph_; }

 private:
  ValueId input(const TensorDesc& desc) {
    const ValueId value = graph_.add_value("input" + std::to_string(graph_.inputs.size()), desc);
    graph_.inputs.push_back(value);
    return value;
  }
  ValueId constant(const TensorDesc& desc) {
    return graph_.add_value("constant" + std::to_string(graph_.values.size()), desc,
                            random_values(desc, engine_));
  }

  void add_call(ValueId anchored) {
    const Shape shape = graph_.values[anchored].desc.shape;
    graph::Node node{.name = "op", .op = call_.op(), .inputs = {anchored}};
    for (std::size_t i = 1; i < call_.types.size(); ++i) {
      const bool is_number = call_.is_number(i);
      const TensorDesc desc{.dtype = call_.types[i], .shape = is_number ? Shape{} : shape};
      node.inputs.push_back(is_number ? constant(desc) : input(desc));
    }
    node.outputs = {graph_.add_value("y", call_.infer(shape).value())};
    graph_.add_node(node);
    graph_.outputs = node.outputs;
  }

  Call call_;
  Graph graph_;
  std::mt19937 engine_{1};
};

/// The values of input i.
using Values = std::function<std::shared_ptr<Constant>(std::size_t i, const TensorDesc&)>;

ShapeLine line_of(const Task& task, const std::string& text, const Values& values) {
  ShapeLine line{.text = text, .task = task, .inputs = {}};
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    const TaskInput& input = task.inputs[i];
    if (input.constant) {
      line.inputs.push_back(
          std::make_shared<Constant>(input.constant->desc(), input.constant->data()));
    } else {
      line.inputs.push_back(input.is_present() ? values(i, input.desc) : nullptr);
    }
  }
  return line;
}

bool is_vectorisable(const Call& call, const Graph& graph, const graph::Node& node) {
  std::vector<reference::FormulaContext::Operand> operands;
  for (std::size_t i = 0; i < call.types.size(); ++i) {
    operands.push_back({call.types[i], {}});
    if (call.is_number(i))
      operands.back().number =
          reference::read_as<double>(graph.values[node.inputs[i]].constant->view())[0];
  }
  return reference::vector_form(call.def->type, {call.attrs, call.def->versions.back(), operands,
                                                 graph.values[node.outputs[0]].desc.dtype})
      .has_value();
}

/// The nodes that the passes leave are carried by generated code, which agrees with the reference.
void expect_generated(const Graph& original, const std::string& text, const Values& values) {
  Graph graph = original;
  graph::run_passes(graph, {});
  for (const graph::NodeId id : graph.topological_order()) {
    const Task task = task_of(graph, id);
    for (const Soc& soc : loopnest::planned_socs(false)) {
      const std::vector<Candidate> candidates = default_candidates(task, soc);
      const auto generated = std::ranges::find_if(candidates, [&](const Candidate& each) {
        return !each.impl->plan(task, each.format, soc)->build(each.schedule).stages.empty();
      });
      ASSERT_NE(generated, candidates.end())
          << text << ": nothing generated for " << task.anchor().type;
      check_impl(*generated->impl, line_of(task, text, values), soc, {.sampled_schedules = 0});
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

void expect_generated(const Graph& graph, const std::string& text) {
  std::mt19937 engine(1);
  expect_generated(graph, text, [&](std::size_t, const TensorDesc& desc) {
    return random_values(desc, engine);
  });
}

/// What has no vectors yet, by design: see is_vectorisable() of reference/formula.h.
bool is_known_gap(const Call& call) {
  const DataType first = call.types[0];
  if (call.def->type == "Shrink") return size_bytes(first) > 2;
  const bool is_to_uint64 = call.infer({})->dtype == DataType::kUint64 && is_floating(first);
  return call.def->type == "Pow" ? !is_floating(first) : is_to_uint64;
}

class Operators : public testing::TestWithParam<const OpDef*> {};

TEST_P(Operators, AreGeneratedAloneAndExactAtCorners) {
  for (const DataType type : kElementTypes) {
    for (const Call& call : calls_of(*GetParam(), type)) {
      const bool has_pairs = call.types.size() > 1;
      Chain chain(call);
      chain.add_alone({has_pairs ? 24 * 24 : 24});
      if (!is_vectorisable(call, chain.graph(), chain.graph().nodes.back())) {
        EXPECT_TRUE(is_known_gap(call)) << call.text();
        continue;
      }
      expect_generated(chain.graph(), call.text(), [](std::size_t i, const TensorDesc& desc) {
        return corner_values(desc, i == 1 ? 24 : 1);
      });
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Operators, AreGeneratedBehindAnAdditionInEveryType) {
  int calls = 0;
  for (const DataType type : kElementTypes) {
    for (const Call& call : calls_of(*GetParam(), type)) {
      ++calls;
      Chain chain(call);
      const Shape shape = {3, 37};
      if (type == DataType::kBool) {
        chain.add_anchor("LogicalAnd",
                         {{.dtype = type, .shape = shape}, {.dtype = type, .shape = shape}});
      } else {
        chain.add_anchor("Add", {{.dtype = type, .shape = shape}, {.dtype = type, .shape = shape}});
      }
      if (!is_vectorisable(call, chain.graph(), chain.graph().nodes.back())) {
        EXPECT_TRUE(is_known_gap(call)) << call.text();
        continue;
      }
      expect_generated(chain.graph(), call.text());
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(calls, 0) << "say in attributes_of() what the operator needs";
}

TEST_P(Operators, AreGeneratedBehindProducts) {
  for (const Call& call : calls_of(*GetParam(), DataType::kFloat)) {
    Chain convolution(call), product(call);
    convolution.add_anchor("Conv2D", {{.dtype = DataType::kFloat, .shape = {1, 5, 6, 7}},
                                      {.dtype = DataType::kFloat, .shape = {19, 5, 2, 3}}});
    product.add_anchor("MatMulV2", {{.dtype = DataType::kFloat, .shape = {5, 9}},
                                    {.dtype = DataType::kFloat, .shape = {9, 21}}});
    for (const Chain* chain : {&convolution, &product}) {
      if (!is_vectorisable(call, chain->graph(), chain->graph().nodes.back())) {
        EXPECT_TRUE(is_known_gap(call)) << call.text();
        continue;
      }
      expect_generated(chain->graph(), call.text());
      if (HasFatalFailure()) return;
    }
  }
}

std::vector<const OpDef*> elementwise_operators() {
  std::vector<const OpDef*> defs;
  for (const OpDef* def : reference::ops().all())
    if (def->kind == OpKind::kElementwise) defs.push_back(def);
  return defs;
}

INSTANTIATE_TEST_SUITE_P(Registry, Operators, testing::ValuesIn(elementwise_operators()),
                         [](const auto& each) { return each.param->type; });

}  // namespace
}  // namespace aoe::compiler
