// The operators: for each one its names, its shape inference and its plainest possible
// implementation.
//
// The implementations are the oracle of all tests, the constant folder of graph/ and the floor of
// runtime/. They are written to be read, not to be fast: dense row-major buffers, plain loops,
// double accumulators where it helps.
//
// Errors of InferFn and ComputeFn carry no place: infer() and run() put the IR type there, a caller
// that knows the node adds its name.
//
// To add an operator: one file in reference/ops/ with `void register_<file stem>(OpRegistry&)` (see
// its neighbours).
//
//   OpCall call{.type = "Relu"};
//   auto outputs = infer(call, inputs);         // descriptions
//   run(call, inputs, outputs_with_buffers);    // values
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "reference/attrs.h"

namespace aoe::reference {

/// What an implementation sees. Absent optional inputs have dtype kUndefined; outputs nobody wants
/// have data == nullptr.
struct OpContext {
  const Attrs& attrs;
  int version;  ///< see OpDef::versions
  std::span<const Tensor> inputs;
  std::span<const Tensor> outputs;

  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i].is_present(); }
  bool has_output(std::size_t i) const { return i < outputs.size() && outputs[i].data != nullptr; }
};

/// What shape inference sees: descriptions, and the values of those inputs that are known (data !=
/// nullptr).
struct InferContext {
  const Attrs& attrs;
  int version;
  std::span<const Tensor> inputs;
  std::size_t output_count;

  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i].is_present(); }
  const Shape& shape(std::size_t i) const { return inputs[i].desc.shape; }
  DataType dtype(std::size_t i) const { return inputs[i].desc.dtype; }
  bool has_value(std::size_t i) const { return has_input(i) && inputs[i].data != nullptr; }
};

/// Infers the outputs' dtype and shape. A dimension that depends on unknown values or unknown input
/// dimensions is kUnknownDim; an unknown rank is not representable: throw Undetermined.
/// Contradictions throw Error(kModel) that says what contradicts what. Must not read input data
/// that is nullptr.
using InferFn = std::function<std::vector<TensorDesc>(const InferContext&)>;

/// Computes outputs from inputs; shapes are static and outputs are allocated. Throws Error on
/// values that are illegal.
using ComputeFn = std::function<void(const OpContext&)>;

/// Thrown by InferFn when even the rank of an output depends on values that are not known yet.
struct Undetermined {};

struct OpDef {
  std::string type;              ///< Ascend IR type name: "Conv2D", "MatMulV2", "SoftmaxV2", ...
  std::string onnx_type;         ///< "Conv"; empty for ops that only our passes create
  std::string onnx_domain = "";  ///< "" is ai.onnx
  std::vector<int> versions =
      {1};  ///< ascending opsets at which the meaning changed; a node keeps the largest that
            ///< its model's opset reaches, so equal ops of two models stay equal
  InferFn infer;
  ComputeFn compute;
  bool is_elementwise =
      false;  ///< output element i depends on element i (after broadcasting) of the inputs only,
              ///< one output, same dtype in and out (but for Quantize and Dequantize, which are
              ///< elementwise with one scale for all): may stand in an epilogue
  bool is_deterministic = true;  ///< false: not folded (RandomNormal, ...)
  std::size_t min_inputs =
      1;  ///< so many leading inputs must be present; infer() checks it before InferFn
};

class OpRegistry {
 public:
  void add(OpDef def);  ///< a second def of one ONNX type or IR type is a bug
  /// The pointers that the finders return stay valid until the next add().
  const OpDef* find(std::string_view ir_type) const;  ///< nullptr when unknown
  const OpDef* find_onnx(std::string_view domain, std::string_view onnx_type) const;
  std::vector<const OpDef*> all() const;  ///< sorted by IR type

 private:
  std::vector<OpDef> defs_;  ///< sorted by IR type
};

/// All operators of reference/ops/; built once, immutable, thread-safe.
const OpRegistry& ops();

// ---- calls: an op with its attributes and what was fused behind it ----

struct Operand {
  enum class Kind { kInput, kAnchor, kStep };
  Kind kind = Kind::kAnchor;
  int index = 0;  ///< kInput: index into the call's inputs; kStep: index of an earlier step;
                  ///< kAnchor: unused
  bool operator==(const Operand&) const = default;
};

/// One op applied behind the anchor, or inside a FusedElementwise or FusedChain.
struct EpilogueStep {
  std::string type;  ///< an IR type with is_elementwise; in a FusedChain any with one output
  int version = 1;
  Attrs attrs;
  std::vector<Operand> operands;
  bool operator==(const EpilogueStep&) const = default;
};

/// `type` names the anchor, or says that there is none (then no operand is kAnchor): "FusedElementwise", whose steps are
/// all elementwise, and "FusedChain", a row of ops that a subgraph's rewrite made one.
/// With an epilogue the anchor's first output is not visible; the last step's result takes its
/// place as output 0. `anchor_inputs` tells how many of the inputs belong to the anchor; the rest
/// are reached by Operand::kInput only.
struct OpCall {
  std::string type;
  int version = 1;
  Attrs attrs = {};
  std::vector<EpilogueStep> epilogue = {};
  int anchor_inputs = -1;  ///< -1: all of them
  bool operator==(const OpCall&) const = default;
};

std::vector<TensorDesc> infer(const OpCall& call, std::span<const Tensor> inputs,
                              std::size_t output_count);
void run(const OpCall& call, std::span<const Tensor> inputs, std::span<const Tensor> outputs);

/// "FusedElementwise" and "FusedChain": types of calls without an anchor, which no operator bears.
bool is_fused_type(std::string_view type);

/// The IR types of the call in order: {"Conv2D"} or {"Conv2D", "Add", "Relu"}.
std::vector<std::string> op_types(const OpCall& call);

nlohmann::json to_json(const OpCall& call);
OpCall op_call_from_json(const nlohmann::json& json);

/// Changes the layout of one tensor (same logical shape and dtype): any of ND/NCHW, NHWC, NC1HWC0
/// to any other. Also what IR type "TransData" computes.
void convert_format(const Tensor& from, const Tensor& to);

}  // namespace aoe::reference
