// The flags that say which model is meant and how it is read; the same in aoe and atc.
#pragma once

#include <boost/program_options.hpp>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "graph/float16_rounding.h"
#include "graph/gears.h"
#include "graph/onnx_import.h"
#include "tools/common/op_precision.h"

namespace aoe::tools {

/// What --precision_mode asks for.
struct Precision {
  bool allow_bf16 = false;  ///< products, where it pays and the machine has it
  bool allow_fp16 = false;  ///< besides, with sums of short blocks in float16
  graph::Float16Rounding float16 = graph::Float16Rounding::kOff;
  bool is_within_budget = false;  ///< of `float16`: products that do most harm stay float32
};

struct ModelFlags {
  std::filesystem::path model;
  graph::ImportOptions import;
  std::optional<graph::GearRequest> gears;  ///< with them, import.input_shapes is empty
  Precision precision;
  /// Products that keep float32 factors although `precision` rounds the others', by name.
  std::set<std::string> float32_products;
  std::set<std::string> disabled_passes;
  OpPrecision op_precision;
};

/// --model, --framework, --input_shape, the flags of gears, --input_format, --out_nodes, --output_type,
/// --input_fp16_nodes, --insert_op_conf, --precision_mode, --aicore_num, those of passes (pass_switches.h), and kIdleFlags.
void add_model_flags(boost::program_options::options_description& flags);

/// Error(kUsage) on a missing model, another framework than ONNX, and values that ask for what this version cannot do.
ModelFlags read_model_flags(const boost::program_options::variables_map& flags);

}  // namespace aoe::tools
