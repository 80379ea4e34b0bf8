// The JSON under which oneDNN primitives are stored in an om, and back. Internal to runtime/: the only other reader of
// oneDNN types is onednn_stage.h.
//
//   {"primitive": "convolution", "algorithm": "convolution_direct",
//    "src": D, "weights": D, "bias": D, "dst": D, "strides": [1,1], "dilations": [0,0], "padding_l": [1,1], ...,
//    "post_ops": [{"kind": "sum"}, {"kind": "binary", "algorithm": "binary_add", "src": D},
//                 {"kind": "eltwise", "algorithm": "eltwise_relu", "alpha": 0, "beta": 0}],
//    "args": {"src": 0, "dst": 1, "weights": 2, "scratchpad": [3, 1024], ...}, "stored": {"weights": D}}
//
// `args` say which buffer an argument is, or [buffer, offset in bytes]. A tensor D is {"dims", "dtype", "tag"} with
// oneDNN's words for layouts ("abcd", "aBcd16b", "any"), or {"dims", "dtype", "strides"}. Where the layout is "any", the
// primitive chooses it when it is made, and `stored` says how the constant lies in the om: as the primitive wanted it when
// the om was compiled, if that has a name, or plain. What it wants otherwise when it is loaded is copied into that.
#pragma once

#include <dnnl.hpp>
#include <nlohmann/json_fwd.hpp>

namespace aoe::runtime {

dnnl::memory::desc memory_desc_from_json(const nlohmann::json& json);
/// {"dims", "dtype", "tag"}; null where oneDNN has no word for the layout, as for packed recurrent or transformed weights.
nlohmann::json named_layout(const dnnl::memory::desc& desc);

/// Throws dnnl::error when oneDNN has nothing for it on this machine, nlohmann's errors and Error(kOm) when `stage` is
/// malformed.
dnnl::primitive_desc_base primitive_desc_from_json(const nlohmann::json& stage,
                                                   const dnnl::engine& engine);

}  // namespace aoe::runtime
