// The flags that say how a model is read; the same in aoe, atc and the tuning library.
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "compiler/model_source.h"

namespace aoe::options {

/// --model, --framework, --input_shape, the flags of gears, --input_format, --out_nodes, --output_type,
/// --input_fp16_nodes, --insert_op_conf, --precision_mode, --aicore_num, those of passes (pass_switches.h), and kIdleFlags.
void add_model_flags(boost::program_options::options_description& flags);

/// Error(kUsage) on another framework than ONNX, and on values that ask for what this version cannot do. Without --model the path
/// is empty. `open`: what becomes of a -1 of --input_shape where there are no gears.
compiler::ModelSource read_model_flags(const boost::program_options::variables_map& flags,
                                       graph::OpenSizes open = graph::OpenSizes::kRefused);

/// Error(kUsage) unless one of these names models, and no more: "model", "singleop", ...
void require_one_of(const boost::program_options::variables_map& flags,
                    const std::vector<std::string>& names);

}  // namespace aoe::options
