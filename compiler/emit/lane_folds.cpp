#include "compiler/emit/lane_folds.h"

namespace aoe::compiler {

using loopnest::Builder;
using loopnest::Vec;

namespace {

/// Groups of `group` lanes in turn from a and b: the first halves of all of their groups, or the second.
Vec halves(const Vec& a, const Vec& b, int group, int half) {
  std::vector<int> from;
  const int lanes = a.lanes(), width = group / 2;
  for (int lane = 0; lane < lanes; ++lane) {
    const int piece = lane / width;
    from.push_back(piece % 2 * lanes + piece / 2 * group + half * width + lane % width);
  }
  return permute(a, b, from);
}

}  // namespace

/// In n vectors a group of n lanes stands for each of the vectors there were, and one step makes n / 2 vectors of them.
Vec fold_lanes(Builder& builder, std::vector<Vec> vectors, Vec (*combine)(Vec, Vec)) {
  const auto lanes = static_cast<std::size_t>(vectors[0].lanes());
  while (vectors.size() < lanes) vectors.push_back(vectors.back());
  while (vectors.size() > 1) {
    const std::size_t half = vectors.size() / 2;
    const auto group = static_cast<int>(vectors.size());
    std::vector<Vec> folded;
    for (std::size_t i = 0; i < half; ++i) {
      const Vec &a = vectors[i], &b = vectors[i + half];
      folded.push_back(
          builder.get(builder.local(combine(halves(a, b, group, 0), halves(a, b, group, 1)))));
    }
    vectors = std::move(folded);
  }
  return vectors[0];
}

}  // namespace aoe::compiler
