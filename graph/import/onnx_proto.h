// What the files of the importer share: reading the protobuf messages of a model. Internal; the
// only header of ours that shows protobuf.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "graph/import/import_budget.h"
#include "graph/import/text_table.h"
#include "reference/attrs.h"

namespace aoe::graph {

/// Reads and parses, names that end in .txt or .pbtxt as protobuf text; throws Error(kModel) when the file is missing, empty, truncated or not ONNX.
onnx::ModelProto load_model(const std::filesystem::path& path);
/// The same of bytes in memory, which messages call `name`.
onnx::ModelProto parse_model(std::string_view bytes, const std::filesystem::path& name);

/// Turns TensorProtos into constants; knows where external data lies.
class TensorReader {
 public:
  /// `budget` and `texts` must outlive the reader.
  TensorReader(std::filesystem::path model, ImportBudget& budget, TextTable& texts)
      : model_(std::move(model)), budget_(budget), texts_(texts) {}
  /// Throws Error(kModel) that names the tensor. Of texts their places.
  ConstantPtr read(const onnx::TensorProto& tensor) const;
  ConstantPtr read(const onnx::SparseTensorProto& tensor) const;

 private:
  ConstantPtr read_texts(const onnx::TensorProto& tensor) const;
  std::string external_bytes(const onnx::TensorProto& tensor, std::size_t expected_bytes) const;

  std::filesystem::path model_;
  ImportBudget& budget_;
  TextTable& texts_;
};

/// nullptr: the node has none of that name.
const onnx::AttributeProto* attribute_of(const onnx::NodeProto& node, std::string_view name);

/// The attributes of a call of a function, by name: what its body's ref_attr_name refers to.
using CallAttributes = std::map<std::string, const onnx::AttributeProto*>;

/// The attribute that a node really has: itself, or the caller's when it refers to one (nullptr
/// when that is absent).
const onnx::AttributeProto* resolve(const onnx::AttributeProto& attribute,
                                    const CallAttributes& call);

/// All attributes but subgraphs; a tensor of texts as a list. Throws Error(kModel) on kinds that no operator of ours takes.
reference::Attrs read_attributes(const onnx::NodeProto& node, const CallAttributes& call,
                                 const TensorReader& tensors);

/// Whether a Constant node holds texts.
bool holds_texts(const onnx::NodeProto& node, const CallAttributes& call);

/// The value of a Constant node, of texts their places; throws Error(kModel).
ConstantPtr read_constant_node(const onnx::NodeProto& node, const CallAttributes& call,
                               const TensorReader& tensors, TextTable& texts);

/// Type and shape of a tensor-valued input, output or value_info. Missing dimensions are
/// kUnknownDim, a missing shape is kUnknownRankShape, a missing type kUndefined. Throws
/// Error(kModel) on sequences, maps, optionals and strings.
TensorDesc read_declaration(const onnx::ValueInfoProto& info);

/// A tensor of strings.
bool is_text(const onnx::ValueInfoProto& info);

/// Throws Error(kModel) that names the node.
[[noreturn]] void fail_node(const onnx::NodeProto& node, const std::string& what);

/// The names a node reads: its inputs, and what its subgraphs take from the graph around them.
std::vector<std::string> names_read(const onnx::NodeProto& node);
/// What the nodes and outputs of a subgraph read from outside of it; may repeat names.
std::vector<std::string> free_names(const onnx::GraphProto& subgraph);

/// `nodes` as indices, producers first, otherwise in the model's order. Throws Error(kModel): a
/// name produced twice, a name nobody produces, a cycle. `is_known(name)` tells which names exist
/// before the first node.
std::vector<int> order_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                             const std::function<bool(const std::string&)>& is_known);

/// "conv1 (ONNX Conv)": how messages name a node; unnamed ones go by their first output.
std::string describe(const onnx::NodeProto& node);

}  // namespace aoe::graph
