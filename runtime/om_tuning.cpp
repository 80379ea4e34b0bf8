// Counting. Tested by tests/cli/control_flow_test.sh.
#include "runtime/om_tuning.h"

#include <nlohmann/json.hpp>

#include "runtime/om_bodies.h"

namespace aoe::runtime {
using nlohmann::json;
namespace {

void add(const json& tuning, TunedOps& tuned) {
  if (!tuning.is_object()) return;
  for (const json& node : tuning.value("nodes", json::array())) {
    ++tuned.ops;
    if (!node.is_object() || node.value("source", json()) != "bank") continue;
    const json key = node.value("repo_key", json());
    tuned.bank_keys.push_back(key.is_string() ? key.get<std::string>() : key.dump());
  }
}

}  // namespace

TunedOps tuned_ops(const Om& om) {
  TunedOps tuned;
  for_each_om(om, [&](const Om& own, const std::string&) { add(own.tuning, tuned); });
  return tuned;
}

}  // namespace aoe::runtime
