// Random numbers of a seed, and random candidates for the nodes of a graph.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "compiler/impl.h"
#include "graph/graph.h"

namespace aoe::compiler {

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(engine_() % limit); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <typename T>
  const T& pick(const std::vector<T>& list) {
    return list[below(list.size())];
  }

 private:
  std::mt19937 engine_;
};

/// By node name: a candidate of any Impl and Format for most nodes, half of them with a random Schedule; the rest get what
/// an untuned compile would take (nodes whose shapes are not static, always).
std::map<std::string, Candidate> random_candidates(const graph::Graph& graph, const Soc& soc,
                                                   Random& random);

/// One line for each: node, Impl, Format, Schedule.
std::string to_text(const std::map<std::string, Candidate>& fixed);

}  // namespace aoe::compiler
