// Keys and values are taken block by block, which are packed for many queries and read where they lie for few; of each block all queries
// of an item take their scores, whose exponentials are summed with the values at once (softmax_block.h), so that no more than a
// block of scores is ever kept. Heads that share keys are queries like others.
#include "native/attention/attention.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/ceil_div.h"
#include "native/lines/softmax_block.h"
#include "native/products/dot_products.h"
#include "native/products/panels.h"
#include "native/scratch.h"

namespace aoe::native {
namespace {

using reference::AttentionShape;

constexpr std::int64_t kQueries = 32, kKeys = 256;  ///< of a block
constexpr std::int64_t kMostQueries = 512;          ///< of an item: the second-level cache has sums
constexpr std::int64_t kFewQueries = 7;             ///< for which nothing is packed
constexpr std::int64_t kChunk = Panels<float>::kColumns;  ///< keys that are seen or not

/// Where the matrices of a batch begin.
struct Origins {
  std::int64_t query = 0, key = 0, value = 0, mask = 0, output = 0;

  Origins stepped(const AttentionShape& s, std::size_t dim, std::int64_t place,
                  bool has_mask) const {
    return {query + place * s.query.batch[dim], key + place * s.key.batch[dim],
            value + place * s.value.batch[dim], has_mask ? mask + place * s.mask.batch[dim] : 0,
            output + place * s.output.batch[dim]};
  }
};

/// Of all places along some dimensions of the batch.
std::vector<Origins> origins_along(const AttentionShape& s, const std::vector<std::size_t>& dims,
                                   bool has_mask) {
  std::vector<Origins> all = {{}};
  for (const std::size_t dim : dims) {
    std::vector<Origins> longer;
    for (const Origins& each : all)
      for (std::int64_t place = 0; place < s.batch[dim]; ++place)
        longer.push_back(each.stepped(s, dim, place, has_mask));
    all = std::move(longer);
  }
  return all;
}

class Attention {
 public:
  Attention(const AttentionShape& s, const AttentionData& data) : s_(s), data_(data) {
    std::vector<std::size_t> apart, shared;
    for (std::size_t dim = 0; dim < s.batch.size(); ++dim)
      (s.key.batch[dim] == 0 && s.value.batch[dim] == 0 ? shared : apart).push_back(dim);
    apart_ = origins_along(s, apart, data.mask != nullptr);
    shared_ = origins_along(s, shared, data.mask != nullptr);
    rows_ = std::ssize(shared_) * s.queries;
  }

  void compute(Threads& threads) const {
    if (apart_.empty() || rows_ == 0) return;
    constexpr std::int64_t kLeast = 64;
    const std::int64_t enough = threads.count() > 1 ? 4 * threads.count() : 1;
    const std::int64_t parts = std::max(ceil_div(rows_, kMostQueries),
                                        parts_of(std::ssize(apart_), enough, rows_, kLeast));
    const std::int64_t length = ceil_div(rows_, parts);
    constexpr double kProductsPerNs = 30, kNumbersPerNs = 5;
    const auto factors = static_cast<double>(s_.keys * (s_.depth + s_.value_depth));
    const double cost =
        factors * (1 / kNumbersPerNs + static_cast<double>(length) / kProductsPerNs);
    threads.share(std::ssize(apart_) * parts, cost, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t first = i % parts * length;
        if (first < rows_)
          Item(*this, apart_[static_cast<std::size_t>(i / parts)], first,
               std::min(rows_, first + length) - first)
              .compute();
      }
    });
  }

 private:
  /// Queries [first, first + rows) of those that have the same keys.
  class Item {
   public:
    Item(const Attention& all, const Origins& origin, std::int64_t first, std::int64_t rows)
        : all_(all),
          s_(all.s_),
          origin_(origin),
          first_(first),
          rows_(rows),
          factors_(floats(rows * s_.depth)),
          sums_(floats(rows * s_.value_depth)),
          scores_(floats(kQueries * std::min(kKeys, s_.keys))) {
      find_queries();
    }

    void compute() {
      for (std::int64_t r = 0; r < rows_; ++r) read_query(r);
      std::fill_n(sums_.as<float>(), rows_ * s_.value_depth, 0.0f);
      for (std::int64_t key = 0; key < s_.keys; key += kKeys)
        take_keys(key, std::min(kKeys, s_.keys - key));
      for (std::int64_t r = 0; r < rows_; ++r) write_result(r);
    }

   private:
    static Scratch floats(std::int64_t count) {
      return Scratch(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * sizeof(float));
    }

    /// A query, where what it reads and writes lies.
    struct Query {
      const float* query;
      const float* mask;
      float* output;
      SoftmaxRow softmax;
    };

    void find_queries() {
      const AttentionData& data = all_.data_;
      std::int64_t place = first_ % s_.queries;
      auto sharer = static_cast<std::size_t>(first_ / s_.queries);
      queries_.reserve(static_cast<std::size_t>(rows_));
      for (std::int64_t r = 0; r < rows_; ++r) {
        const Origins& own = all_.shared_[sharer];
        const float* const mask = data.mask == nullptr
                                      ? nullptr
                                      : data.mask + origin_.mask + own.mask + place * s_.mask.row;
        queries_.push_back({data.query + origin_.query + own.query + place * s_.query.row,
                            mask,
                            data.output + origin_.output + own.output + place * s_.output.row,
                            {}});
        if (++place == s_.queries) place = 0, ++sharer;
      }
    }

