// Elements of any type and the lanes that compute with them. Internal to codegen.
#pragma once

#include "base/data_type.h"
#include "compiler/loopnest/vector_math.h"

namespace aoe::compiler::loopnest {

/// Elements as they lie in memory, as lanes of the type.
llvm::Value* to_lanes(IrBuilder& ir, llvm::Value* raw, DataType dtype, Type type);
/// Lanes as elements that a store writes.
llvm::Value* from_lanes(IrBuilder& ir, llvm::Value* value, DataType dtype);

/// See convert() in loopnest.h.
llvm::Value* convert_lanes(IrBuilder& ir, llvm::Value* value, Type to, bool is_from_signed);
/// What a store to a buffer of the type and a load give back.
llvm::Value* round_to(IrBuilder& ir, llvm::Value* value, DataType dtype);

}  // namespace aoe::compiler::loopnest
