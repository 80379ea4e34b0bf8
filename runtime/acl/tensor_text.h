// An op of the program's own making as one line of text.
#pragma once

#include <string>

#include "acl/acl_prof.h"

namespace aoe::runtime::acl {

/// "matmul_1 MatMul in FLOAT ND 2x3 out FLOAT ND 2x4". Throws ACL_ERROR_INVALID_PARAM on unknown names, on more than 5 tensors or 8 dimensions.
std::string tensor_text(const aclprofTensorInfo& info);

}  // namespace aoe::runtime::acl
