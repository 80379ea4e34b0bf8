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
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "reference/attrs.h"
#include "reference/formula.h"
#include "reference/windows/window.h"

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

/// What an operator does to elements, as far as fusion, Formats, costs and reports ask.
enum class OpKind {
  kNone,           ///< not stated, which the registry refuses
  kMove,           ///< elements change their place, or their tensor its shape; none is computed
  kElementwise,    ///< each output element from the elements that lie there, after broadcasting
  kWindow,         ///< each output element from a window of the input: pooling, resizing
  kConvolution,    ///< sums of products of a window and weights
  kProduct,        ///< sums of products: matrix products, Einsum
  kReduction,      ///< along axes
  kNormalisation,  ///< elements by sums over their neighbours: Softmax, layer and batch normalisation
  kRecurrence,     ///< steps that read the step before
  kSearch,         ///< places and order: TopK, Unique, NonMaxSuppression
  kControl,        ///< runs bodies: If, Loop, Scan, MapSlices
  kOther,          ///< updates of optimizers
  kSource,         ///< what no input holds: constants, shapes, random numbers
};

/// The formula of a call of this type; the operator's InferFn has accepted its operands.
using FormulaFn = std::function<Formula(const FormulaContext&)>;

/// What costs are estimated from; all shapes are static.
struct CostContext {
  const Attrs& attrs;
  std::span<const TensorDesc> inputs;
  std::span<const TensorDesc> outputs;

  double input_elements(std::size_t i) const;  ///< 0 where absent
  double output_elements() const;              ///< of output 0
  double pairs() const;  ///< each element of an input with each of the others, of the first three
};
using FlopsFn = std::function<double(const CostContext&)>;

/// The geometry of a call of static shapes; `weight` is what stands behind the input, if anything does.
using WindowFn = std::function<Window(const Attrs& attrs, const Shape& input, const Shape& weight)>;

struct Slicing;
/// Whether a call can be carried out slice by slice (reference/slicing.h).
using SlicesFn = std::function<bool(const Slicing&)>;

/// What generated kernels of an operator can do with its results before they store them.
enum class Epilogue {
  kNone,
  kFloat,  ///< elementwise steps in float32
  kBytes,  ///< and steps that read and write bytes
};

/// What ONNX states about inputs and attributes, which infer() checks before InferFn (reference/op_rules.cpp).
/// Inputs, one word each: a letter for the element types,
///   a any   n number   f floating point   s float32   i integer   u unsigned   q int8 or uint8
///   x int32 or int64   l int64   b bool
/// a digit for those that have the same type, '?' for one that may be absent, '*' for the last and any number of it,
/// "@13" for one that there is since opset 13 (before, an attribute said it), ":2" for a rank, ":0-1" for a range,
/// ":2+" for a least one.
/// Attributes, one word each: NAME=KIND, with a '!' before those that must be there. KIND is int (32 bits), long,
/// float, string, ints, longs, floats, strings, tensor, a range "1.." or "0..1", "ints:0.." for a range of each, or the
/// words that may stand there: "DCR|CRD". "float:0.." is at least 0.
struct OpSignature {
  std::string inputs = "a?*";
  std::string attributes = "";
};

inline constexpr std::size_t kEveryInput = std::numeric_limits<std::size_t>::max();

