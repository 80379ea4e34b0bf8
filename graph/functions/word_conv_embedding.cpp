// WordConvEmbedding of com.microsoft: a vector for each word from its letters, by a convolution over their vectors and its
// largest values. Words end where letters are 0; one without letters gives zeros, where ONNX Runtime writes nothing.
#include "graph/import/function_call.h"
#include "reference/fail.h"

namespace aoe::graph {
namespace {

constexpr double kBelowAll = -1e12;

void check_size(const FunctionCall& call, const std::string& attribute, std::int64_t size) {
  const std::int64_t stated = call.attrs().get_int(attribute, -1);
  if (stated != -1 && stated != size)
    reference::fail_model("its " + attribute + " is " + std::to_string(stated) +
                          ", its weights have " + std::to_string(size));
}

/// Whether the convolution's place lies within the letters of a word; the first always does. (words, 1, places)
Term places_of_words(FunctionCall& call, Term is_letter, std::int64_t places, std::int64_t window) {
  reference::Attrs keep;
  keep.set("keepdims", std::int64_t{1});
  const Term letters =
      call.op("ReduceSum", {call.cast(is_letter, DataType::kInt64), call.ints({1})}, keep);
  const Term last =
      call.op("Max", {letters + static_cast<double>(-window), call.number(0, DataType::kInt64)});
  const Term place = call.reshape(call.numbered(places), {1, 1, places});
  return call.op("LessOrEqual", {place, call.reshape(last, {-1, 1, 1})});
}

void expand_word_conv_embedding(FunctionCall& call) {
  const Term words = call.input(0), weights = call.input(1), table = call.input(3);
  if (call.rank(words) != 2 || call.rank(weights) != 4 || call.rank(table) != 2)
    reference::fail_model("needs words of two axes, weights of four and letters of two");
  const std::int64_t filters = call.dim(weights, 0), window = call.dim(weights, 2);
  const std::int64_t size = call.dim(weights, 3), letters = call.dim(words, 1);
  check_size(call, "embedding_size", filters);
  check_size(call, "conv_window_size", window);
  check_size(call, "char_embedding_size", size);
  if (call.dim(table, 1) != size || call.dim(weights, 1) != 1)
    reference::fail_model("its weights do not fit vectors of " +
                          std::to_string(call.dim(table, 1)) + " elements");
  const std::int64_t places = letters - window + 1;
  if (window < 1 || places < 1) reference::fail_model("its window is longer than a word");
  const Term vectors = call.op("Gather", {table, words}, with_axis(0));
  const Term image = call.op("Unsqueeze", {vectors, call.ints({1})});
  const Term all = call.op("Tanh", {call.op("Conv", {image, weights, call.input(2)})});
  const Term of_places = call.op("Squeeze", {all, call.ints({3})});  // (words, filters, places)
  const Term is_letter = call.op("Greater", {words, call.number(0, call.dtype(words))});
  const Term counted = call.op("Where", {places_of_words(call, is_letter, places, window),
                                         of_places, call.number(kBelowAll, DataType::kFloat)});
  reference::Attrs drop;
  drop.set("keepdims", std::int64_t{0});
  const Term largest = call.op("ReduceMax", {counted, call.ints({2})}, drop);
  const Term is_word = call.slice(is_letter, 1, 0, 1);
  call.give(0, call.op("Where", {is_word, largest, call.number(0, DataType::kFloat)}));
}

}  // namespace

void register_word_conv_embedding(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "WordConvEmbedding", expand_word_conv_embedding});
}

}  // namespace aoe::graph
