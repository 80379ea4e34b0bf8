// Counting.
#include "graph/import/import_budget.h"

#include "base/stop_scope.h"

namespace aoe::graph {
namespace {

void take(std::size_t& sum, std::size_t count, std::size_t most, const char* what,
          const std::string& where) {
  if (count > most - sum)
    throw ImportBudget::Exceeded(ExitCode::kModel,
                                 "the model has more than " + std::to_string(most) + " " + what +
                                     " with its functions and branches written out",
                                 where);
  sum += count;
}

}  // namespace

void ImportBudget::add_nodes(std::size_t count, const std::string& where) {
  end_if_stopped();
  take(nodes_, count, kMostNodes, "nodes", where);
}

void ImportBudget::add_operands(std::size_t count, const std::string& where) {
  take(operands_, count, kMostOperands, "operands", where);
  take(pairs_, count * count, kMostPairs, "pairs of operands of one node", where);
}

void ImportBudget::add_items(std::size_t count, const std::string& where) {
  take(items_, count, kMostItems, "items in sequences", where);
}

void ImportBudget::add_value(const std::string& where) {
  take(values_, 1, kMostValues, "values", where);
}

void ImportBudget::add_bytes(std::size_t count, const std::string& where) {
  take(bytes_, count, kMostBytes, "bytes", where);
}

}  // namespace aoe::graph
