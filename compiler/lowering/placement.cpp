// Decides who shares bytes with whom, then asks the memory plan.
#include "compiler/lowering/placement.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "runtime/backend.h"
#include "runtime/memory_plan.h"

namespace aoe::compiler {
namespace {

using runtime::Place;
using runtime::PlanTensor;

class Placer {
 public:
  Placer(const Lowered& lowered, const std::vector<Kernel>& kernels)
      : lowered_(lowered), kernels_(kernels), facts_(lowered.tensors.size()) {}

  Placement run(bool reuse_memory) {
    gather_facts();
    for (int s = 0; s < static_cast<int>(kernels_.size()); ++s) {
      const Kernel& kernel = kernels_[s];
      if (!kernel.backend->traits().runs)
        kernel.sharing.inputs_in_output ? share_inputs(s) : share_outputs(s);
      else if (kernel.overwrites_input >= 0)
        overwrite(s, lowered_.steps[s].inputs[kernel.overwrites_input]);
    }
    give_outputs_to_the_caller();
    plan(reuse_memory);
    return std::move(placement_);
  }

 private:
  struct Facts {
    int first = -1;   ///< step that writes it; -1: nobody does
    int last = -1;    ///< last step that reads it; one behind the end for model outputs
    int inside = -1;  ///< tensor whose bytes it shares
    std::uint64_t inside_offset = 0;
    bool holds_others = false;
    Place place = Place::kArena;
  };

  const TensorDesc& desc(int id) const { return lowered_.tensors[id].desc; }
  std::uint64_t bytes(int id) const { return storage_bytes(desc(id)); }

  void gather_facts() {
    for (std::size_t id = 0; id < facts_.size(); ++id) {
      const LoweredTensor& tensor = lowered_.tensors[id];
      if (tensor.constant)
        facts_[id].place = Place::kWeight;
      else if (tensor.model_input >= 0)
        facts_[id].place = Place::kInput;
      else if (!is_static(tensor.desc.shape))
        facts_[id].place = Place::kDynamic;
    }
    const int end = static_cast<int>(lowered_.steps.size());
    for (int s = 0; s < end; ++s) {
      const std::vector<int>& inputs = lowered_.steps[s].inputs;
      for (const int id : inputs)
        if (id >= 0) facts_[id].last = s;
      for (const int id : lowered_.steps[s].outputs)
        if (id >= 0) facts_[id].first = s;
    }
    for (const int id : lowered_.outputs) facts_[id].last = end;
  }

  bool can_hold(int id) const { return facts_[id].place == Place::kArena; }

  void put_inside(int id, int holder, std::uint64_t offset) {
    facts_[id].inside = holder;
    facts_[id].inside_offset = offset;
    facts_[holder].holds_others = true;
  }

  /// Outputs are views of input 0, or where several are of what the arena has not, of a copy of it.
  void share_outputs(int s) {
    const LoweredStep& step = lowered_.steps[s];
    const int input = step.inputs.at(0);
    const bool is_copied = step.outputs.size() > 1 && !can_hold(input) && is_copyable(input);
    const int holder = is_copied ? add_copy(s, input) : input;
    for (std::size_t o = 0; o < step.outputs.size(); ++o) {
      const int id = step.outputs[o];
      if (id < 0) continue;
      const std::uint64_t offset = kernels_[s].sharing.offsets.at(o);
      if (can_hold(holder) && can_hold(id))
        put_inside(id, holder, offset);
      else if (offset == 0 && is_copyable(input) && is_copyable(id) && bytes(input) == bytes(id))
        placement_.copies.push_back({s, input, id});
      else
        return placement_.run_by_reference.push_back(s);
    }
  }

  /// Inputs lie side by side in output 0.
  void share_inputs(int s) {
    const LoweredStep& step = lowered_.steps[s];
    const int holder = step.outputs.at(0);
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const int id = step.inputs[i];
      if (id < 0) continue;
      const std::uint64_t offset = kernels_[s].sharing.offsets.at(i);
      const bool is_free = can_hold(id) && facts_[id].inside < 0 && facts_[id].first >= 0;
      if (is_free) {
        put_inside(id, holder, offset);
      } else {
        AOE_CHECK(is_copyable(id), "step '" + step.name + "' shares bytes that cannot be copied");
        copy_into(s, id, holder, offset);
      }
    }
  }

