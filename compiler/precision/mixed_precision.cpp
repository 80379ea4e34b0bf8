// The choice: what does most harm for what it saves goes back to float32.
#include "compiler/precision/mixed_precision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/log.h"
#include "base/tensor_error.h"
#include "graph/precision.h"
#include "runtime/bound_model.h"

namespace aoe::compiler {
namespace {

using runtime::BoundModel;

constexpr std::uint64_t kSeeds[] = {31, 47, 59};
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
/// Other inputs than ours may show more: VGG-19 1.5 times as much on some.
constexpr double kShareOfLimit = 0.8;

using Inputs = std::map<std::string, ConstantPtr>;

/// Those that are given, and random ones.
std::vector<ConstantPtr> draw_inputs(BoundModel& model, std::uint64_t seed, const Inputs& given) {
  model.draw_inputs(seed);
  std::vector<ConstantPtr> inputs = model.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto found = given.find(model.executor().input(i).name);
    if (found == given.end()) continue;
    AOE_CHECK(found->second->desc().shape == inputs[i]->desc().shape &&
                  found->second->desc().dtype == inputs[i]->desc().dtype,
              "an input of another kind: " + found->first);
    inputs[i] = found->second;
  }
  return inputs;
}

void run_to_its_end(BoundModel& model) {
  try {
    model.run();
  } catch (const Error& e) {
    if (e.code() == ExitCode::kInterrupted) throw;
    throw Error(e.code(), e.what(), "while the error of lower precision is measured",
                "--precision_mode=force_fp32 needs no such run");
  }
}

double largest_error(BoundModel& exact, BoundModel& other, const Inputs& given = {}) {
  double worst = 0;
  for (const std::uint64_t seed : kSeeds) {
    const std::vector<ConstantPtr> inputs = draw_inputs(exact, seed, given);
    exact.set_inputs(inputs);
    other.set_inputs(inputs);
    run_to_its_end(exact);
    run_to_its_end(other);
    for (std::size_t i = 0; i < exact.outputs().size(); ++i) {
      const double error = error_of_range(exact.outputs()[i], other.outputs()[i]);
      if (std::isnan(error)) return kNotANumber;
      worst = std::max(worst, error);
    }
  }
  return worst;
}

CompileOptions without_dumps(CompileOptions options) {
  options.on_kernel = nullptr;
  return options;
}

/// Equal products: one strategy in the bank serves them, and they are lowered together as far as the limit allows.
struct Group {
  std::vector<graph::NodeId> nodes;
  double flops = 0;
  double error = 0;  ///< of the model when these alone are rounded
  /// Independent errors add up by squares.
  double harm() const {
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error * error / flops;
  }
};

void lower_node(graph::Node& node, const Soc& soc) {
  graph::allow_bf16(node);
  if (soc.has(Feature::kFp16)) graph::allow_fp16(node);
}

class Choice {
 public:
  Choice(graph::Graph& graph, const CompileOptions& options, const ErrorBudget& budget)
      : graph_(graph),
        options_(without_dumps(options)),
        limit_(budget.limit * kShareOfLimit),
        inputs_(budget.inputs),
        longest_loop_s_(budget.longest_loop_s),
        exact_(compile(graph, options_).om, options.soc.threads, longest_loop_s_) {
    std::map<std::string, Group> groups;
    for (const graph::NodeId id : graph::bf16_candidates(graph)) {
      const Task task = task_of(graph, id);
      Group& group = groups[key_of(task, options.soc).description];
      group.nodes.push_back(id);
      group.flops += flops(task);
    }
    for (auto& [key, group] : groups) groups_.push_back(std::move(group));
  }

  MixedPrecision run() {
    MixedPrecision choice{.candidates = product_count()};
    choice.error = error_of(groups_);
    if (!(choice.error <= limit_)) {
      for (Group& group : groups_) group.error = error_of({&group, 1});
      std::ranges::stable_sort(groups_, {}, &Group::harm);
    }
    std::vector<Group> left_out;
    while (!(choice.error <= limit_)) {
      left_out.push_back(std::move(groups_.back()));
      groups_.pop_back();
      choice.error = groups_.empty() ? 0 : error_of(groups_);
    }
    std::ranges::reverse(left_out);  // what does least harm first
    for (const Group& group : left_out) choice.error = add_part(group, choice.error);
    choice.lowered = product_count();
    lower(graph_, groups_);
    return choice;
  }

