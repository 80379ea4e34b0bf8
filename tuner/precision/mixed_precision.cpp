// The choice: what does most harm for what it saves goes back to float32.
#include "tuner/precision/mixed_precision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/tensor_error.h"
#include "graph/precision.h"
#include "runtime/isa.h"
#include "tuner/measure/timed_model.h"

namespace aoe::tuner {
namespace {

constexpr std::uint64_t kSeeds[] = {31, 47, 59};
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
/// Other inputs than ours may show more: VGG-19 1.5 times as much on some.
constexpr double kShareOfLimit = 0.8;

double largest_error(TimedModel& exact, TimedModel& other) {
  double worst = 0;
  for (const std::uint64_t seed : kSeeds) {
    exact.draw_inputs(seed);
    other.set_inputs(exact.inputs());
    exact.run();
    other.run();
    for (std::size_t i = 0; i < exact.outputs().size(); ++i) {
      const double error = error_of_range(exact.outputs()[i], other.outputs()[i]);
      if (std::isnan(error)) return kNotANumber;
      worst = std::max(worst, error);
    }
  }
  return worst;
}

compiler::CompileOptions without_dumps(compiler::CompileOptions options) {
  options.on_kernel = nullptr;
  return options;
}

/// Equal products: they keep one strategy in the bank, and one precision.
struct Group {
  std::vector<graph::NodeId> nodes;
  double flops = 0;
  double error = 0;  ///< of the model when these alone are rounded
  /// Independent errors add up by squares.
  double harm() const {
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error * error / flops;
  }
};

void lower_node(graph::Node& node, bool has_fp16) {
  graph::allow_bf16(node);
  if (has_fp16) graph::allow_fp16(node);
}

class Choice {
 public:
  Choice(graph::Graph& graph, const compiler::CompileOptions& options, double limit)
      : graph_(graph),
        options_(without_dumps(options)),
        limit_(limit * kShareOfLimit),
        exact_(compiler::compile(graph, options_).om, options.soc.threads) {
    std::map<std::string, Group> groups;
    for (const graph::NodeId id : graph::bf16_candidates(graph)) {
      const compiler::Task task = compiler::task_of(graph, id);
      Group& group = groups[compiler::key_of(task, options.soc).description];
      group.nodes.push_back(id);
      group.flops += compiler::flops(task);
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
    while (!(choice.error <= limit_)) {
      groups_.pop_back();
      choice.error = groups_.empty() ? 0 : error_of(groups_);
    }
    choice.lowered = product_count();
    lower(graph_, groups_, options_.soc.has_fp16);
    return choice;
  }

 private:
  int product_count() const {
    std::size_t count = 0;
    for (const Group& group : groups_) count += group.nodes.size();
    return static_cast<int>(count);
  }

  static void lower(graph::Graph& graph, std::span<const Group> groups, bool has_fp16) {
    for (const Group& group : groups)
      for (const graph::NodeId id : group.nodes) lower_node(graph.nodes[id], has_fp16);
  }

  double error_of(std::span<const Group> groups) {
    graph::Graph lowered = graph_;
    lower(lowered, groups, options_.soc.has_fp16);
    TimedModel model(compiler::compile(lowered, options_).om, options_.soc.threads);
    const double error = largest_error(exact_, model);
    logger("tuner")->info("bfloat16 in {} of {} kinds of products, '{}' the first: error {:.2g}",
                          groups.size(), groups_.size(), graph_.nodes[groups[0].nodes[0]].name,
                          error);
    return error;
  }

  graph::Graph& graph_;
  compiler::CompileOptions options_;
  double limit_;
  std::vector<Group> groups_;
  TimedModel exact_;
};

}  // namespace

MixedPrecision choose_bf16(graph::Graph& graph, const compiler::CompileOptions& options,
                           double limit) {
  const std::vector<graph::NodeId> candidates = graph::bf16_candidates(graph);
  MixedPrecision choice{.candidates = static_cast<int>(candidates.size())};
  if (!options.soc.has_bf16 || candidates.empty()) return choice;
  if (runtime::host_supports(options.soc.has_fp16 ? "avx512_fp16" : "avx512_bf16"))
    return Choice(graph, options, limit).run();
  for (const graph::NodeId id : candidates) lower_node(graph.nodes[id], options.soc.has_fp16);
  choice.lowered = choice.candidates;
  choice.error = kNotANumber;
  return choice;
}

Float16Choice choose_float16(const graph::Graph& exact, const std::set<std::string>& candidates,
                             const ReadRounded& read, const compiler::CompileOptions& options,
                             double limit) {
  const compiler::CompileOptions quiet = without_dumps(options);
  const int threads = options.soc.threads;
  TimedModel reference(compiler::compile(exact, quiet).om, threads);
  const auto error_without = [&](const std::set<std::string>& kept) {
    TimedModel rounded(compiler::compile(read(kept), quiet).om, threads);
    return largest_error(reference, rounded);
  };
  Float16Choice choice{.candidates = static_cast<int>(candidates.size())};
  choice.error = error_without({});
  if (choice.error <= limit * kShareOfLimit) return choice;
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
    if (choice.error <= limit * kShareOfLimit) break;
  }
  return choice;
}

double largest_error(runtime::Om exact, runtime::Om other, int threads) {
  TimedModel a(std::move(exact), threads), b(std::move(other), threads);
  return largest_error(a, b);
}

}  // namespace aoe::tuner
