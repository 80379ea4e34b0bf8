// What the importer has read of the body of a node. Internal to the import.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "graph/import/onnx_importer.h"

namespace aoe::graph {

/// Two tensors that stand for one value have no type and shape in common.
struct NothingInCommon : NotExpressible {};

/// A body as it was read.
struct Importer::BodyPlan {
  std::vector<ValueId> captures;  ///< values around the node, for the last inputs of the body
  std::unique_ptr<Building> built;
  /// Of each output that ONNX sees, how many tensors the sequence has that it is; nullopt for a tensor.
  std::vector<std::optional<std::size_t>> lengths;
  /// Outputs that are packed sequences.
  ItemsByPlace packed = {};
  /// Outputs that are optionals and hold nothing, or may: to be packed, or of no use.
  std::set<std::size_t> optionals = {};
  /// Outputs of the graph that are tensors of texts.
  std::set<std::size_t> texts = {};

  /// Of the branches of an If: sequences that differ in length, and optionals.
  Packing packing_with(const BodyPlan& other) const {
    Packing packing{.optionals = optionals};
    packing.optionals.insert(other.optionals.begin(), other.optionals.end());
    for (std::size_t i = 0; i < lengths.size(); ++i)
      if (lengths[i] != other.lengths[i] || packed.contains(i) != other.packed.contains(i))
        packing.outputs.insert(i);
    return packing;
  }

  bool gives_sequence() const {
    return std::ranges::any_of(lengths, [](const auto& length) { return length.has_value(); });
  }

  const TensorDesc& output(std::size_t i) const {
    return built->graph.values[built->graph.outputs[i]].desc;
  }
};

}  // namespace aoe::graph
