// CDist of com.microsoft: distances of all rows of a matrix from all of another.
#include "graph/import/classical.h"

namespace aoe::graph {
namespace {

void expand_distances(FunctionCall& call) {
  const std::string metric = call.attrs().get_string("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean")
    throw NotExpressible{"its metric is " + metric};
  const Term squared = squared_distances(call, call.input(0), call.input(1));
  call.give(0, metric == "euclidean" ? call.op("Sqrt", {squared}) : squared);
}

}  // namespace

void register_distances(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "CDist", expand_distances});
}

}  // namespace aoe::graph