struct OpDef {
  std::string type;              ///< Ascend IR type name: "Conv2D", "MatMulV2", "SoftmaxV2", ...
  std::string onnx_type = type;  ///< "Conv"; empty for ops that only our passes create
  std::string onnx_domain = "";  ///< "" is ai.onnx
  std::vector<int> versions =
      {1};  ///< ascending opsets at which the meaning changed; a node keeps the largest that
            ///< its model's opset reaches, so equal ops of two models stay equal
  OpSignature signature = {};
  OpKind kind;
  InferFn infer;
  ComputeFn compute;            ///< follows from the formula where that is all
  FormulaFn formula;            ///< kElementwise: may stand in an epilogue, see vector_form()
  bool is_all_formula = false;  ///< the registry's: compute() follows from it, whatever the inputs
  FlopsFn flops;                ///< empty: as many as are usual for the kind
  FlopsFn work;                 ///< steps of compute(), where they are more than its arithmetic
  int first_parameter =
      -1;  ///< inputs from here on say how the others are taken: shapes, scales, bounds. A formula
           ///< holds where each is one number that is known
  bool is_deterministic = true;  ///< false: not folded (RandomNormal, ...)
  bool ends_runs = false;        ///< and so is run where its results have no elements as well
  std::size_t min_inputs =
      1;            ///< so many leading inputs must be present; infer() checks it before InferFn
  WindowFn window;  ///< kWindow whose attributes say where its taps are
  Epilogue epilogue = Epilogue::kNone;  ///< which steps fusion may put behind it
  bool has_image_formats =
      false;  ///< images may be stored NHWC and NC1HWC0 where it reads and writes them
  bool is_per_image =
      false;  ///< every image of a batch apart and alike, whatever the attributes say; like kElementwise
  SlicesFn slices;  ///< empty: kElementwise by broadcasting, is_per_image by images, others never
  int factors =
      0;  ///< so many leading inputs are multiplied with each other, and the products summed up
  std::size_t moved =
      0;  ///< so many leading inputs hold the elements that its results are made of, each as it is
  bool has_faster_sums =
      false;  ///< kernels may add its products in another order, or with fewer digits
  bool writes_in_place =
      false;  ///< compute() may be given the memory of input 0 for output 0, and then writes only
              ///< what differs
  bool is_reshape =
      false;  ///< its result is the elements of input 0 in their order, in another shape
  bool first_input_may_be_constant =
      false;  ///< its Impls look at each input for what is constant; those of others take for granted that what they work
              ///< on is given when they run
  bool reads_shape_only = false;    ///< of its input, and no value
  bool infers_from_values = false;  ///< shapes of its results follow from computing them
  std::vector<std::size_t> free_values =
      {};  ///< inputs whose values differ from layer to layer while the code stays the same: scales and what they scale
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

/// Whether the operator is of this kind; unknown ones and fused types are of none.
bool is_kind(std::string_view ir_type, OpKind kind);

/// A window over one tensor, and no products: MaxPoolV3, AvgPoolV2.
bool is_pooling(std::string_view ir_type);

/// Of so many inputs: see OpDef::moved.
std::size_t moved_inputs(std::string_view ir_type, std::size_t inputs);

/// See OpDef::is_reshape; an Identity, which keeps the shape as well, is none.
bool is_reshape(std::string_view ir_type);

/// What hardware with matrix units does on them: matrix products, convolutions, attention, recurrent layers.
bool sums_products(std::string_view ir_type);

/// Sums products of bytes, whose scales are inputs of its own.
bool is_quantised(std::string_view ir_type);

/// See OpDef::epilogue; kNone of unknown operators and fused types.
Epilogue epilogue_of(std::string_view ir_type);

/// The window of a convolution or pooling, parsed where its operator is defined; nullopt of operators that have none.
/// Throws Error(kModel) where infer() does.
std::optional<Window> window_of(std::string_view ir_type, const Attrs& attrs, const Shape& input,
                                const Shape& weight = {});

/// The formula of such a call.
Formula formula_of(const OpDef& def, const OpContext& context);

/// The formula of a call, where generated code can have it on vectors, and if not why not. This alone decides what fusion
/// may take: whoever generates code must be able to emit what is returned.
Result<Formula> vector_form(std::string_view ir_type, const FormulaContext& context);

// ---- calls: one op with its attributes, or several that are one node ----

struct Body;

struct OpCall {
  std::string type;
  int version = 1;
  Attrs attrs = {};
  std::shared_ptr<const Body> body = {};  ///< of kFused: what it does, shared by copies of the call
  bool operator==(const OpCall& other) const;
};

/// The type of calls with a body, which no operator bears.
inline constexpr const char* kFused = "Fused";

/// Reads values and makes one more. A value is a number: 0 to Body::inputs - 1 are what the node reads, in order, absent
/// ones included; then follows what the steps make.
struct BodyStep {
  OpCall
      call;  ///< may have a body itself, as a convolution in a chain with what is fused behind it
  std::vector<int> operands = {};
  bool operator==(const BodyStep&) const = default;
};

/// What a node does that stands for several ops. Its one output is what the last step makes.
struct Body {
  int inputs = 0;
  std::vector<BodyStep> steps = {};
  bool operator==(const Body&) const = default;

