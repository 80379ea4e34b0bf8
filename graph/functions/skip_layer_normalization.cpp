// SkipLayerNormalization, EmbedLayerNormalization and QEmbedLayerNormalization: sums in front of a LayerNormalization.
#include "graph/import/quantized_terms.h"

namespace aoe::graph {
namespace {

/// Outputs 0 and, where they are wanted, mean and 1 / deviation at `first_statistic`.
void give_normalised(FunctionCall& call, Term sum, Term gamma, Term beta,
                     std::size_t first_statistic) {
  reference::Attrs attrs = with_axis(-1);
  attrs.set("epsilon", call.attrs().get_float("epsilon", 1e-12f));
  const bool wants_statistics =
      first_statistic > 0 && (call.wants(first_statistic) || call.wants(first_statistic + 1));
  const std::vector<Term> normalised =
      call.ops("LayerNormalization", {sum, gamma, beta}, attrs, wants_statistics ? 3 : 1);
  call.give(0, normalised[0]);
  for (std::size_t i = 1; i < normalised.size(); ++i)
    if (call.wants(first_statistic + i - 1)) call.give(first_statistic + i - 1, normalised[i]);
}

void expand_skip(FunctionCall& call) {
  Term sum = call.input(0) + call.input(1);
  if (call.has(4)) sum = sum + call.input(4);
  give_normalised(call, sum, call.input(2), call.has(3) ? call.input(3) : call.absent(), 1);
  if (call.wants(3)) call.give(3, sum);
}

/// How many of each row's tokens the mask keeps.
Term kept_tokens(FunctionCall& call) {
  reference::Attrs drop;
  drop.set("keepdims", std::int64_t{0});
  const Term counted = call.has(7) ? call.input(7) : call.input(0) * 0.0;
  return call.op("ReduceSum", {counted, call.ints({1})}, drop);
}

/// The first rows of the table of positions, one for each of a row's tokens.
Term positions(FunctionCall& call) {
  const Term tokens = call.size_along(call.input(0), 1);
  return call.op("Slice", {call.input(3), call.ints({0}), tokens, call.ints({0})});
}

void expand_embed(FunctionCall& call) {
  const auto rows = [&](Term table, Term ids) { return call.op("Gather", {table, ids}); };
  Term sum = rows(call.input(2), call.input(0));
  if (call.has(8))
    sum = sum + rows(call.input(3), call.input(8));
  else
    sum = sum + positions(call);
  if (call.has(4) && call.has(1)) sum = sum + rows(call.input(4), call.input(1));
  give_normalised(call, sum, call.input(5), call.input(6), 0);
  if (call.wants(1)) call.give(1, kept_tokens(call));
  if (call.wants(2)) call.give(2, sum);
}

/// The tables, gamma and beta (inputs 2 to 6) are bytes with scales (8 to 12) and zero points (13 to 17).
void expand_quantised_embed(FunctionCall& call) {
  const auto numbers = [&](std::size_t i, Term values) {
    return real(call, {values, call.input(i + 6), optional_input(call, i + 11)});
  };
  const auto rows = [&](std::size_t table, Term ids) {
    return numbers(table, call.op("Gather", {call.input(table), ids}));
  };
  Term sum = rows(2, call.input(0)) + numbers(3, positions(call));
  if (call.has(4) && call.has(1)) sum = sum + rows(4, call.input(1));
  give_normalised(call, sum, numbers(5, call.input(5)), numbers(6, call.input(6)), 0);
  if (call.wants(1)) call.give(1, kept_tokens(call));
}

}  // namespace

void register_skip_layer_normalization(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "SkipLayerNormalization", expand_skip});
  registry.add({kMicrosoft, "EmbedLayerNormalization", expand_embed});
  registry.add({kMicrosoft, "QEmbedLayerNormalization", expand_quantised_embed});
}

}  // namespace aoe::graph