    Query& query(std::int64_t r) { return queries_[static_cast<std::size_t>(r)]; }

    void read_query(std::int64_t r) {
      copy_scaled(query(r).query, s_.query.column, s_.depth, s_.scale,
                  factors_.as<float>() + r * s_.depth, 1);
    }

    void write_result(std::int64_t r) {
      const float factor = s_.keys == 0 ? 0 : query(r).softmax.end();
      copy_scaled(sums_.as<float>() + r * s_.value_depth, 1, s_.value_depth, factor,
                  query(r).output, s_.output.column);
    }

    void take_keys(std::int64_t first, std::int64_t count) {
      const Matrix<float> key = {all_.data_.key + origin_.key + first * s_.key.row, s_.key.column,
                                 s_.key.row};
      const Matrix<float> value = {all_.data_.value + origin_.value + first * s_.value.row,
                                   s_.value.row, s_.value.column};
      const bool are_few = rows_ <= kFewQueries;
      const auto packed = [&](const Matrix<float>& factor, std::int64_t rows,
                              std::int64_t columns) {
        OneThread alone;
        return std::make_unique<const Panels<float>>(factor, rows, columns, alone);
      };
      std::unique_ptr<const Panels<float>> keys, values;
      if (!are_few || (key.rows != 1 && key.columns != 1)) keys = packed(key, s_.depth, count);
      if (!are_few || value.columns != 1) values = packed(value, count, s_.value_depth);
      for (std::int64_t r = 0; r < rows_; r += kQueries) {
        const std::int64_t rows = std::min(kQueries, rows_ - r);
        const std::int64_t seen = seen_keys(r, rows, first, count);
        if (seen == 0) continue;
        const Rows<const float> queries = {factors_.as<float>() + r * s_.depth, s_.depth};
        const Rows<float> scores = {scores_.as<float>(), seen};
        std::fill_n(scores.data, rows * seen, 0.0f);
        if (keys)
          keys->add_panels(queries, rows, scores, 0, ceil_div(seen, kChunk));
        else if (key.rows == 1)
          add_dot_products<float>(queries, rows, {key.data, key.columns}, seen, s_.depth, scores);
        else
          add_product<float>(queries, rows, s_.depth, {key.data, key.rows}, scores, seen);
        for (std::int64_t each = 0; each < rows; ++each)
          take_row(r + each, first, seen, scores.row(each));
        const Rows<const float> weights = {scores.data, seen};
        const Rows<float> sums = {sums_.as<float>() + r * s_.value_depth, s_.value_depth};
        if (values)
          values->add_rows(weights, rows, seen, sums);
        else
          add_product<float>(weights, rows, seen, {value.data, value.rows}, sums, s_.value_depth);
      }
    }

    ScoreMask mask_at(const Query& query, std::int64_t first) const {
      return {.numbers = query.mask == nullptr ? nullptr : query.mask + first * s_.mask.column,
              .step = s_.mask.column,
              .is_bound = s_.mask_mode == reference::MaskMode::kMin};
    }

    /// How many of `count` keys, in whole chunks, some of `rows` queries sees: those behind them are hidden, as where a token sees none of
    /// those behind it.
    std::int64_t seen_keys(std::int64_t r, std::int64_t rows, std::int64_t first,
                           std::int64_t count) {
      std::int64_t seen = 0;
      for (std::int64_t each = r; each < r + rows && seen < count; ++each) {
        const Query& asked = query(each);
        const auto is_hidden = [&](std::int64_t begin, std::int64_t end) {
          return hides_all(mask_at(asked, first + begin), end - begin, asked.softmax);
        };
        if (is_hidden(seen, count)) continue;
        std::int64_t end = count, begin = (count - 1) / kChunk * kChunk;
        for (; begin > seen && is_hidden(begin, end); begin -= kChunk) end = begin;
        seen = end;
      }
      return seen;
    }

    void take_row(std::int64_t r, std::int64_t first, std::int64_t count, float* scores) {
      const float factor = take_scores(scores, count, mask_at(query(r), first), query(r).softmax);
      float* const sums = sums_.as<float>() + r * s_.value_depth;
      if (factor != 1) copy_scaled(sums, 1, s_.value_depth, factor, sums, 1);
    }

    const Attention& all_;
    const AttentionShape& s_;
    const Origins& origin_;
    const std::int64_t first_, rows_;
    const Scratch factors_, sums_, scores_;
    std::vector<Query> queries_;
  };

  const AttentionShape& s_;
  const AttentionData& data_;
  std::vector<Origins> apart_, shared_;
  std::int64_t rows_ = 0;  ///< queries of all that share keys
};

}  // namespace

void attend(const AttentionShape& shape, const AttentionData& data, Threads& threads) {
  if (shape.value_depth == 0) return;
  Attention(shape, data).compute(threads);
}

}  // namespace aoe::native