  int value_of(std::size_t step) const { return inputs + static_cast<int>(step); }
};

OpCall fused_call(Body body);

/// A step of a body to be made: it names what it reads and makes by any numbers.
struct NamedStep {
  OpCall call;
  std::vector<int> operands;
  int result = 0;
};
/// A body of these steps; `reads` gets the names of its inputs, which no step makes. Those of an anchor, the first step, stay
/// where they are, of the others each stands once. An anchor alone needs no body.
OpCall fused_call(const std::vector<NamedStep>& steps, bool has_anchor, std::vector<int>& reads);

/// Calls visit(step, operands) for each step in order, which returns the value that the step makes.
void walk(const Body& body, std::span<const Tensor> inputs,
          const std::function<Tensor(const BodyStep&, std::span<const Tensor>)>& visit);

/// Bodies within each other, and ops (or inputs) of one call.
inline constexpr int kDeepestBody = 2;
inline constexpr int kMostBodyOps = 4096;

/// "No": a body without steps or on another type than kFused, a value that is not made before it is read, an unknown
/// operator, or bodies too deep within each other.
Result<void> check_call(const OpCall& call, int depth = kDeepestBody);

/// The op that others are fused behind: of a body the first step, where it alone is not elementwise and reads the first
/// inputs in order; of a call without a body the call itself. Where there is none, the call as well, whose type names no
/// operator.
const OpCall& anchor(const OpCall& call);
/// The same, to be changed: the body becomes the call's own.
OpCall& edit_anchor(OpCall& call);
/// Of the anchor's operator; nullptr where there is none.
const OpDef* anchor_def(const OpCall& call);

/// Of a call with so many inputs: how many of them are the anchor's. The rest are read behind it.
std::size_t anchor_inputs(const OpCall& call, std::size_t inputs);

/// The steps behind the anchor: all that is elementwise in a body.
std::span<const BodyStep> epilogue(const OpCall& call);

/// An elementwise operator, or a body of nothing else.
bool is_elementwise(const OpCall& call);

/// A body with more than one step that is not elementwise.
bool is_chain(const OpCall& call);

/// The anchor's type, or what stands for those of a group of elementwise ops or of a chain.
std::string type_name(const OpCall& call);
inline constexpr const char *kElementwiseName = "FusedElementwise", *kChainName = "FusedChain";

std::vector<TensorDesc> infer(const OpCall& call, std::span<const Tensor> inputs,
                              std::size_t output_count);
void run(const OpCall& call, std::span<const Tensor> inputs, std::span<const Tensor> outputs);

/// Floating-point operations of a call of static shapes, a multiply-add being two. What is behind an anchor counts one a step
/// for each element of the result.
double flops(const OpCall& call, std::span<const TensorDesc> inputs,
             std::span<const TensorDesc> outputs);

/// Steps of the inner loops of run(), roughly and never far too few. Shapes are static; `outputs` may be left out.
double work(const OpCall& call, std::span<const TensorDesc> inputs,
            std::span<const TensorDesc> outputs);

/// The ops of a body in order as if it were one, those of bodies within it in their place. Empty without a body.
std::vector<BodyStep> flat_steps(const OpCall& call);

/// The IR types of the call in order: {"Conv2D"} or {"Conv2D", "Add", "Relu"}.
std::vector<std::string> op_types(const OpCall& call);

/// The canonical text of a call, also in bank keys: changed, it would lose what banks hold. Back comes what check_call()
/// accepts, or Error(kModel).
nlohmann::json to_json(const OpCall& call);
OpCall op_call_from_json(const nlohmann::json& json);

/// Changes the layout of one tensor (same logical shape and dtype): any of ND/NCHW, NHWC, NC1HWC0
/// to any other. Also what IR type "TransData" computes.
void convert_format(const Tensor& from, const Tensor& to);

}  // namespace aoe::reference
