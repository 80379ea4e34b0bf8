// Importing nodes that read labels of a classifier that are texts. Tensors hold numbers: a label is the place of its text in
// the classifier's list, which is told where it leaves the model.
#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "graph/onnx_importer.h"

namespace aoe::graph {
namespace {

bool is_cast_to_text(const onnx::NodeProto& proto) {
  return proto.op_type() == "Cast" && std::ranges::any_of(proto.attribute(), [](const auto& own) {
           return own.name() == "to" && own.i() == onnx::TensorProto::STRING;
         });
}

/// The list that an input's numbers are places in stays theirs when the operator only moves them.
bool moves_them(const onnx::NodeProto& proto, int input) {
  const reference::OpDef* def = reference::ops().find_onnx("", proto.op_type());
  return input == 0 && def != nullptr && def->kind == reference::OpKind::kMove &&
         proto.op_type() != "Cast" && proto.op_type() != "Concat" && proto.op_type() != "Pad";
}

std::string listed(const std::vector<std::string>& texts) {
  constexpr std::size_t kMostListed = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(texts.size(), kMostListed); ++i)
    list += (i == 0 ? "'" : ", '") + texts[i] + "'";
  return texts.size() > kMostListed ? list + ", ..." : list;
}

}  // namespace

const std::vector<std::string>* Importer::texts_read(const onnx::NodeProto& proto,
                                                     const Scope& scope) const {
  if (now_->texts.empty()) return nullptr;
  for (int i = 0; i < proto.input_size(); ++i) {
    const auto found = now_->texts.find(scope.find(proto.input(i)));
    if (found == now_->texts.end()) continue;
    if (!is_cast_to_text(proto) && !moves_them(proto, i))
      throw NotExpressible{"it reads labels that are texts"};
    return &found->second;
  }
  return nullptr;
}

/// Of labels that are texts already; false when the node is none.
bool Importer::import_cast_to_text(const onnx::NodeProto& proto, Scope& scope) {
  if (!is_cast_to_text(proto)) return false;
  scope.values[proto.output(0)] = scope.find(proto.input(0));
  return true;
}

/// Says once for each output of texts what its numbers stand for.
void Importer::check_output_texts(const onnx::ValueInfoProto& info, ValueId id) const {
  const auto found = now_->texts.find(id);
  if (found == now_->texts.end() && is_text(info))
    throw Error(ExitCode::kModel,
                "is a tensor of strings; only tensors of numbers and bools are supported",
                "value '" + info.name() + "'");
  if (found == now_->texts.end()) return;
  logger("graph")->warn("output '{}' gives texts in the model, and here their places among {}",
                        info.name(), listed(found->second));
}

}  // namespace aoe::graph
