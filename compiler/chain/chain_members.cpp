// Walks the body of a chain.
#include "compiler/chain/chain_members.h"

namespace aoe::compiler {
namespace {

void infer_output(Task& task) {
  task.outputs = reference::infer(task.op, task.tensors(), 1);
}

}  // namespace

Result<std::vector<ChainMember>> members_of(const Task& chain) {
  std::vector<ChainMember> members;
  const reference::Body& body = *chain.op.body;
  for (const reference::BodyStep& step : body.steps) {
    ChainMember member{.task = {.op = step.call, .inputs = {}, .outputs = {}}, .chain_inputs = {}};
    const int before = body.value_of(members.size()) - 1;
    for (const int value : step.operands) {
      const bool is_own = value < body.inputs;
      if (!is_own && (value != before || !member.chain_inputs.empty()))
        return Unexpected(member.task.anchor().type + " reads what is not made just before");
      member.task.inputs.push_back(is_own ? chain.inputs[static_cast<std::size_t>(value)]
                                          : TaskInput{members.back().task.outputs[0], nullptr});
      member.chain_inputs.push_back(is_own ? value : -1);
    }
    infer_output(member.task);
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace aoe::compiler
