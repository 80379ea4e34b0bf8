// Neighbours: what won similar tasks, in this run or in earlier ones, as seeds of a search.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bank/knowledge_bank.h"
#include "compiler/impl.h"
#include "compiler/soc.h"
#include "tuner/tasks/operator_list.h"

namespace aoe::tuner {

struct Neighbour {
  std::string op_type;
  std::vector<Shape> shapes;  ///< of the inputs, then of the first output
  bank::Strategy strategy;
};

Neighbour neighbour_of(const compiler::Task& task, bank::Strategy strategy);
/// nullopt: nothing of the task was faster than its default.
std::optional<Neighbour> neighbour_of(const bank::BankEntry& entry);

/// Winners fitted to `task`: of the same op type, nearest shapes first, at most `count`.
std::vector<compiler::Candidate> seeds_from_neighbours(const OperatorTask& task,
                                                       std::span<const Neighbour> neighbours,
                                                       const compiler::Soc& soc, std::size_t count);

}  // namespace aoe::tuner
