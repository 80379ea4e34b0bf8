// --mode=1 and --mode=5: a model, an om, or a model written as text, to JSON.
#pragma once

#include <boost/program_options.hpp>

namespace aoe::tools {

/// Mode 1: --om names an om, or an ONNX model when --framework=5 is given with it (as --model does); --json the result;
/// --dump_mode=1 infers shapes. Error(kUsage), Error(kOm), Error(kModel), Error(kOutput).
void write_model_json(const boost::program_options::variables_map& flags);

/// Mode 5: --om names a model as protobuf text (.txt, .pbtxt).
void write_text_json(const boost::program_options::variables_map& flags);

}  // namespace aoe::tools
