// The targets there are, and LLVM's machine for one.
#include "compiler/target/target.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Target/TargetMachine.h>

#include <mutex>
#include <span>
#include <string>

#include "base/check.h"
#include "compiler/target/x86.h"
#include "runtime/isa.h"

namespace aoe::compiler {
namespace {

std::span<const Target* const> targets() {
  static const Target* const kTargets[] = {&x86_avx2(), &x86_avx512()};
  return kTargets;
}

[[noreturn]] void refuse(const Target& target, const char* operation) {
  AOE_CHECK(false, std::string(target.name()) + " has no " + operation);
}

}  // namespace

const Target* find_target(std::string_view name) {
  for (const Target* target : targets())
    if (target->name() == name) return target;
  return nullptr;
}

std::string_view Target::llvm_cpu() const {
  return runtime::find_isa(name_)->llvm;
}

std::unique_ptr<llvm::TargetMachine> Target::make_machine() const {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const Target* target : targets()) target->initialise_llvm();
    // Loop strength reduction gives every column of a register block its own pointer and spills
    // them, where one base with displacements does. It has no switch but the command line's.
    const char* const options[] = {"aoe", "-disable-lsr"};
    llvm::cl::ParseCommandLineOptions(2, options);
  });
  std::string complaint;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple(), complaint);
  AOE_CHECK(found != nullptr, complaint);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // an fma is where the loop nest says so
  options.FunctionSections = true;
  options.DataSections = true;
  std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(triple(), llvm_cpu(), "", options, llvm::Reloc::PIC_,
                                 llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  AOE_CHECK(machine != nullptr, "no target machine for " + std::string(llvm_cpu()));
  return machine;
}

llvm::Value* Target::round_to_int32(llvm::IRBuilderBase& ir, llvm::Value* a) const {
  llvm::Type* integers = a->getType()->getWithNewType(ir.getInt32Ty());
  llvm::Value* is_within = ir.CreateFCmpOLT(a, llvm::ConstantFP::get(a->getType(), 0x1p31));
  llvm::Value* within = ir.CreateSelect(is_within, a, llvm::Constant::getNullValue(a->getType()));
  llvm::Value* whole =
      ir.CreateFPToSI(ir.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, within), integers);
  return ir.CreateSelect(is_within, whole,
                         llvm::ConstantInt::getSigned(integers, -(std::int64_t{1} << 31)));
}

llvm::Value* Target::pick(llvm::IRBuilderBase&, llvm::Value*, llvm::Value*, llvm::Value*) const {
  refuse(*this, "lanes that others count");
}

llvm::Value* Target::pack_bf16(llvm::IRBuilderBase&, llvm::Value*, llvm::Value*) const {
  refuse(*this, "pairs of bfloat16");
}

llvm::Value* Target::dot_bf16(llvm::IRBuilderBase&, llvm::Value*, llvm::Value*,
                              llvm::Value*) const {
  refuse(*this, "pairs of bfloat16");
}

llvm::Value* Target::dot_u8s8(llvm::IRBuilderBase&, llvm::Value*, llvm::Value*, llvm::Value*,
                              bool) const {
  refuse(*this, "quads of bytes");
}

llvm::Value* Target::dot_i16(llvm::IRBuilderBase&, llvm::Value*, llvm::Value*, llvm::Value*,
                             bool) const {
  refuse(*this, "pairs of int16");
}

constexpr const char* kTiles = "tiles";

void Target::tile_shapes(llvm::IRBuilderBase&, std::span<const TileShape>) const {
  refuse(*this, kTiles);
}
void Target::tile_zero(llvm::IRBuilderBase&, int) const {
  refuse(*this, kTiles);
}
void Target::tile_load(llvm::IRBuilderBase&, int, llvm::Value*, std::int64_t) const {
  refuse(*this, kTiles);
}
void Target::tile_store(llvm::IRBuilderBase&, int, llvm::Value*, std::int64_t) const {
  refuse(*this, kTiles);
}
void Target::tile_dot_bf16(llvm::IRBuilderBase&, int, int, int) const {
  refuse(*this, kTiles);
}
void Target::tile_dot_u8s8(llvm::IRBuilderBase&, int, int, int) const {
  refuse(*this, kTiles);
}
void Target::release_tiles(llvm::IRBuilderBase&) const {
  refuse(*this, kTiles);
}

}  // namespace aoe::compiler
