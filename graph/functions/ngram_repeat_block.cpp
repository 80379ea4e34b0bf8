// NGramRepeatBlock of com.microsoft: the scores of tokens that would end an n-gram which a text has already are -inf.
#include <limits>

#include "graph/import/function_call.h"
#include "reference/fail.h"

namespace aoe::graph {
namespace {

constexpr std::int64_t kToEnd = std::numeric_limits<std::int64_t>::max();

void expand_ngram_repeat_block(FunctionCall& call) {
  const std::int64_t size = call.attrs().get_int("ngram_size", 0);
  constexpr std::int64_t kLongest = 1024;
  if (size < 1) reference::fail_model("its ngram_size is not 1 or more");
  if (size > kLongest) throw NotExpressible{"its n-grams are too long"};
  const Term tokens = call.input(0), scores = call.input(1);
  if (call.rank(tokens) != 2 || call.rank(scores) != 2)
    reference::fail_model("needs tokens and scores of two axes");
  const DataType dtype = call.dtype(scores);
  const auto number = [&](double value) { return call.number(value, dtype); };
  // The n-grams of a text, by the place where each begins: token i of all of them, and that of the text's end.
  const auto of_all = [&](std::int64_t i) {
    return call.slice(tokens, 1, i, i + 1 < size ? i + 1 - size : kToEnd);
  };
  const auto of_end = [&](std::int64_t i) {
    return call.slice(tokens, 1, i + 1 - size, i + 2 < size ? i + 2 - size : kToEnd);
  };
  const Term banned = of_all(size - 1);
  Term penalty = number(-std::numeric_limits<double>::infinity());
  for (std::int64_t i = 0; i + 1 < size; ++i)
    penalty = call.op("Where", {call.op("Equal", {of_all(i), of_end(i)}), penalty,
                                number(std::numeric_limits<double>::infinity())});
  if (size == 1) penalty = call.op("Expand", {penalty, call.op("Shape", {banned})});
  reference::Attrs attrs = with_axis(1);
  attrs.set("reduction", std::string("min"));
  call.give(0, call.op("ScatterElements", {scores, banned, penalty}, attrs));
}

}  // namespace

void register_ngram_repeat_block(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "NGramRepeatBlock", expand_ngram_repeat_block});
}

}  // namespace aoe::graph
