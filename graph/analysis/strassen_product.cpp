// See strassen_product.h.
#include "graph/analysis/strassen_product.h"

namespace aoe::graph {
namespace {

constexpr char kStrassen[] = "strassen";

}  // namespace

bool is_by_strassen(const reference::OpCall& op) {
  return reference::anchor(op).attrs.get_int(kStrassen, 0) != 0;
}

void mark_by_strassen(Node& node) {
  reference::edit_anchor(node.op).attrs.set(kStrassen, std::int64_t{1});
}

/// An eighth of the products, less what the sums of blocks cost.
double strassen_share(std::int64_t rows, std::int64_t columns, std::int64_t steps,
                      const Hardware& hardware) {
  constexpr double kSaved = 0.125, kLeast = 0.03;
  if (rows < 2 || columns < 1 || steps < 1) return 0;
  const double share = kSaved - hardware.strassen_row_columns / static_cast<double>(columns) -
                       hardware.strassen_result_steps / static_cast<double>(steps) -
                       static_cast<double>(rows % 2) / static_cast<double>(rows);
  return share < kLeast ? 0 : share;
}

}  // namespace aoe::graph
