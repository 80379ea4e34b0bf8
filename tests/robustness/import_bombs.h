// Import bombs: files of any size up to `bytes` that ask for very much. Each is a valid model of one shape that a reader could answer with
// time or memory out of proportion: long chains, wide fans, bodies within bodies, sequences that grow, constants that double.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <string>
#include <vector>

namespace aoe::tests {

struct Bomb {
  std::string name;
  /// A model of about this many bytes, or fewer where no more are of use.
  onnx::ModelProto (*make)(std::size_t bytes);
};

std::vector<Bomb> graph_bombs();     ///< many nodes, values and names
std::vector<Bomb> body_bombs();      ///< control flow, functions and sequences
std::vector<Bomb> text_bombs();      ///< texts that are computed
std::vector<Bomb> constant_bombs();  ///< folded constants and what they cost

}  // namespace aoe::tests
