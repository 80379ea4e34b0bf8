// What the targets of x86-64 have in common.
#pragma once

#include "compiler/target/target.h"

namespace aoe::compiler {

class X86 : public Target {
 public:
  using Target::Target;
  llvm::Value* pick(llvm::IRBuilderBase& ir, llvm::Value* places, llvm::Value* a,
                    llvm::Value* b) const override;
  llvm::Value* dot_u8s8(llvm::IRBuilderBase& ir, llvm::Value* a, llvm::Value* b, llvm::Value* sum,
                        bool has_vnni) const override;
  llvm::Value* dot_i16(llvm::IRBuilderBase& ir, llvm::Value* a, llvm::Value* b, llvm::Value* sum,
                       bool has_vnni) const override;
  llvm::Value* round_to_int32(llvm::IRBuilderBase& ir, llvm::Value* a) const override;

 private:
  const char* triple() const override;
  void initialise_llvm() const override;
};

const Target& x86_avx2();
const Target& x86_avx512();

}  // namespace aoe::compiler
