// What all lanes of a vector come to, of several vectors at once: a tree of permutations that they share, where one after the other
// would leave more and more of the lanes empty.
#pragma once

#include <vector>

#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

/// Lane i is what `combine` makes of all lanes of vectors[i], for up to as many vectors as they have lanes; what lanes behind them
/// hold is open. The order is that of loopnest::reduce_add() and its like: the two halves are combined first.
loopnest::Vec fold_lanes(loopnest::Builder& builder, std::vector<loopnest::Vec> vectors,
                         loopnest::Vec (*combine)(loopnest::Vec, loopnest::Vec));

}  // namespace aoe::compiler
