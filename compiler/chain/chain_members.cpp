// Cuts the steps of a FusedChain before every op that is not elementwise.
#include "compiler/chain/chain_members.h"

#include <algorithm>

namespace aoe::compiler {
namespace {

using reference::EpilogueStep;
using reference::Operand;

class MemberWriter {
 public:
  explicit MemberWriter(const Task& chain) : chain_(chain) {}

  Result<std::vector<ChainMember>> run() {
    for (const EpilogueStep& step : chain_.op.epilogue) {
      auto written = reference::ops().find(step.type)->formula && !members_.empty()
                         ? add_step(step)
                         : add_member(step);
      if (!written) return Unexpected(written.error());
      infer_output();
      ++steps_;
    }
    if (members_.empty()) return Unexpected("a chain without steps");
    return std::move(members_);
  }

 private:
  Result<void> add_member(const EpilogueStep& step) {
    ChainMember member;
    member.task.op = {.type = step.type, .version = step.version, .attrs = step.attrs};
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      const Operand& operand = step.operands[i];
      if (operand.kind == Operand::Kind::kInput) {
        add_input(member, operand.index);
      } else if (i == 0 && operand.index == steps_ - 1) {
        member.task.inputs.push_back({members_.back().task.outputs[0], nullptr});
        member.chain_inputs.push_back(-1);
      } else {
        return Unexpected(step.type + " reads a step that is not the one before");
      }
    }
    member.task.op.anchor_inputs = static_cast<int>(member.task.inputs.size());
    first_step_ = steps_;
    members_.push_back(std::move(member));
    return {};
  }

  Result<void> add_step(EpilogueStep step) {
    ChainMember& member = members_.back();
    for (Operand& operand : step.operands) {
      if (operand.kind == Operand::Kind::kInput) {
        const auto known =
            std::ranges::find(member.chain_inputs.begin() + member.task.op.anchor_inputs,
                              member.chain_inputs.end(), operand.index);
        const auto at = static_cast<int>(known - member.chain_inputs.begin());
        if (known == member.chain_inputs.end()) add_input(member, operand.index);
        operand.index = at;
      } else if (operand.index == first_step_) {
        operand = {Operand::Kind::kAnchor, 0};
      } else if (operand.index > first_step_) {
        operand.index -= first_step_ + 1;
      } else {
        return Unexpected(step.type + " reads a step of an op before its own");
      }
    }
    member.task.op.epilogue.push_back(std::move(step));
    return {};
  }

  void add_input(ChainMember& member, int input) const {
    member.task.inputs.push_back(chain_.inputs[static_cast<std::size_t>(input)]);
    member.chain_inputs.push_back(input);
  }

  void infer_output() {
    Task& task = members_.back().task;
    std::vector<Tensor> inputs;
    for (const TaskInput& input : task.inputs)
      inputs.push_back(input.constant ? input.constant->view() : Tensor{input.desc, nullptr});
    task.outputs = reference::infer(task.op, inputs, 1);
  }

  const Task& chain_;
  std::vector<ChainMember> members_;
  int steps_ = 0;       ///< written so far
  int first_step_ = 0;  ///< of the last member
};

}  // namespace

Result<std::vector<ChainMember>> members_of(const Task& chain) {
  return MemberWriter(chain).run();
}

}  // namespace aoe::compiler
