// RotaryEmbedding, ONNX's and com.microsoft's: the same rotation with its inputs in another order. And MRotaryEmbedding of
// com.microsoft, whose tokens have a place in time and two in an image.
#include "base/error.h"
#include "graph/import/attention_function.h"

namespace aoe::graph {
namespace {

/// Rows of the tables of angles: (batch, tokens, pairs).
Term at_positions(Term table, Term positions) {
  return table.call->op("Gather", {table, positions});
}

/// x is (batch, heads, tokens, size) or (batch, tokens, heads * size), and so is the result.
void give_rotated(FunctionCall& call, Term x, std::int64_t heads, Term cos, Term sin) {
  const bool is_flat = call.rank(x) == 3;
  if (call.attrs().get_int("rotary_embedding_dim", 0) > 0 && call.is_open(x, -1))
    throw NotExpressible{"how many of its elements stay is known only when it runs"};
  if (is_flat && heads <= 0)
    throw Error(ExitCode::kModel, "of rows that are not cut into heads it needs num_heads");
  const std::int64_t turned = call.attrs().get_int("rotary_embedding_dim", 0);
  if (turned > 0 && call.dim(cos, -1) * 2 != turned)
    throw Error(ExitCode::kModel, "has " + std::to_string(call.dim(cos, -1)) +
                                      " angles for rotary_embedding_dim " + std::to_string(turned));
  const bool is_interleaved = call.attrs().get_int("interleaved", 0) != 0;
  if (!is_flat) return call.give(0, rotate_pairs(x, cos, sin, is_interleaved));
  const Term y = rotate_pairs(heads_of_rows(x, heads), cos, sin, is_interleaved, 2);
  call.give(0, call.reshape(y, {0, 0, call.is_open(x, -1) ? -1 : call.dim(x, -1)}));
}

void expand_rotary_embedding(FunctionCall& call) {
  const auto angles = [&](std::size_t i) {
    return call.has(3) ? at_positions(call.input(i), call.input(3)) : call.input(i);
  };
  give_rotated(call, call.input(0), call.attrs().get_int("num_heads", 0), angles(1), angles(2));
}

/// `heads`, or where that is 0 as many as rows of x have pairs for.
std::int64_t count_heads(FunctionCall& call, Term x, std::int64_t heads, std::int64_t pairs) {
  if (heads != 0 || call.rank(x) != 3) return heads;
  if (pairs < 1) throw Error(ExitCode::kModel, "its tables have no angles");
  return call.dim(x, 2) / (2 * pairs);
}

/// Position ids are (batch, tokens), or (1): where the first token stands.
Term positions_of(FunctionCall& call, Term x) {
  const Term ids = call.input(1);
  if (call.rank(ids) == 2) return ids;
  const Term places = call.places_along(x, call.rank(x) == 3 ? 1 : 2);
  return call.reshape(ids, {1, 1}) + call.reshape(places, {1, -1});
}

void expand_microsoft(FunctionCall& call) {
  if (call.attrs().get_int("is_packed_batching", 0) != 0)
    throw NotExpressible{"its batches are packed"};
  if (call.attrs().get_float("scale", 1) != 1) throw NotExpressible{"it has a scale"};
  const Term x = call.input(0), cos = call.input(2);
  const std::int64_t heads =
      count_heads(call, x, call.attrs().get_int("num_heads", 0), call.dim(cos, 1));
  const Term positions = positions_of(call, x);
  give_rotated(call, x, heads, at_positions(cos, positions),
               at_positions(call.input(3), positions));
}

/// Which of its three places each pair of a token is turned by: `sections` of pairs one behind the other, or those of the
/// second and third place every third one, from pairs 1 and 2 on.
std::vector<std::int64_t> streams_of_pairs(const std::vector<std::int64_t>& sections,
                                           bool is_interleaved) {
  std::vector<std::int64_t> streams;
  for (std::int64_t stream = 0; stream < 3; ++stream)
    streams.insert(streams.end(),
                   static_cast<std::size_t>(sections[static_cast<std::size_t>(stream)]),
                   is_interleaved ? 0 : stream);
  for (std::size_t stream = 1; is_interleaved && stream < 3; ++stream)
    for (std::size_t i = 0; i < static_cast<std::size_t>(sections[stream]); ++i)
      if (3 * i + stream < streams.size())
        streams[3 * i + stream] = static_cast<std::int64_t>(stream);
  return streams;
}

/// Rows of a table at the places (3, batch, tokens), from each pair's own stream: (batch, tokens, pairs).
Term at_streams(FunctionCall& call, Term table, Term places,
                const std::vector<std::int64_t>& streams) {
  const Term rows = call.transpose(at_positions(table, places), {1, 2, 3, 0});
  const auto pairs = static_cast<std::int64_t>(streams.size());
  Shape all = {1, 1, pairs, 1};
  const Term which = call.op(
      "Expand",
      {call.reshape(call.ints(streams), all),
       call.concat({call.slice(call.op("Shape", {rows}), 0, 0, 2), call.ints({pairs, 1})}, 0)});
  return call.op("Squeeze",
                 {call.op("GatherElements", {rows, which}, with_axis(3)), call.ints({3})});
}

void expand_three_places(FunctionCall& call) {
  if (call.attrs().get_int("is_packed_batching", 0) != 0)
    throw NotExpressible{"its batches are packed"};
  if (call.attrs().get_float("scale", 1) != 1) throw NotExpressible{"it has a scale"};
  const Term x = call.input(0), places = call.input(1), cos = call.input(2), sin = call.input(3);
  const std::vector<std::int64_t> sections = call.attrs().get_ints("mrope_section");
  const std::int64_t pairs = call.dim(cos, 1);
  std::int64_t sum = 0;
  for (const std::int64_t section : sections)
    sum = section < 0 || section > pairs ? pairs + 1 : sum + section;
  if (sections.size() != 3 || sum != pairs || call.rank(places) != 3 || call.dim(places, 0) != 3)
    throw Error(ExitCode::kModel, "needs three places of each token, and an mrope_section of " +
                                      std::to_string(pairs) + " pairs in three parts");
  const std::vector<std::int64_t> streams =
      streams_of_pairs(sections, call.attrs().get_int("mrope_layout", 0) != 0);
  const std::int64_t heads = count_heads(call, x, call.attrs().get_int("num_heads", 0), pairs);
  give_rotated(call, x, heads, at_streams(call, cos, places, streams),
               at_streams(call, sin, places, streams));
}

}  // namespace

void register_rotary_embedding(FunctionRegistry& registry) {
  registry.add({"", "RotaryEmbedding", expand_rotary_embedding});
  registry.add({kMicrosoft, "RotaryEmbedding", expand_microsoft});
  registry.add({kMicrosoft, "MRotaryEmbedding", expand_three_places});
}

}  // namespace aoe::graph
