// Mixed precision: which operators of a model compute in bfloat16 or float16, so that the model's error stays within a limit.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "compiler/compiler.h"
#include "graph/graph.h"
#include "runtime/executor.h"

namespace aoe::compiler {

/// Of a model's outputs, as a share of their range; what `--precision_mode=allow_mix_precision` keeps to.
constexpr double kMixedPrecisionError = 1e-2;

/// How far the choice may go, and on what its error is measured.
struct ErrorBudget {
  double limit = kMixedPrecisionError;
  std::map<std::string, ConstantPtr> inputs = {};  ///< by name; random values where there are none
  double longest_loop_s = runtime::kLongestTrialLoopSeconds;
};

struct MixedPrecision {
  int candidates = 0;  ///< operators that might be rounded
  int lowered = 0;     ///< that may be rounded now
  double error = 0;    ///< of the model that they make, compiled without a bank
};

/// Allows bfloat16 for as many of the graph's products as keep the outputs within the limit of those in float32, measured
/// on random inputs (fixed seeds: the same choice each time) or given ones; products that do most harm for the operations they save
/// stay float32. Where `options.soc` has AVX512-FP16 they may use float16 as well. Throws Error(kFailure) when the model cannot be run to its end on these inputs. Allows none where `options.soc` has no bfloat16, and all, unmeasured (error NaN), when it is another machine.
MixedPrecision choose_bf16(graph::Graph& graph, const CompileOptions& options,
                           const ErrorBudget& budget = {});

/// Which products shall keep float32 factors, so that a model whose other products have float16 factors
/// (graph/analysis/float16_rounding.h) keeps its outputs within the limit of float32's: those that do most
/// harm. `read` gives the graph with these products left alone; `candidates` names all of them, `exact` is the graph in
/// float32.
struct Float16Choice {
  std::set<std::string> float32_products;
  int candidates = 0;
  double error = 0;
};
using ReadRounded = std::function<graph::Graph(const std::set<std::string>& float32_products)>;
Float16Choice choose_float16(const graph::Graph& exact, const std::set<std::string>& candidates,
                             const ReadRounded& read, const CompileOptions& options,
                             const ErrorBudget& budget = {});

/// The largest difference between the floating-point outputs of two oms for the same model, as a share of the range of
/// `exact`'s; NaN when one gives NaN where the other does not. Outputs whose shape is only known when running are left
/// out.
double largest_error(runtime::Om exact, runtime::Om other, int threads);

}  // namespace aoe::compiler
