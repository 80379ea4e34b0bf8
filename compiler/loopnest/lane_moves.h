// What lanes of one vector have to do with each other: reductions over them, transposes, vectors that take turns. Internal to
// codegen.
#pragma once

#include <functional>
#include <vector>

#include "compiler/loopnest/vector_math.h"

namespace aoe::compiler::loopnest {

/// Combines the lanes of any type pairwise into one.
llvm::Value* emit_reduction(IrBuilder& ir, llvm::Value* x,
                            const std::function<llvm::Value*(llvm::Value*, llvm::Value*)>& combine);

/// Row `row` of the transpose of a square block of rows.
llvm::Value* emit_transpose_row(IrBuilder& ir, const std::vector<llvm::Value*>& rows, int row);

/// Vector `part` of the lanes of all rows taking turns.
llvm::Value* emit_interleave(IrBuilder& ir, const std::vector<llvm::Value*>& rows, int part);

}  // namespace aoe::compiler::loopnest
