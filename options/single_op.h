// Operators described one by one (--singleop), each a model of its own: a JSON list of
//   {"op": "Conv2D", "name": "conv", "input_desc": [{"format": "NCHW", "shape": [1, 3, 16, 16], "type": "float16"}, ...],
//    "output_desc": [...], "attr": [{"name": "strides", "type": "list_int", "value": [1, 1, 1, 1]}]}
#pragma once

#include <boost/program_options.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace aoe::options {

struct SingleOp {
  std::string
      name;  ///< of its file, without suffix: as given, else <index>_<op>_<inputs>_<outputs>
  graph::Graph graph;
};

/// Error(kUsage) on flags of models beside --singleop: its file says what they would, and there is no error of a model to keep.
void check_flags_of_single_ops(const boost::program_options::variables_map& flags);

/// `op` is an IR type (Conv2D: strides and dilations of four numbers, pads top, bottom, left, right) or an ONNX type (Conv:
/// attributes as in ONNX). Error(kUsage) that names the file, the op and the key.
std::vector<SingleOp> read_single_ops(const std::filesystem::path& path);

}  // namespace aoe::options
