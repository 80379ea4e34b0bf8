// Importer: builds a Graph from a ModelProto, one node at a time in topological order, inferring as
// it goes, so that an If whose condition the model computes from shapes can be decided. Internal;
// the front door is onnx_import.h.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/import/function_call.h"
#include "graph/import/onnx_check.h"
#include "graph/import/onnx_import.h"
#include "graph/import/onnx_proto.h"
#include "graph/import/text_table.h"
#include "graph/shape_inference.h"

namespace aoe::graph {

struct DeclaredInput;
struct SmallType;

/// The graph that an attribute of the node holds; nullptr when it has none.
const onnx::GraphProto* subgraph(const onnx::NodeProto& proto, const std::string& name);

/// By domain.
std::map<std::string, int> opsets_of(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports);

/// The more general of two descriptions; NotExpressible when they differ in more than dimensions.
TensorDesc joined(const TensorDesc& a, const TensorDesc& b, const std::string& what);

/// The tensors of a sequence. Copies share them: a scope, a branch or a trip of a loop that sees a long sequence
/// costs no more than one that sees a tensor.
class SequenceItems {
 public:
  SequenceItems() = default;
  SequenceItems(std::vector<ValueId> items)
      : list_(std::make_shared<const std::vector<ValueId>>(std::move(items))) {}

  const std::vector<ValueId>& list() const {
    static const std::vector<ValueId> kNoItems;
    return list_ ? *list_ : kNoItems;
  }
  std::size_t size() const { return list().size(); }
  bool empty() const { return list().empty(); }
  ValueId operator[](std::size_t i) const { return list()[i]; }
  auto begin() const { return list().begin(); }
  auto end() const { return list().end(); }

 private:
  std::shared_ptr<const std::vector<ValueId>> list_;
};

/// What the items of a sequence have in common.
struct SequenceItem {
  TensorDesc desc;
  bool is_text = false;
  bool operator==(const SequenceItem&) const = default;
};

class Importer {
 public:
  /// Takes the weights out of `model` as it goes.
  Importer(onnx::ModelProto& model, const std::filesystem::path& path,
           const ImportOptions& options);
  Graph run();
  /// What run() met, in its order; a node that it stopped at is the last and has the problem.
  const std::vector<NodeCheck>& checked() const { return checked_; }

 private:
  /// What a name stands for that is no tensor: how long a sequence is, and whether an optional holds something, is
  /// decided while importing, but for sequences that are packed.
  struct Compound {
    bool is_sequence = true;   ///< false: an optional that holds nothing, or may hold nothing
    SequenceItems items = {};  ///< of a sequence
    /// A sequence whose length only a run can tell, in bytes; an optional that only it can tell to be empty: of one item or none.
    ValueId packed = kNone;
    std::optional<SequenceItem> item = {};  ///< of such a one; nothing: there was none
  };
  using ItemsByPlace = std::map<std::size_t, std::optional<SequenceItem>>;

  struct Building {
    explicit Building(EvaluationBudget& budget) : inference(graph, budget) {}
    Graph graph;
    ShapeInference inference;
    std::map<ValueId, const SmallType*> small;   ///< those that are held as something wider
    std::map<std::string, ValueId> shared = {};  ///< see FunctionSite
    std::set<ValueId> texts = {};                ///< whose numbers are places in texts_
  };

  /// Where names are looked up: the main graph, a branch within it, or the body of a function.
  struct Scope {
    const Scope* parent = nullptr;      ///< of a branch
    std::string prefix;                 ///< of names made here
    std::map<std::string, int> opsets;  ///< by domain
    CallAttributes call;                ///< of a function
    int depth = 0;
    std::map<std::string, ValueId> values;
    std::map<std::string, Compound> compounds;
    std::set<std::string> absent = {};  ///< inputs of a function that the call leaves out

