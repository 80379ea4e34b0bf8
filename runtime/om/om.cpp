// An om of one shape: its sections put together and taken apart. Tested by tests/runtime/om_test.cpp.
#include "runtime/om/om.h"

#include "base/error.h"
#include "base/json_text.h"
#include "base/words.h"
#include "runtime/backend.h"
#include "runtime/om/geared_om.h"
#include "runtime/om/om_container.h"
#include "runtime/om/om_graph.h"

namespace aoe::runtime {
namespace {

Om only_one(GearedOm file, const std::string& where) {
  if (!file.gears.empty())
    throw Error(ExitCode::kOm, "has dynamic gears (" + to_string(file.gears) + ")", where,
                "give an om of one shape");
  return std::move(file.oms.front());
}

}  // namespace

OmFile Om::file() const {
  OmFile file;
  file.add(SectionKind::kGraph, graph_to_cbor(*this));
  file.add_view(SectionKind::kWeights, weights_bytes());
  file.add_view(SectionKind::kCode, code_bytes());
  file.add(SectionKind::kTuning, cbor_bytes(tuning));
  return file;
}

std::string Om::serialize() const {
  return file().bytes();
}

Om GearedOm::load_single(const std::filesystem::path& path, const OmKeys& keys) {
  return only_one(load(path, keys), path.string());
}

Om Om::parse(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& where) {
  return only_one(GearedOm::parse(bytes, std::move(owner), where), where);
}

Om Om::parse_alone(std::string_view bytes, std::shared_ptr<const void> owner,
                   const std::string& where, LoadBudget& budget, WeightLender* lender) {
  return only_one(GearedOm::parse_alone(bytes, std::move(owner), where, budget, lender), where);
}

Om Om::load(const std::filesystem::path& path) {
  return GearedOm::load_single(path);
}

const char* OmStep::task_type() const {
  return backend->traits().is_plain ? "AI_CPU" : "AI_CORE";
}

std::string OmStep::types_text() const {
  return joined(op_types, "+");
}

}  // namespace aoe::runtime