  bool is_copyable(int id) const { return is_static(desc(id).shape); }

  void copy_into(int s, int from, int holder, std::uint64_t offset) {
    put_inside(add_copy(s, from), holder, offset);
  }

  /// A tensor of the arena that step `s` finds filled.
  int add_copy(int s, int from) {
    const int target = static_cast<int>(facts_.size());
    placement_.copy_targets.push_back({lowered_.tensors[from].name + ":copy", desc(from), nullptr,
                                       -1, lowered_.tensors[from].value});
    Facts facts;
    facts.first = facts.last = s;
    facts_.push_back(facts);
    placement_.copies.push_back({s, from, target});
    return target;
  }

  void overwrite(int s, int input) {
    const int output = lowered_.steps[s].outputs.at(0);
    const Facts& in = facts_[input];
    const bool is_alone =
        in.place == Place::kArena && in.inside < 0 && !in.holds_others && in.last == s;
    const auto uses = std::ranges::count(lowered_.steps[s].inputs, input);
    if (is_alone && uses == 1 && facts_[output].inside < 0 && can_hold(output) &&
        bytes(input) == bytes(output))
      put_inside(output, input, 0);
  }

  /// An output that shares bytes stays in the arena; the executor hands it over with a copy.
  void give_outputs_to_the_caller() {
    std::set<int> seen;
    for (std::size_t i = 0; i < lowered_.outputs.size(); ++i) {
      const int id = lowered_.outputs[i];
      Facts& facts = facts_[id];
      const bool is_first = seen.insert(id).second;
      if (facts.place != Place::kArena || facts.inside >= 0 || facts.holds_others || !is_first)
        continue;
      facts.place = Place::kOutput;
      output_index_.emplace_back(id, i);
    }
  }

  void plan(bool reuse_memory) {
    std::vector<PlanTensor> tensors;
    std::vector<int> plan_id(facts_.size(), -1);
    for (std::size_t id = 0; id < facts_.size(); ++id) {
      const Facts& facts = facts_[id];
      if (facts.place != Place::kArena) continue;
      plan_id[id] = static_cast<int>(tensors.size());
      const TensorDesc& stored = id < lowered_.tensors.size()
                                     ? desc(static_cast<int>(id))
                                     : placement_.copy_targets[id - lowered_.tensors.size()].desc;
      const int first = std::max(facts.first, 0);
      tensors.push_back({.size_bytes = storage_bytes(stored),
                         .first_step = first,
                         .last_step = std::max(first, facts.last)});
    }
    for (std::size_t id = 0; id < facts_.size(); ++id) {
      if (plan_id[id] < 0 || facts_[id].inside < 0) continue;
      tensors[plan_id[id]].inside = plan_id[facts_[id].inside];
      tensors[plan_id[id]].inside_offset = facts_[id].inside_offset;
    }
    const std::size_t workspaces = tensors.size();
    for (int s = 0; s < static_cast<int>(kernels_.size()); ++s)
      tensors.push_back(
          {.size_bytes = kernels_[s].workspace_bytes, .first_step = s, .last_step = s});

    const runtime::MemoryPlan plan = runtime::plan_memory(tensors, reuse_memory);
    placement_.arena_bytes = plan.arena_bytes;
    placement_.workspace_offsets.assign(plan.offsets.begin() + static_cast<long>(workspaces),
                                        plan.offsets.end());
    for (std::size_t id = 0; id < facts_.size(); ++id) {
      placement_.places.push_back(facts_[id].place);
      placement_.offsets.push_back(plan_id[id] >= 0 ? plan.offsets[plan_id[id]] : 0);
    }
    for (std::size_t i = 0; i < lowered_.inputs.size(); ++i)
      placement_.offsets[lowered_.inputs[i]] = i;
    for (const auto& [id, index] : output_index_) placement_.offsets[id] = index;
  }

  const Lowered& lowered_;
  const std::vector<Kernel>& kernels_;
  std::vector<Facts> facts_;
  std::vector<std::pair<int, std::size_t>> output_index_;
  Placement placement_;
};

}  // namespace

Placement place_tensors(const Lowered& lowered, const std::vector<Kernel>& kernels,
                        bool reuse_memory) {
  return Placer(lowered, kernels).run(reuse_memory);
}

}  // namespace aoe::compiler
