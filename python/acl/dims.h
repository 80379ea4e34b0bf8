// aclmdlIODims as pyACL has it: {"name": str, "dimCount": int, "dims": [int]}.
#pragma once

#include "binding.h"

namespace aoe::pyacl {

py::dict dict_of(const aclmdlIODims& dims);

/// TypeError, KeyError or ValueError when it is no such dict. `name` and `dimCount` may be missing.
aclmdlIODims dims_of(const py::dict& dict);

}  // namespace aoe::pyacl