    /// 0: of a domain that the model does not import.
    int opset_of(const std::string& domain) const {
      const auto found = opsets.find(domain);
      return found == opsets.end() ? 0 : found->second;
    }
    ValueId find(const std::string& name) const;  ///< kNone when unknown or no tensor
    const Compound* find_compound(
        const std::string& name) const;  ///< nullptr when unknown or a tensor
    bool knows(const std::string& name) const {
      return find(name) != kNone || find_compound(name) != nullptr;
    }
    /// `name` stands for what `from` stands for in `other`; false when that is unknown there.
    bool bind(const std::string& name, const std::string& from, const Scope& other);
    /// Names that it does not have are looked up here.
    Scope nested() const {
      return {.parent = this,
              .prefix = prefix,
              .opsets = opsets,
              .call = call,
              .depth = depth + 1,
              .values = {},
              .compounds = {},
              .absent = {}};
    }
  };
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  void import_inputs(Scope& scope);
  ConstantPtr take_given_input(const std::string& name, const std::vector<std::string>& numbers,
                               std::vector<DeclaredInput>& inputs) const;
  std::vector<std::string> items_of_input(const std::string& name) const;
  void import_initializer(const std::string& name, ConstantPtr constant, std::int64_t type,
                          Scope& scope);
  void import_sparse_initializers(const onnx::GraphProto& graph, Scope& scope);
  void take_initializers(onnx::GraphProto& graph, Scope& scope);
  void import_nodes(const Nodes& nodes, Scope& scope);
  void import_node(const onnx::NodeProto& proto, Scope& scope);
  void import_any(const onnx::NodeProto& proto, Scope& scope);
  void import_operator(const onnx::NodeProto& proto, const SmallType* small, unsigned text_outputs,
                       Scope& scope);
  void import_constant(const onnx::NodeProto& proto, Scope& scope);
  void import_branch(const onnx::NodeProto& proto, Scope& scope);
  /// For the body of a node: a branch, a loop, what a sequence is mapped by.
  Scope inner_scope(const onnx::NodeProto& proto, const onnx::GraphProto& body, const Scope& scope);
  void import_body(const onnx::GraphProto& body, Scope& inner);
  void import_call(const onnx::NodeProto& proto, const onnx::FunctionProto& function, Scope& scope);
  void import_parts(const onnx::NodeProto& proto, const Function& function, Scope& scope);
  // If, Loop and Scan that the run decides (onnx_control_flow.cpp), and reading their bodies (onnx_bodies.cpp).
  struct BodyPlan;
  class BodyReader;
  /// Inputs and outputs of a body that are packed sequences, with what is known of their items, outputs that are packed
  /// optionals, and inputs that are texts.
  struct Packing {
    ItemsByPlace inputs = {};
    std::set<std::size_t> outputs = {};
    std::set<std::size_t> optionals = {};
    std::set<std::size_t> texts = {};
  };
  void import_runtime_if(const onnx::NodeProto& proto, Scope& scope);
  void import_loop(const onnx::NodeProto& proto, Scope& scope);
  std::vector<ValueId> carried_values(const onnx::NodeProto& proto, Packing& packing, Scope& scope);
  std::int64_t known_trips(const onnx::NodeProto& proto, const BodyPlan& plan,
                           const Scope& scope) const;
  void import_scan(const onnx::NodeProto& proto, Scope& scope);
  void import_one_scan(const onnx::NodeProto& proto, Scope& scope);
  void import_batched_scan(const onnx::NodeProto& proto, Scope& scope);
  BodyPlan build_body(const onnx::NodeProto& proto, const onnx::GraphProto& body,
                      const std::vector<TensorDesc>& inputs, Scope& scope, const Packing& packing);
  std::optional<BodyPlan> build_branch(const onnx::NodeProto& proto, const onnx::GraphProto& branch,
                                       Scope& scope, const Packing& packing, std::string& why_not);
  BodyPlan refusing_branch(const BodyPlan& other, const std::string& why);
  BodyPlan settle_body(const onnx::NodeProto& proto, const onnx::GraphProto& body,
                       std::vector<TensorDesc>& inputs, std::size_t first, std::size_t count,
                       std::size_t first_output, Scope& scope, Packing packing);
  void bind_packed(const onnx::NodeProto& proto, const ItemsByPlace& outputs, Scope& scope);
  void add_control_node(const onnx::NodeProto& proto, std::vector<BodyPlan> plans,
                        const std::vector<TensorDesc>& outputs, Scope& scope,
                        const std::vector<ValueId>& carried = {});
  void import_flex_attention(const onnx::NodeProto& proto, Scope& scope);
  ValueId import_modifier(const onnx::NodeProto& proto, const std::string& name, ValueId x,
                          Scope& scope);
  // Tensors of small types (onnx_small_types.cpp).
  const SmallType* small_of(const std::string& name, const Scope& scope) const;
  const SmallType* small_input(const onnx::NodeProto& proto, const Scope& scope) const;
  bool import_small(const onnx::NodeProto& proto, Scope& scope);
  void import_small_quantize(const onnx::NodeProto& proto, const SmallType& to, Scope& scope);
  void import_small_cast(const onnx::NodeProto& proto, const SmallType& to, Scope& scope);
  void import_float_dequantize(const onnx::NodeProto& proto, Scope& scope);
  void check_small(const onnx::NodeProto& proto, const reference::OpDef* def,
                   const SmallType& small, const Scope& scope) const;
  // Tensors of texts: places in texts_ (onnx_texts.cpp).
  bool is_text_value(const std::string& name, const Scope& scope) const;
  /// A bit for each output that is texts.
  unsigned find_text_outputs(const onnx::NodeProto& proto, const std::string& domain,
                             const Scope& scope) const;
  bool import_text_cast(const onnx::NodeProto& proto, Scope& scope);
  Term text_op(FunctionCall& call, const std::string& type, const Term& input,
               reference::Attrs attrs = {});
  bool import_text_unique(const onnx::NodeProto& proto, Scope& scope);
  void check_pool(const onnx::NodeProto& proto, const Scope& scope) const;
  void place_pool(Node& node);
  void count_expressions(NodeId id);
  void fold_texts(NodeId id);
  void mark_texts(const onnx::NodeProto& proto, unsigned outputs, const Scope& scope);
  void check_output_texts(const onnx::ValueInfoProto& info, ValueId id) const;
  void tell_texts();
  /// Sequences and optionals (onnx_sequences.cpp); false when the node is about tensors alone.
  bool import_compound(const onnx::NodeProto& proto, Scope& scope);
  bool import_sequence(const onnx::NodeProto& proto, Scope& scope);
  bool import_optional(const onnx::NodeProto& proto, Scope& scope);
  template <typename T>
  void bind_scalar(const std::string& name, DataType dtype, T value, Scope& scope);
  std::size_t place_of_item(const onnx::NodeProto& proto, std::size_t length,
                            const Scope& scope) const;
  std::vector<ValueId> edited_items(const onnx::NodeProto& proto, const Scope& scope);
  void import_sequence_map(const onnx::NodeProto& proto, Scope& scope);
  void import_unrolled_loop(const onnx::NodeProto& proto, const onnx::GraphProto& body,
                            Scope& scope);
  void import_split_to_sequence(const onnx::NodeProto& proto, Scope& scope);
  void import_concat_from_sequence(const onnx::NodeProto& proto, Scope& scope);
  const Compound& sequence_of(const onnx::NodeProto& proto, int input, const Scope& scope) const;
  /// Where in a sequence of `length`: input `input`, or `absent` where the node leaves it out.
  std::size_t place_in_sequence(const onnx::NodeProto& proto, int input, std::size_t length,
                                std::int64_t absent, const Scope& scope) const;
  // Sequences whose length only a run can tell (onnx_packed_sequences.cpp).
  static std::optional<SequenceItem> joined_item(const std::optional<SequenceItem>& a,
                                                 const std::optional<SequenceItem>& b);
  SequenceItem item_of(ValueId value) const;
  Compound packed(const onnx::NodeProto& proto, const Compound& sequence, Scope& scope);
  /// Whether the node's sequence is packed, or has to be, for the place that input `place` says is computed.
  bool is_packed_case(const onnx::NodeProto& proto, int place, const Scope& scope) const;
  void import_packed_optional(const onnx::NodeProto& proto, const Compound& optional, Scope& scope);
  void import_packed(const onnx::NodeProto& proto, Scope& scope);
  void import_packed_split(const onnx::NodeProto& proto, Scope& scope);
  FunctionSite function_site();
  /// A node that is a call: its inputs are looked up, it is not part of the graph.
  Node call_node(const onnx::NodeProto& proto, Scope& scope);
  FunctionCall function_call(const onnx::NodeProto& proto, Scope& scope);
  void import_outputs(Scope& scope);
  void add_output(ValueId id, const std::string& name);
  void keep_out_nodes();
  void add_out_node(ValueId id, const std::string& entry);
  void check_outputs() const;
  /// What a function takes in memory.
  std::size_t bytes_of(const onnx::FunctionProto& function);

