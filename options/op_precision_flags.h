// Precision by operator: --op_select_implmode with --optypelist_for_implmode, --op_precision_mode, --keep_dtype and
// --modify_mixlist; the same in aoe and atc.
#pragma once

#include <boost/program_options.hpp>

#include "compiler/op_precision.h"

namespace aoe::options {

void add_op_precision_flags(boost::program_options::options_description& flags);

/// Error(kUsage) on files that cannot be read and on unknown words and types.
compiler::OpPrecision read_op_precision(const boost::program_options::variables_map& flags);

}  // namespace aoe::options
