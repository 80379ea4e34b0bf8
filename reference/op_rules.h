// Checks calls by OpDef::signature: element types, which of them are equal, ranks, kinds and ranges of attributes. infer()
// does it before an operator's own InferFn, which then sees no negative pad, no kernel of 0 and no Slice by doubles. What
// takes several numbers to decide (an axis and a rank, a kernel and its weights) is the InferFn's.
//
// Tested by tests/reference/op_rules_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "reference/op.h"

namespace aoe::reference {

/// Throws Error(kModel) that says what the operator needs. Inputs and attributes that are absent pass unless they are
/// required; attributes that the signature does not name pass.
void check_op_rules(std::string_view ir_type, int version, const Attrs& attrs,
                    std::span<const Tensor> inputs);

/// Whether the operator has such an attribute; of unknown operators: no.
bool has_attribute(std::string_view ir_type, std::string_view name);

}  // namespace aoe::reference
