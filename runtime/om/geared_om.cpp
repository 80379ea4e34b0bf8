// Sections of an om file to one Om or several, and back. Tested by tests/runtime/geared_om_test.cpp.
#include "runtime/om/geared_om.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/check.h"
#include "base/error.h"
#include "base/json_text.h"
#include "base/nesting.h"
#include "runtime/om/om_bodies.h"
#include "runtime/om/om_container.h"
#include "runtime/om/om_graph.h"

namespace aoe::runtime {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ExitCode::kOm, what, where, "compile the model again with atc");
}

template <typename Read>
auto read_cbor(std::string_view bytes, const char* section, const std::string& where, Read&& read) {
  if (!nests_little_cbor(bytes))
    refuse(where, std::string("the ") + section + " section nests too deeply");
  try {
    return read(parse_cbor(bytes));
  } catch (const json::exception& e) {
    refuse(where, std::string("the ") + section + " section is malformed: " + e.what());
  }
}

json to_json(const Gears& gears) {
  return {{"kind", std::string(name(gears.kind))},
          {"values", gears.values},
          {"dynamic_axes", gears.dynamic_axes}};
}

Gears read_gears(std::string_view bytes, const std::string& where) {
  return read_cbor(bytes, "gears", where, [&](const json& j) {
    const auto kind = gear_kind_from_name(j.at("kind").get<std::string>());
    if (!kind) refuse(where, "the gears section is malformed: unknown kind");
    Gears gears{.kind = *kind};
    j.at("values").get_to(gears.values);
    j.at("dynamic_axes").get_to(gears.dynamic_axes);
    return gears;
  });
}

/// What a reader of the description relies on: gears differ where they say so, and nowhere else.
class GearsVerifier {
 public:
  GearsVerifier(const GearedOm& model, const std::string& where) : model_(model), where_(where) {}

  void run() const {
    const Gears& gears = model_.gears;
    if (gears.count() != model_.oms.size()) fail("their number is not that of the graphs");
    const std::size_t sizes = gears.values.front().size();
    std::set<GearValues> different(gears.values.begin(), gears.values.end());
    if (different.size() != gears.count() || sizes == 0) fail("two gears are the same");
    for (const GearValues& values : gears.values) {
      const bool is_positive = std::ranges::all_of(values, [](auto size) { return size > 0; });
      if (values.size() != sizes || !is_positive) fail("sizes are missing or not positive");
    }
    if (gears.dynamic_axes.size() != model_.oms.front().inputs.size())
      fail("not every input is described");
    for (const Om& om : model_.oms) check_like_first(om);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    refuse(where_, "the gears section is inconsistent: " + what);
  }

  void check_like_first(const Om& om) const {
    const Om& first = model_.oms.front();
    if (om.isa != first.isa || om.threads != first.threads || om.soc_version != first.soc_version)
      fail("gears are for different machines");
    check_ports(first, first.inputs, om, om.inputs);
    check_ports(first, first.outputs, om, om.outputs);
    for (std::size_t i = 0; i < om.inputs.size(); ++i) {
      const Shape& a = first.tensors[first.inputs[i]].desc.shape;
      const Shape& b = om.tensors[om.inputs[i]].desc.shape;
      const std::vector<int>& axes = model_.gears.dynamic_axes[i];
      for (const int axis : axes)
        if (axis < 0 || static_cast<std::size_t>(axis) >= a.size()) fail("an axis is out of range");
      for (std::size_t axis = 0; axis < a.size(); ++axis)
        if (a[axis] != b[axis] && std::ranges::find(axes, static_cast<int>(axis)) == axes.end())
          fail("input '" + first.tensors[first.inputs[i]].name + "' changes where no gear is");
    }
  }

  void check_ports(const Om& first, const std::vector<int>& first_ids, const Om& om,
                   const std::vector<int>& ids) const {
    if (ids.size() != first_ids.size()) fail("inputs or outputs are missing");
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const OmTensor &a = first.tensors[first_ids[i]], &b = om.tensors[ids[i]];
      if (a.name != b.name || a.desc.dtype != b.desc.dtype ||
          a.desc.shape.size() != b.desc.shape.size())
        fail("'" + a.name + "' is another tensor in another gear");
    }
  }

  const GearedOm& model_;
  const std::string& where_;
};

}  // namespace

std::uint64_t GearedOm::arena_bytes() const {
  std::uint64_t most = 0;
  for (const Om& om : oms) most = std::max(most, om.arena_bytes);
  return most;
}

OmFile GearedOm::file() const {
  if (gears.empty()) return oms.front().file();
  AOE_CHECK(oms.size() == gears.count(), "one om per gear");
  OmFile file;
  json tunings = json::array();
  for (const Om& om : oms) {
    AOE_CHECK(om.weights_view.data() == oms.front().weights_view.data(), "weights are shared");
    file.add(SectionKind::kGraph, graph_to_cbor(om));
    tunings.push_back(om.tuning);
  }
  file.add_view(SectionKind::kWeights, oms.front().weights_view);
  file.add_view(SectionKind::kCode, oms.front().code_view);
  file.add(SectionKind::kTuning, cbor_bytes(tunings));
  file.add(SectionKind::kGears, cbor_bytes(to_json(gears)));
  return file;
}

std::string GearedOm::serialize() const {
  return file().bytes();
}

GearedOm GearedOm::parse(std::string_view bytes, std::shared_ptr<const void> owner,
                         const std::string& where, LoadBudget budget) {
  GearedOm model = parse_alone(bytes, std::move(owner), where, budget);
  for (const Om& om : model.oms) check_bodies(om, where, budget);
  return model;
}

GearedOm GearedOm::parse_alone(std::string_view bytes, std::shared_ptr<const void> owner,
                               const std::string& where, LoadBudget& budget, WeightLender* lender) {
  const std::vector<OmSection> sections = read_container(bytes, where);
  const auto content = [&](SectionKind kind) {
    return std::ranges::find(sections, kind, &OmSection::kind)->bytes;
  };
  const bool has_gears = sections.back().kind == SectionKind::kGears;
  const json tuning =
      read_cbor(content(SectionKind::kTuning), "tuning", where, [](json j) { return j; });
  GearedOm model;
  for (const OmSection& section : sections) {
    if (section.kind != SectionKind::kGraph) continue;
    const std::size_t gear = model.oms.size();
    if (has_gears && (!tuning.is_array() || gear >= tuning.size()))
      refuse(where, "the tuning section is malformed: it has not every gear");
    Om& om = model.oms.emplace_back();
    om.owner = owner;
    om.weights_view = content(SectionKind::kWeights);
    om.code_view = content(SectionKind::kCode);
    om.graph_bytes = section.bytes.size();
    om.tuning = has_gears ? tuning[gear] : tuning;
    graph_from_cbor(section.bytes, where, om);
    if (lender != nullptr) lender->lend_to(om, where);
    verify_graph(om, where, budget);
  }
  if (has_gears) {
    model.gears = read_gears(content(SectionKind::kGears), where);
    if (model.gears.empty()) refuse(where, "the gears section is inconsistent: there is no gear");
    GearsVerifier(model, where).run();
  }
  return model;
}

GearedOm GearedOm::load(const std::filesystem::path& path, const OmKeys& keys, FileAs as) {
  const auto file = std::make_shared<const FileInMemory>(path, as);
  keys.check(file->bytes(), path.string());
  return parse(file->bytes(), file, path.string());
}

}  // namespace aoe::runtime
