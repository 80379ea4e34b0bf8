// The flags that say which model is meant and how it is read; the same in aoe and atc.
#pragma once

#include <boost/program_options.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "graph/gears.h"
#include "graph/onnx_import.h"

namespace aoe::tools {

struct ModelFlags {
  std::filesystem::path model;
  graph::ImportOptions import;
  std::optional<graph::GearRequest> gears;  ///< with them, import.input_shapes is empty
  bool allow_bf16 = false;  ///< --precision_mode: where it pays and the machine has it
  bool allow_fp16 = false;  ///< besides
};

/// --model, --framework, --input_shape, the flags of gears, --input_format, --out_nodes, --precision_mode.
void add_model_flags(boost::program_options::options_description& flags);

/// Error(kUsage) on a missing model, another framework than ONNX, and values that ask for what this version cannot do.
ModelFlags read_model_flags(const boost::program_options::variables_map& flags);

}  // namespace aoe::tools
