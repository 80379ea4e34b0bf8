// Dynamic programming along the nodes. The state between two nodes is the frontier: the values that were made and will
// still be read, each with the Layout it was made in and those it was converted to so far. What the nodes behind
// the frontier cost depends on nothing else, so of all choices with the same frontier only the cheapest is kept.
// Tested by tests/compiler/format_assignment_test.cpp against brute force.
#include "compiler/lowering/format_frontier.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

#include "base/check.h"

namespace aoe::compiler {
namespace {

/// One value of the frontier.
struct Held {
  int value = -1;
  Layout made;
  std::uint64_t there = 0;  ///< bit per Layout that the value exists in
  auto operator<=>(const Held&) const = default;
};
using Frontier = std::vector<Held>;  ///< in the order in which the values appeared

/// A Format that does not matter has one, too: the value is there then, in that memory.
std::uint64_t bit(const Layout& layout) {
  constexpr int kFormats = 32;
  static_assert(kMemories * kFormats <= 64);
  const int format = static_cast<int>(dense(layout.format)) & (kFormats - 1);
  return std::uint64_t{1} << (static_cast<int>(layout.memory) * kFormats + format);
}

/// The last node that reads each value; -1 when nobody does.
std::vector<int> last_readers(const FormatProblem& problem) {
  std::vector<int> last(problem.value_count, -1);
  for (std::size_t n = 0; n < problem.nodes.size(); ++n)
    for (const int value : problem.nodes[n].inputs)
      if (value >= 0) last[value] = static_cast<int>(n);
  return last;
}

/// The most values that are alive at a time.
std::size_t width_of(const FormatProblem& problem, const std::vector<int>& last_reader) {
  std::vector<bool> is_made(problem.value_count, false);
  for (const FormatNode& node : problem.nodes)
    for (const int value : node.outputs)
      if (value >= 0) is_made[value] = true;
  std::size_t alive = 0;
  for (int value = 0; value < problem.value_count; ++value)
    if (!is_made[value] && last_reader[value] >= 0) ++alive;
  std::size_t most = alive;
  std::vector<bool> is_read(problem.value_count, false);  // for the last time
  for (std::size_t n = 0; n < problem.nodes.size(); ++n) {
    for (const int value : problem.nodes[n].inputs) {
      if (value < 0 || is_read[value] || last_reader[value] != static_cast<int>(n)) continue;
      is_read[value] = true;
      --alive;
    }
    for (const int value : problem.nodes[n].outputs)
      if (value >= 0 && last_reader[value] >= 0) ++alive;
    most = std::max(most, alive);
  }
  return most;
}

class Sweep {
 public:
  Sweep(const FormatProblem& problem, std::size_t max_states)
      : problem_(problem),
        max_states_(max_states),
        last_reader_(last_readers(problem)),
        is_output_(problem.value_count, false) {
    for (const int value : problem.model_outputs) is_output_[value] = true;
    for (const int value : model_inputs()) make_ready(value, Layout{}, start_);
  }

  FrontierResult run() {
    std::vector<State> states = {start_};
    for (std::size_t n = 0; n < problem_.nodes.size(); ++n) {
      states = step(n, states);
      trace_.emplace_back();
      for (const State& state : states) trace_.back().push_back(state.origin);
    }
    const auto best = std::ranges::min_element(states, {}, &State::cost_ns);
    result_.choice.resize(problem_.nodes.size());
    std::size_t index = static_cast<std::size_t>(best - states.begin());
    for (std::size_t n = problem_.nodes.size(); n-- > 0;) {
      result_.choice[n] = trace_[n][index].option;
      index = trace_[n][index].state;
    }
    return std::move(result_);
  }

 private:
  /// How a state was reached: from which state before the node, with which of the node's options.
  struct Origin {
    std::uint32_t state = 0;
    int option = 0;
  };
  struct State {
    Frontier frontier;
    double cost_ns = 0;
    Origin origin;
  };

