// An om of one shape: its sections put together and taken apart. Tested by tests/runtime/om_test.cpp.
#include "runtime/om.h"

#include "base/error.h"
#include "runtime/backend.h"
#include "runtime/geared_om.h"
#include "runtime/om_container.h"
#include "runtime/om_graph.h"

namespace aoe::runtime {
namespace {

Om only_one(GearedOm file, const std::string& where) {
  if (!file.gears.empty())
    throw Error(ExitCode::kOm, "has dynamic gears (" + to_string(file.gears) + ")", where,
                "give an om of one shape");
  return std::move(file.oms.front());
}

}  // namespace

std::string Om::serialize() const {
  const std::string graph = graph_to_cbor(*this);
  std::string tuning_bytes;
  nlohmann::json::to_cbor(tuning, tuning_bytes);
  const auto built_or_loaded = [](const std::string& built, std::string_view loaded) {
    return built.empty() ? loaded : std::string_view(built);
  };
  const OmSection sections[] = {{SectionKind::kGraph, graph},
                                {SectionKind::kWeights, built_or_loaded(weights, weights_view)},
                                {SectionKind::kCode, built_or_loaded(code, code_view)},
                                {SectionKind::kTuning, tuning_bytes}};
  return write_container(sections);
}

Om GearedOm::load_single(const std::filesystem::path& path, const OmKeys& keys) {
  return only_one(load(path, keys), path.string());
}

Om Om::parse(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& where) {
  return only_one(GearedOm::parse(bytes, std::move(owner), where), where);
}

Om Om::load(const std::filesystem::path& path) {
  return GearedOm::load_single(path);
}

const char* OmStep::task_type() const {
  return backend->traits().is_plain ? "AI_CPU" : "AI_CORE";
}

std::string OmStep::types_text() const {
  std::string text;
  for (const std::string& type : op_types) text += (text.empty() ? "" : "+") + type;
  return text;
}

}  // namespace aoe::runtime
