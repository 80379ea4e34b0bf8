// A node of one of all families.
#include "tests/robustness/random_nodes.h"

namespace aoe::tests {

void add_random_node(ModelDraw& draw) {
  static const std::vector<NodeDrawer> kDrawers = [] {
    std::vector<NodeDrawer> all;
    for (const auto& family :
         {elementwise_drawers(), axis_drawers(), move_drawers(), product_drawers(), image_drawers(),
          contributed_drawers(), other_drawers()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  draw.pick(kDrawers)(draw);
}

}  // namespace aoe::tests