  std::vector<int> model_inputs() const {
    std::vector<bool> is_made(problem_.value_count, false);
    for (const FormatNode& node : problem_.nodes)
      for (const int value : node.outputs)
        if (value >= 0) is_made[value] = true;
    std::vector<int> inputs;
    for (int value = 0; value < problem_.value_count; ++value)
      if (!is_made[value] && last_reader_[value] >= 0) inputs.push_back(value);
    return inputs;
  }

  /// A value appears. Model outputs are converted to ND at once: they must be in any case.
  void make_ready(int value, const Layout& made, State& state) const {
    Held held{value, dense(made), bit(made)};
    if (is_output_[value]) state.cost_ns += convert(held, Layout{});
    if (last_reader_[value] >= 0) state.frontier.push_back(held);
  }

  /// Makes sure that the value is there as `wanted`; returns what that costs.
  double convert(Held& held, const Layout& wanted) const {
    const Layout to = conversion_target(held.made, wanted);
    if ((held.there & bit(to)) != 0) return 0;
    held.there |= bit(to);
    return problem_.conversion_ns(held.value, held.made, to);
  }

  State follow(const State& before, std::size_t n, const FormatOption& option) const {
    const FormatNode& node = problem_.nodes[n];
    State after{before.frontier, before.cost_ns + option.time_ns, {}};
    for (std::size_t slot = 0; slot < node.inputs.size(); ++slot) {
      if (node.inputs[slot] < 0) continue;
      const auto held = std::ranges::find(after.frontier, node.inputs[slot], &Held::value);
      AOE_CHECK(held != after.frontier.end(), "a node reads a value that is not made yet");
      after.cost_ns += convert(*held, {option.inputs[slot], option.memory});
    }
    std::erase_if(after.frontier, [&](const Held& held) {
      return last_reader_[held.value] == static_cast<int>(n);
    });
    for (std::size_t slot = 0; slot < node.outputs.size(); ++slot)
      if (node.outputs[slot] >= 0)
        make_ready(node.outputs[slot], {option.outputs[slot], option.memory}, after);
    return after;
  }

  std::vector<State> step(std::size_t n, const std::vector<State>& before) {
    std::map<Frontier, std::size_t> known;
    std::vector<State> after;
    const std::vector<FormatOption>& options = problem_.nodes[n].options;
    for (std::size_t s = 0; s < before.size(); ++s) {
      for (std::size_t o = 0; o < options.size(); ++o) {
        State state = follow(before[s], n, options[o]);
        state.origin = {static_cast<std::uint32_t>(s), static_cast<int>(o)};
        const auto [at, is_new] = known.try_emplace(state.frontier, after.size());
        if (is_new)
          after.push_back(std::move(state));
        else if (state.cost_ns < after[at->second].cost_ns)
          after[at->second] = std::move(state);
      }
    }
    give_up_the_dearest(after);
    return after;
  }

  /// A state costs as much time and memory as its frontier is wide.
  void give_up_the_dearest(std::vector<State>& states) {
    constexpr std::size_t kWide = 32, kFewestStates = 16;
    const std::size_t width = std::max(kWide, states.front().frontier.size());
    const std::size_t most =
        std::min(max_states_, std::max(kFewestStates, max_states_ * kWide / width));
    if (states.size() <= most) return;
    result_.is_exact = false;
    std::ranges::nth_element(states, states.begin() + static_cast<std::ptrdiff_t>(most), {},
                             &State::cost_ns);
    states.resize(most);
  }

  const FormatProblem& problem_;
  const std::size_t max_states_;
  const std::vector<int> last_reader_;
  std::vector<bool> is_output_;
  State start_;
  std::vector<std::vector<Origin>> trace_;  ///< by node and state behind it
  FrontierResult result_;
};

}  // namespace

FrontierResult sweep_frontier(const FormatProblem& problem, std::size_t max_states) {
  AOE_CHECK(max_states > 0, "a frontier needs room for a state");
  constexpr std::size_t kMostAlive = 1024;
  if (width_of(problem, last_readers(problem)) > kMostAlive)
    return {.choice = {}, .is_exact = false};
  return Sweep(problem, max_states).run();
}

}  // namespace aoe::compiler