 private:
  /// As many of the group's products as the limit has room for, those nearest to the outputs: their error passes through least.
  /// The error of the model then.
  double add_part(const Group& group, double error) {
    constexpr int kTries = 2;
    const double room = (limit_ * limit_ - error * error) / (group.error * group.error);
    if (!(room > 0)) return error;
    const auto products = static_cast<double>(group.nodes.size());
    auto count = static_cast<std::ptrdiff_t>(std::min(1.0, room) * products);
    for (int i = 0; i < kTries && count > 0; ++i, count /= 2) {
      Group part = group;
      part.nodes.assign(group.nodes.end() - count, group.nodes.end());
      groups_.push_back(std::move(part));
      if (const double more = error_of(groups_); more <= limit_) return more;
      groups_.pop_back();
    }
    return error;
  }

  int product_count() const {
    std::size_t count = 0;
    for (const Group& group : groups_) count += group.nodes.size();
    return static_cast<int>(count);
  }

  void lower(graph::Graph& graph, std::span<const Group> groups) const {
    for (const Group& group : groups)
      for (const graph::NodeId id : group.nodes) lower_node(*graph.edit(id), options_.soc);
  }

  double error_of(std::span<const Group> groups) {
    graph::Graph lowered = graph_;
    lower(lowered, groups);
    BoundModel model(compile(lowered, options_).om, options_.soc.threads, longest_loop_s_);
    const double error = largest_error(exact_, model, inputs_);
    logger("compiler")
        ->info("bfloat16 in {} of {} kinds of products, '{}' the first: error {:.2g}",
               groups.size(), groups_.size(), graph_.nodes[groups[0].nodes[0]].name, error);
    return error;
  }

  graph::Graph& graph_;
  CompileOptions options_;
  double limit_;
  const Inputs& inputs_;
  const double longest_loop_s_;
  std::vector<Group> groups_;
  BoundModel exact_;
};

}  // namespace

MixedPrecision choose_bf16(graph::Graph& graph, const CompileOptions& options,
                           const ErrorBudget& budget) {
  const std::vector<graph::NodeId> candidates = graph::bf16_candidates(graph);
  MixedPrecision choice{.candidates = static_cast<int>(candidates.size())};
  if (!options.soc.has(Feature::kBf16) || candidates.empty()) return choice;
  if (runtime::host_supports(runtime::isa_word(options.soc.target->name(), options.soc.features)))
    return Choice(graph, options, budget).run();
  for (const graph::NodeId id : candidates) lower_node(*graph.edit(id), options.soc);
  choice.lowered = choice.candidates;
  choice.error = kNotANumber;
  return choice;
}

Float16Choice choose_float16(const graph::Graph& exact, const std::set<std::string>& candidates,
                             const ReadRounded& read, const CompileOptions& options,
                             const ErrorBudget& budget) {
  const CompileOptions quiet = without_dumps(options);
  const int threads = options.soc.threads;
  BoundModel reference(compile(exact, quiet).om, threads, budget.longest_loop_s);
  const auto error_without = [&](const std::set<std::string>& kept) {
    BoundModel rounded(compile(read(kept), quiet).om, threads, budget.longest_loop_s);
    return largest_error(reference, rounded, budget.inputs);
  };
  const double limit = budget.limit * kShareOfLimit;
  Float16Choice choice{.candidates = static_cast<int>(candidates.size())};
  choice.error = error_without({});
  if (choice.error <= limit) return choice;
  std::vector<std::pair<double, std::string>> by_harm;
  for (const std::string& product : candidates) {
    std::set<std::string> others = candidates;
    others.erase(product);
    const double error = error_without(others);
    by_harm.emplace_back(std::isnan(error) ? HUGE_VAL : error, product);
  }
  std::ranges::sort(by_harm, std::greater<>());
  for (const auto& [error, product] : by_harm) {
    choice.float32_products.insert(product);
    choice.error = error_without(choice.float32_products);
    if (choice.error <= limit) break;
  }
  return choice;
}

double largest_error(runtime::Om exact, runtime::Om other, int threads) {
  BoundModel a(std::move(exact), threads, runtime::kLongestTrialLoopSeconds);
  BoundModel b(std::move(other), threads, runtime::kLongestTrialLoopSeconds);
  return largest_error(a, b);
}

}  // namespace aoe::compiler
