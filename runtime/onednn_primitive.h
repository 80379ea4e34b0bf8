// The JSON under which oneDNN primitives are stored in an om, and back. Internal to runtime/: the only other reader of
// oneDNN types is onednn_kernel.cpp.
//
//   {"primitive": "convolution", "algorithm": "convolution_direct",
//    "src": D, "weights": D, "bias": D, "dst": D, "strides": [1,1], "dilations": [0,0], "padding_l": [1,1], ...,
//    "post_ops": [{"kind": "sum"}, {"kind": "binary", "algorithm": "binary_add", "src": D},
//                 {"kind": "eltwise", "algorithm": "eltwise_relu", "alpha": 0, "beta": 0}],
//    "args": {"src": 0, "dst": 1, "weights": 2, "scratchpad": [3, 1024], ...}}
//
// `args` say which buffer an argument is, or [buffer, offset in bytes]. A tensor D is {"dims", "dtype", "tag"} with
// oneDNN's generic tags ("abcd", "aBcd16b", "any"), {"dims", "dtype", "strides"}, or {"bytes"}: the descriptor itself in
// hexadecimal, for layouts that have no name.
#pragma once

#include <dnnl.hpp>
#include <nlohmann/json_fwd.hpp>

namespace aoe::runtime {

dnnl::memory::desc memory_desc_from_json(const nlohmann::json& json);
/// The exact descriptor, as {"bytes"}.
nlohmann::json memory_desc_to_json(const dnnl::memory::desc& desc);

/// Throws dnnl::error when oneDNN has nothing for it on this machine, nlohmann's errors and Error(kOm) when `stage` is
/// malformed.
dnnl::primitive_desc_base primitive_desc_from_json(const nlohmann::json& stage,
                                                   const dnnl::engine& engine);

/// "2.6.3": descriptors and layouts are those of one version.
std::string onednn_version();

}  // namespace aoe::runtime
