// TfIdfVectorizer: counts the n-grams of a pool in sequences of integers, with skips, and weighs the counts.
#include <algorithm>
#include <map>
#include <span>

#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

using Gram = std::vector<std::int64_t>;
using Items = std::span<const std::int64_t>;

/// Lets a map of Grams be searched for items that lie elsewhere.
struct ComesBefore {
  using is_transparent = void;
  bool operator()(Items a, Items b) const { return std::ranges::lexicographical_compare(a, b); }
};

struct Vectorizer {
  std::map<Gram, std::size_t, ComesBefore> pool;  ///< position of each n-gram in the pool
  std::vector<std::int64_t> indexes;              ///< output element of each n-gram
  std::vector<float> weights;                     ///< of each n-gram; empty: all 1
  std::string mode;
  std::int64_t shortest = 1, longest = 1, max_skip = 0;

  explicit Vectorizer(const Attrs& attrs)
      : indexes(attrs.get_ints("ngram_indexes")),
        weights(attrs.get_floats("weights")),
        mode(attrs.get_string("mode", "")),
        shortest(attrs.get_int("min_gram_length", 1)),
        longest(attrs.get_int("max_gram_length", 1)),
        max_skip(attrs.get_int("max_skip_count", 0)) {
    if (attrs.has("pool_strings")) fail_model("pool_strings: tensors of strings are not supported");
    if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
      fail_model("mode \"" + mode + "\" is unknown");
    const auto items = attrs.get_ints("pool_int64s");
    const auto starts = attrs.get_ints("ngram_counts");  // where the 1-grams, 2-grams, ... begin
    for (std::size_t n = 0; n < starts.size(); ++n) {
      const std::int64_t end = n + 1 < starts.size() ? starts[n + 1] : std::ssize(items);
      const auto length = static_cast<std::int64_t>(n) + 1;
      if (starts[n] < 0 || end > std::ssize(items))
        fail_model("ngram_counts do not fit pool_int64s");
      for (std::int64_t i = starts[n]; i + length <= end; i += length) {
        pool.emplace(Gram(items.begin() + i, items.begin() + i + length), pool.size());
      }
    }
    if (indexes.size() < pool.size() || (!weights.empty() && weights.size() < pool.size())) {
      fail_model(std::to_string(pool.size()) + " n-grams need as many ngram_indexes and weights");
    }
  }

  std::int64_t width() const {
    return indexes.empty() ? 0 : *std::max_element(indexes.begin(), indexes.end()) + 1;
  }

  /// How often each n-gram of the pool occurs in `row`. Unigrams have nothing to skip and count once.
  std::vector<double> counts(Items row) const {
    std::vector<double> result(pool.size());
    Gram gram;
    for (std::int64_t step = 1; step <= max_skip + 1; ++step) {
      for (std::int64_t n = step == 1 ? shortest : std::max<std::int64_t>(shortest, 2);
           n <= longest; ++n) {
        for (std::int64_t first = 0; first + step * (n - 1) < std::ssize(row); ++first) {
          gram.clear();
          for (std::int64_t i = 0; i < n; ++i)
            gram.push_back(row[static_cast<std::size_t>(first + i * step)]);
          const auto found = pool.find(Items(gram));
          if (found != pool.end()) ++result[found->second];
        }
      }
    }
    return result;
  }

  double weigh(std::size_t gram, double count) const {
    const double weight = weights.empty() ? 1.0 : weights[gram];
    if (mode == "TF") return count;
    return mode == "IDF" ? (count > 0 ? weight : 0) : count * weight;
  }
};

std::vector<TensorDesc> infer_tfidf(const InferContext& context) {
  Shape shape = context.shape(0);
  if (shape.size() != 1 && shape.size() != 2)
    fail_model("input " + to_string(shape) + ", needs 1 or 2 axes");
  shape.back() = Vectorizer(context.attrs).width();
  return {{.dtype = DataType::kFloat, .shape = std::move(shape)}};
}

void compute_tfidf(const OpContext& context) {
  const Vectorizer vectorizer(context.attrs);
  const auto items = to_int64s(context.inputs[0]);
  const auto row_length = static_cast<std::size_t>(context.inputs[0].desc.shape.back());
  const auto width = static_cast<std::size_t>(vectorizer.width());
  std::vector<double> y = doubles(static_cast<std::size_t>(context.outputs[0].elements()));
  const std::size_t rows = width == 0 ? 0 : y.size() / width;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto counts = vectorizer.counts(std::span(items).subspan(row * row_length, row_length));
    for (std::size_t gram = 0; gram < counts.size(); ++gram) {
      const auto element = static_cast<std::size_t>(vectorizer.indexes[gram]);
      y[row * width + element] = vectorizer.weigh(gram, counts[gram]);
    }
  }
  from_doubles(y, context.outputs[0]);
}

double gram_steps(const CostContext& cost) {
  const auto longest = static_cast<double>(cost.attrs.get_int("max_gram_length", 1));
  const auto skips = static_cast<double>(cost.attrs.get_int("max_skip_count", 0));
  return cost.input_elements(0) * (skips + 1) * longest * longest;
}

}  // namespace

void register_tfidf_vectorizer(OpRegistry& registry) {
  registry.add({.type = "TfIdfVectorizer",
                .versions = {9},
                .signature = {"x:1-2",
                              "!mode=TF|IDF|TFIDF !min_gram_length=1..64 !max_gram_length=1..64 "
                              "!max_skip_count=0..65536 !ngram_counts=ints:0.. "
                              "!ngram_indexes=ints:0..16777216 pool_int64s=longs weights=floats"},
                .kind = OpKind::kSearch,
                .infer = infer_tfidf,
                .compute = compute_tfidf,
                .work = gram_steps});
}

}  // namespace aoe::reference