  /// The operator and the version that the node means; nullptr after noting why there is none.
  const reference::OpDef* find_operator(const onnx::NodeProto& proto, const Scope& scope,
                                        int& version);
  void note_unsupported(const onnx::NodeProto& proto, const Scope& scope, const std::string& why);
  bool reads_unknown(const onnx::NodeProto& proto, const Scope& scope) const;
  void bind_unknown_outputs(const onnx::NodeProto& proto, Scope& scope);
  ValueId declare(const std::string& name, Scope& scope);
  ValueId through_identity(ValueId from, const std::string& name);
  std::string unique_value_name(const std::string& name);
  std::string unique_node_name(const onnx::NodeProto& proto, const Scope& scope);
  std::string unique_part_name(const std::string& stem);

  onnx::ModelProto& model_;
  const std::filesystem::path path_;
  const ImportOptions& options_;
  ImportBudget budget_;
  TextTable texts_;
  TensorReader tensors_;
  std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*>
      functions_;                               ///< domain, name
  std::map<std::string, TensorDesc> declared_;  ///< value_info and outputs of the main graph
  std::set<std::string> value_names_;
  std::set<std::string> node_names_;
  std::map<std::string, int> made_up_;   ///< ONNX type -> names made up so far
  std::map<std::string, int> repeated_;  ///< name -> values of that name so far
  std::map<const onnx::FunctionProto*, std::size_t> function_bytes_;
  std::vector<std::string> unsupported_;  ///< the first of them, in words
  std::size_t unsupported_count_ = 0;
  std::vector<NodeCheck> checked_;
  EvaluationBudget evaluation_{.bytes = std::size_t{256} << 20};  ///< of all graphs; what is small
  Building main_{evaluation_};
  Building* now_ = &main_;  ///< the main graph, or the body of a node that is being imported
};

}  // namespace aoe::graph
