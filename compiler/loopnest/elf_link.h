// Links object files into one ELF shared object with lld, in process. Internal to codegen.
#pragma once

#include <shared_mutex>
#include <span>
#include <string>

namespace aoe::compiler::loopnest {

/// Thread-safe (one link at a time: lld keeps its state in globals). The result depends on no
/// library; an unresolved symbol is an InternalError. Throws Error(kFailure) where limits of the
/// process, or a /proc that is not there, stand in the way.
std::string link_shared_object(std::span<const std::string> objects);

/// LLVM's command-line options are globals, and lld resets them while it links: a link holds this
/// alone, whoever reads options (the choice of code generation passes) holds it shared.
std::shared_mutex& llvm_options_mutex();

}  // namespace aoe::compiler::loopnest
