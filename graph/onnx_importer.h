// Importer: builds a Graph from a ModelProto, one node at a time in topological order, inferring as
// it goes, so that an If whose condition the model computes from shapes can be decided. Internal;
// the front door is onnx_import.h.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/onnx_check.h"
#include "graph/onnx_import.h"
#include "graph/onnx_proto.h"
#include "graph/shape_inference.h"

namespace aoe::graph {

class Importer {
 public:
  /// Takes the weights out of `model` as it goes.
  Importer(onnx::ModelProto& model, const std::filesystem::path& path,
           const ImportOptions& options);
  Graph run();
  /// What run() met, in its order; a node that it stopped at is the last and has the problem.
  const std::vector<NodeCheck>& checked() const { return checked_; }

 private:
  /// Where names are looked up: the main graph, a branch within it, or the body of a function.
  struct Scope {
    const Scope* parent = nullptr;      ///< of a branch
    std::string prefix;                 ///< of names made here
    std::map<std::string, int> opsets;  ///< by domain
    CallAttributes call;                ///< of a function
    int depth = 0;
    std::map<std::string, ValueId> values;

    ValueId find(const std::string& name) const;  ///< kNone when unknown
  };
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  void import_inputs(Scope& scope);
  void import_initializers(onnx::GraphProto& graph, Scope& scope);
  void import_nodes(const Nodes& nodes, Scope& scope);
  void import_node(const onnx::NodeProto& proto, Scope& scope);
  void import_any(const onnx::NodeProto& proto, Scope& scope);
  void import_constant(const onnx::NodeProto& proto, Scope& scope);
  void import_branch(const onnx::NodeProto& proto, Scope& scope);
  void import_call(const onnx::NodeProto& proto, const onnx::FunctionProto& function, Scope& scope);
  void import_outputs(Scope& scope);
  void keep_out_nodes();
  void add_out_node(ValueId id, const std::string& entry);
  void check_outputs() const;
  /// Of a function: what its nodes take, each time it is called.
  std::size_t bytes_of(const onnx::FunctionProto& function);

  /// The operator and the version that the node means; nullptr after noting why there is none.
  const reference::OpDef* find_operator(const onnx::NodeProto& proto, const Scope& scope,
                                        int& version);
  void note_unsupported(const onnx::NodeProto& proto, const Scope& scope, const std::string& why);
  void bind_unknown_outputs(const onnx::NodeProto& proto, Scope& scope);
  ValueId declare(const std::string& name, Scope& scope);
  ValueId through_identity(ValueId from, const std::string& name);
  std::string unique_value_name(const std::string& name);
  std::string unique_node_name(const onnx::NodeProto& proto, const Scope& scope);

  onnx::ModelProto& model_;
  const std::filesystem::path path_;
  const ImportOptions& options_;
  ImportBudget budget_;
  TensorReader tensors_;
  std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*>
      functions_;                               ///< domain, name
  std::map<std::string, TensorDesc> declared_;  ///< value_info and outputs of the main graph
  std::set<std::string> value_names_;
  std::set<std::string> node_names_;
  std::map<std::string, int> made_up_;  ///< ONNX type -> names made up so far
  std::map<std::string, int> repeated_;  ///< name -> values of that name so far
  std::map<const onnx::FunctionProto*, std::size_t> function_bytes_;
  std::vector<std::string> unsupported_;  ///< the first of them, in words
  std::size_t unsupported_count_ = 0;
  std::vector<NodeCheck> checked_;
  Graph graph_;
  ShapeInference inference_{graph_};
};

}  // namespace aoe::graph
