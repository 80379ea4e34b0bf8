// What ONNX states about the inputs and attributes of each operator, as data: element types, which of them are equal,
// ranks, kinds and ranges of attributes. infer() checks it before an operator's own InferFn, which then sees no negative
// pad, no kernel of 0 and no Slice by doubles. What takes several numbers to decide (an axis and a rank, a kernel and
// its weights) is the InferFn's.
//
// Tested by tests/reference/op_rules_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "reference/op.h"

namespace aoe::reference {

/// Throws Error(kModel) that says what the operator needs. Inputs and attributes that are absent pass unless they are
/// required; attributes that the table does not name pass.
void check_op_rules(std::string_view ir_type, int version, const Attrs& attrs,
                    std::span<const Tensor> inputs);

/// Whether the operator has such an attribute; of operators without a row: no.
bool has_attribute(std::string_view ir_type, std::string_view name);

/// Whether the table has a row for the operator. A row that cannot be read is a bug of ours, found at the first call.
bool has_op_rules(std::string_view ir_type);

}  // namespace aoe::reference
