// Which instruction sets generated code may ask of the machine, and whether this one has them.
#pragma once

#include <string>
#include <string_view>

namespace aoe::runtime {

/// The words an om names its instruction set by, the best first: all of x86-64-v3 ("avx2") or x86-64-v4 ("avx512", what
/// every AVX-512 server core has), with AVX-VNNI or AVX512-VNNI ("_vnni"), with AVX512-VNNI and AVX512-BF16 ("_bf16"), with
/// these and AVX512-FP16 ("_fp16").
inline constexpr std::string_view kIsas[] = {"avx512_fp16", "avx512_bf16", "avx512_vnni",
                                             "avx512",      "avx2_vnni",   "avx2"};

/// False for other words.
bool host_supports(std::string_view isa);

/// The first of kIsas that the host supports, or "x86_64" when there is none.
std::string best_host_isa();

}  // namespace aoe::runtime
