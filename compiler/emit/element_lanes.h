// Which lanes of the loop-nest language hold the elements of a tensor.
#pragma once

#include "base/data_type.h"
#include "base/result.h"
#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

/// Lanes that hold every number of the element type: integers wrap around in them as in the type itself, once they are
/// stored. float16 and bfloat16 are computed in float32, integers of less than 32 bits and bool in int32.
loopnest::Type lanes_of(DataType dtype);

/// The same where lanes are compared: unsigned integers have a sign bit to spare. There are none for uint64.
Result<loopnest::Type> ordered_lanes_of(DataType dtype);

/// Lanes of real numbers, which hold small integers as well: float64 for float64, else float32.
loopnest::Type real_lanes(DataType dtype);

/// A number in all lanes, which are as many and of the type as those of `like`.
loopnest::Vec int_like(std::int64_t value, const loopnest::Vec& like);
loopnest::Vec number_like(double value, const loopnest::Vec& like);

/// The number that is smaller than all others, or as small as they are.
loopnest::Vec lowest(int lanes, loopnest::Type type);
loopnest::Vec highest(int lanes, loopnest::Type type);

}  // namespace aoe::compiler
