// Whoever made the om may have written anything there: fields of another type count as left out.
#include "runtime/om/om_tuning.h"

#include <nlohmann/json.hpp>

#include "runtime/om/om_bodies.h"

namespace aoe::runtime {
using nlohmann::json;
namespace {

std::string text_at(const json& node, const char* field) {
  const auto at = node.find(field);
  return at != node.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::string key_at(const json& node) {
  const auto at = node.find("repo_key");
  return at != node.end() && at->is_number_unsigned() ? at->dump() : text_at(node, "repo_key");
}

}  // namespace

std::vector<OpTuning> op_tunings(const json& tuning) {
  std::vector<OpTuning> ops;
  if (!tuning.is_object() || !tuning.contains("nodes")) return ops;
  for (const json& node : tuning["nodes"]) {
    if (!node.is_object()) continue;
    ops.push_back({.node = text_at(node, "node"),
                   .impl = text_at(node, "impl"),
                   .format = text_at(node, "format"),
                   .source = text_at(node, "source"),
                   .near = text_at(node, "near"),
                   .repo_key = key_at(node)});
  }
  return ops;
}

std::vector<OpTuning> all_op_tunings(const Om& om) {
  std::vector<OpTuning> all;
  for_each_om(om, [&](const Om& own, const std::string& path) {
    for (OpTuning& op : op_tunings(own.tuning)) {
      if (!op.node.starts_with(path)) op.node.insert(0, path);
      all.push_back(std::move(op));
    }
  });
  return all;
}

TunedOps tuned_ops(const Om& om) {
  TunedOps tuned;
  for (OpTuning& op : all_op_tunings(om)) {
    ++tuned.ops;
    if (!op.near.empty()) ++tuned.near;
    if (op.source == "bank") tuned.bank_keys.push_back(std::move(op.repo_key));
  }
  return tuned;
}

}  // namespace aoe::runtime
