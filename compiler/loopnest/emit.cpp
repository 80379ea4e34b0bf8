// See emit.h.
#include "compiler/loopnest/emit.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/Reassociate.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <shared_mutex>

#include "base/check.h"
#include "compiler/loopnest/elf_link.h"

namespace aoe::compiler::loopnest {
namespace {

/// No library function exists for generated code: nothing may become a call.
llvm::TargetLibraryInfoImpl no_library(const llvm::TargetMachine& machine) {
  llvm::TargetLibraryInfoImpl library{machine.getTargetTriple()};
  library.disableAllFunctions();
  return library;
}

void check_module(const llvm::Module& module) {
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  const bool is_broken = llvm::verifyModule(module, &stream);
  AOE_CHECK(!is_broken, "LLVM rejects the generated code: " + complaint);
}

}  // namespace

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  check_module(module);

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager call_graph;
  llvm::ModuleAnalysisManager modules;
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(no_library(machine)); });
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(call_graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, call_graph, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::ReassociatePass());  // loop-invariant parts of index sums together, for LICM
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) passes.run(function, functions);
  }
}

std::string emit(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  passes.add(new llvm::TargetLibraryInfoWrapperPass(no_library(machine)));
  const bool is_refused = [&] {
    const std::shared_lock lock(llvm_options_mutex());  // the passes are chosen by options here
    return machine.addPassesToEmitFile(passes, stream, nullptr, type);
  }();
  AOE_CHECK(!is_refused, "the target cannot emit this file type");
  passes.run(module);
  return {bytes.data(), bytes.size()};
}

}  // namespace aoe::compiler::loopnest
