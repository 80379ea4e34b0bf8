// Which instruction sets generated code may ask of the machine, and whether this one has them.
#pragma once

#include <string>

namespace aoe::runtime {

/// `isa` as an om names it: "avx2" (all of x86-64-v3) or "avx512" (all of x86-64-v4, what every
/// AVX-512 server core has), "avx512_bf16" (that and AVX512-BF16). False for other words.
bool host_supports(const std::string& isa);

/// "avx512_bf16", "avx512", "avx2", or "x86_64" when the host has neither.
std::string best_host_isa();

}  // namespace aoe::runtime
