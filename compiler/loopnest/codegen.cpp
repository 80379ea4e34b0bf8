// See codegen.h. One LLVM module per function, so that the bytes do not depend on how many threads
// compile.
#include "compiler/loopnest/codegen.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <vector>

#include "base/memory.h"
#include "base/parallel_for.h"
#include "compiler/loopnest/elf_link.h"
#include "compiler/loopnest/emit.h"
#include "compiler/loopnest/llvm_wall.h"
#include "compiler/loopnest/lower.h"
#include "compiler/loopnest/object_memo.h"

namespace aoe::compiler::loopnest {
namespace {

/// A function as LLVM module, with the context that owns it.
struct Lowered {
  Lowered(const Function& function, const Soc& soc) { lower(function, soc, module); }
  llvm::LLVMContext context;
  llvm::Module module{"kernel", context};
};

constexpr std::size_t kMemoGenerationBytes = 8 << 20;  // a few hundred kernels

/// What LLVM takes at least for a function; of the smallest it is more.
constexpr std::uint64_t kLeastFunctionBytes = 1 << 20;

ObjectMemo& memo() {
  static ObjectMemo objects(kMemoGenerationBytes);
  return objects;
}

/// All that the object code depends on.
Digest128 key_of(const Function& function, const Soc& soc) {
  return hash128(function.name + '\n' + std::string(soc.target->name()) + '\n' +
                 runtime::llvm_features(soc.target->name(), soc.features) + '\n' + soc.llvm_cpu +
                 '\n' + to_text(function));
}

/// Makes the machine when it needs one: mostly there is one function to compile or none.
class Compiler {
 public:
  explicit Compiler(const Soc& soc) : soc_(soc) {}

  std::string object(const Function& function) {
    const Digest128 key = key_of(function, soc_);
    if (auto known = memo().find(key)) return *std::move(known);
    check_memory(kLeastFunctionBytes, "generating code");
    std::string object = within_llvm([&] {
      if (!machine_) machine_ = soc_.target->make_machine();
      Lowered lowered(function, soc_);
      optimise(lowered.module, *machine_);
      return emit(lowered.module, *machine_, llvm::CodeGenFileType::ObjectFile);
    });
    memo().keep(key, object);
    return object;
  }

 private:
  const Soc& soc_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

}  // namespace

std::string compile_shared_object(std::span<const Function> functions, const Soc& soc, int threads,
                                  const IsCutOff& is_cut_off) {
  if (functions.empty()) return {};
  std::vector<std::string> objects(functions.size());
  parallel_for_with(functions.size(), threads, [&] {
    return [&, compiler = Compiler(soc)](std::size_t i) mutable {
      check_cut_off(is_cut_off);
      objects[i] = compiler.object(functions[i]);
    };
  });
  return link_shared_object(objects);
}

std::string llvm_ir(const Function& function, const Soc& soc, bool optimised) {
  Lowered lowered(function, soc);
  if (optimised) optimise(lowered.module, *soc.target->make_machine());
  std::string text;
  llvm::raw_string_ostream stream(text);
  lowered.module.print(stream, nullptr);
  return text;
}

std::string assembly(const Function& function, const Soc& soc) {
  Lowered lowered(function, soc);
  const auto machine = soc.target->make_machine();
  optimise(lowered.module, *machine);
  return emit(lowered.module, *machine, llvm::CodeGenFileType::AssemblyFile);
}

}  // namespace aoe::compiler::loopnest
