// --precision_mode=allow_mix_precision_fp16 keeps to its error: the same in aoe and atc, which link the tuner.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "tools/common/model_graph.h"
#include "tuner/precision/mixed_precision.h"

namespace aoe::tools {

/// Fills in model.float32_products, where the mode asks for that, and says on `log` what was chosen.
inline void keep_float16_to_budget(ModelFlags& model, const graph::PassOptions& passes,
                                   const compiler::CompileOptions& options,
                                   const std::string& log) {
  if (!model.precision.is_within_budget) return;
  std::vector<std::string> products;
  graph::PassOptions naming = passes;
  naming.also.push_back(graph::float16_pass(model.precision.float16, {}, &products));
  read_graph_in_float32(model, naming);
  const auto read = [&](const std::set<std::string>& float32_products) {
    ModelFlags lowered = model;
    lowered.float32_products = float32_products;
    return read_graph(lowered, passes).graph;
  };
  const tuner::Float16Choice choice =
      tuner::choose_float16(read_graph_in_float32(model, passes).graph,
                            {products.begin(), products.end()}, read, options);
  logger(log)->info("float16 factors in {} of {} products, error {:.1e} of the range",
                    choice.candidates - static_cast<int>(choice.float32_products.size()),
                    choice.candidates, choice.error);
  model.float32_products = choice.float32_products;
}

}  // namespace aoe::tools
