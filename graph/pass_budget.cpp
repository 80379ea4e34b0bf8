// Counting.
#include "graph/pass_budget.h"

#include <optional>

#include "base/error.h"

namespace aoe::graph {
namespace {

constexpr std::size_t kMostMadeBytes = std::size_t{2} << 30;  ///< of a model without weights
constexpr std::size_t kTimesMade = 8;                         ///< that weights may be made anew

void take_of_passes(std::size_t& sum, std::size_t count, std::size_t most, const std::string& what,
                    const std::string& where) {
  if (count > most - sum)
    throw Error(ExitCode::kModel,
                "simplifying the model makes more than " + std::to_string(most) + " " + what,
                where);
  sum += count;
}

/// Of all constants of a graph and of its bodies.
std::size_t constant_bytes(const Graph& graph) {
  std::size_t bytes = 0;
  for (const Value& value : graph.values)
    if (value.constant) bytes += value.constant->size_bytes();
  for (const Node& node : graph.nodes)
    for (const auto& body : node.bodies) bytes += constant_bytes(*body);
  return bytes;
}

/// Passes and what they are made of add nodes through a Graph alone, which has no other use for it.
thread_local std::optional<PassBudget> pass_budget;

}  // namespace

PassBudget::PassBudget(std::size_t weights)
    : evaluation(EvaluationBudget::for_weights(weights)),
      most_bytes_(kMostMadeBytes + kTimesMade * weights) {
}

void PassBudget::add_node(const std::string& where) {
  take_of_passes(nodes_, 1, kMostNodes, "nodes", where);
}

void PassBudget::add_bytes(std::size_t count, const std::string& where) {
  take_of_passes(bytes_, count, most_bytes_, "bytes of constants", where);
}

PassBudget* PassBudget::current() {
  return pass_budget ? &*pass_budget : nullptr;
}

PassBudget::Scope::Scope(const Graph& graph) : is_outermost_(!pass_budget) {
  if (is_outermost_) pass_budget.emplace(constant_bytes(graph));
}

PassBudget::Scope::~Scope() {
  if (is_outermost_) pass_budget.reset();
}

}  // namespace aoe::graph
