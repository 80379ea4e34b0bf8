// What the tuning section of an om says of its ops: the one reader of what compiler/compiler.cpp writes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "runtime/om/om.h"

namespace aoe::runtime {

/// Of one op; what the section leaves out, or has as anything but a text, is empty.
struct OpTuning {
  std::string node, impl, format;
  std::string source;    ///< "bank", "near", "fixed", "default"
  std::string near;      ///< the task that a strategy of "near" is of
  std::string repo_key;  ///< decimal, however the section stores it
};

/// Of one om, without those in bodies. Of a section that is none: nothing.
std::vector<OpTuning> op_tunings(const nlohmann::json& tuning);

/// Of the om and of all bodies of control flow in it, whose ops are called "loop/op". Throws Error(kOm) as bodies_of() does.
std::vector<OpTuning> all_op_tunings(const Om& om);

struct TunedOps {
  std::size_t ops = 0;
  std::size_t near = 0;                ///< those that have a strategy of the nearest shape
  std::vector<std::string> bank_keys;  ///< repo_keys of those that have a strategy of a bank
};

/// Those in bodies of control flow, too. Throws Error(kOm) as bodies_of() does.
TunedOps tuned_ops(const Om& om);

}  // namespace aoe::runtime
