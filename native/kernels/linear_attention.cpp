// LinearAttention: each head of keys and values walks through the tokens with its matrix in the cache, whose rows are vectors.
#include <algorithm>
#include <cmath>
#include <vector>

#include "native/by_type.h"
#include "native/kernel.h"
#include "native/wide.h"

namespace aoe::native {
namespace {

enum LinearInput : std::size_t { kQueries, kKeys, kValues, kPastState, kDecays, kBetas };

/// The matrix of one head, keys x values, and what a token needs besides.
template <typename T>
struct HeadState {
  std::int64_t keys, values;
  std::vector<T> matrix;
  std::vector<T> added;    ///< of a token: its value, or what the key does not find yet of it
  std::vector<T> factors;  ///< of the rows; empty without decay
};

/// sums += scale * row vector `key` x matrix: four rows at a time, so that the sums are read and written less often.
template <typename T>
AOE_WIDE void add_product(const HeadState<T>& s, const T* key, T scale, T* __restrict sums) {
  const T* __restrict matrix = s.matrix.data();
  const std::int64_t n = s.values;
  std::int64_t i = 0;
  for (; i + 4 <= s.keys; i += 4) {
    const T* __restrict row = matrix + i * n;
    const T a = scale * key[i], b = scale * key[i + 1], c = scale * key[i + 2],
            d = scale * key[i + 3];
    for (std::int64_t j = 0; j < n; ++j)
      sums[j] += a * row[j] + b * row[n + j] + (c * row[2 * n + j] + d * row[3 * n + j]);
  }
  for (; i < s.keys; ++i)
    for (std::int64_t j = 0; j < n; ++j) sums[j] += scale * key[i] * matrix[i * n + j];
}

/// matrix += key x added.
template <typename T>
AOE_WIDE void update_matrix(HeadState<T>& s, const T* key, const T* __restrict added) {
  for (std::int64_t i = 0; i < s.keys; ++i) {
    T* __restrict row = s.matrix.data() + i * s.values;
    for (std::int64_t j = 0; j < s.values; ++j) row[j] += key[i] * added[j];
  }
}

template <typename T>
AOE_WIDE void decay_matrix(HeadState<T>& s) {
  for (std::size_t i = 0; i < s.factors.size(); ++i) {
    T* __restrict row = s.matrix.data() + static_cast<std::int64_t>(i) * s.values;
    const T factor = s.factors.data()[i];
    for (std::int64_t j = 0; j < s.values; ++j) row[j] *= factor;
  }
}

/// Rows times their factors; where `corrects`, what the key finds there is taken from the value, which is added then.
template <typename T>
AOE_WIDE void take_token(HeadState<T>& s, const T* key, const T* value, T beta, bool corrects) {
  decay_matrix(s);
  T* added = s.added.data();
  std::fill_n(added, s.values, T{0});
  if (corrects) add_product(s, key, T{-1}, added);
  for (std::int64_t j = 0; j < s.values; ++j) added[j] = beta * (value[j] + added[j]);
  update_matrix(s, key, added);
}

template <typename T>
class LinearHeads {
 public:
  explicit LinearHeads(const Run& run)
      : run_(run),
        heads_(run.attrs.get_int("q_num_heads", 1)),
        kv_heads_(run.attrs.get_int("kv_num_heads", 1)),
        tokens_(run.shape(kQueries)[1]),
        keys_(run.shape(kQueries)[2] / heads_),
        values_(run.shape(kValues)[2] / kv_heads_),
        scale_(static_cast<T>(run.attrs.get_float("scale", 0))) {
    if (scale_ == 0) scale_ = static_cast<T>(1 / std::sqrt(static_cast<double>(keys_)));
  }

  void run() const {
    constexpr double kElementNs = 0.3;
    const double cost = kElementNs * static_cast<double>(tokens_ * keys_ * values_);
    run_.threads.share(run_.shape(kQueries)[0] * kv_heads_, cost,
                       [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t i = begin; i < end; ++i) run_head(i);
                       });
  }

 private:
  const T* in(LinearInput i) const { return run_.inputs[i].as<T>(); }

  void run_head(std::int64_t which) const {
    const auto size = static_cast<std::size_t>(keys_ * values_);
    HeadState<T> state{keys_,
                       values_,
                       std::vector<T>(size),
                       std::vector<T>(static_cast<std::size_t>(values_)),
                       {}};
    if (run_.has_input(kPastState))
      std::copy_n(in(kPastState) + which * keys_ * values_, size, state.matrix.begin());
    for (std::int64_t t = 0; t < tokens_; ++t)
      take(state, which / kv_heads_ * tokens_ + t, which % kv_heads_);
    if (T* to = run_.output(1).as<T>(); to != nullptr)
      std::ranges::copy(state.matrix, to + which * keys_ * values_);
  }

  /// Row `row` of batch and tokens.
  void take(HeadState<T>& state, std::int64_t row, std::int64_t head) const {
    T beta = 1;
    if (run_.has_input(kBetas)) {
      const std::int64_t width = run_.shape(kBetas)[2];
      beta = in(kBetas)[row * width + (width == 1 ? 0 : head)];
    }
    if (run_.has_input(kDecays)) read_factors(state, row, head);
    take_token(state, in(kKeys) + (row * kv_heads_ + head) * keys_,
               in(kValues) + (row * kv_heads_ + head) * values_, beta, run_.has_input(kBetas));
    T* out = run_.output(0).as<T>();
    const std::int64_t sharers = heads_ / kv_heads_;
    for (std::int64_t q = head * sharers; q < (head + 1) * sharers && out != nullptr; ++q) {
      T* to = std::fill_n(out + (row * heads_ + q) * values_, values_, T{0}) - values_;
      add_product(state, in(kQueries) + (row * heads_ + q) * keys_, scale_, to);
    }
  }

  /// One decay for each row, or one for each head.
  void read_factors(HeadState<T>& state, std::int64_t row, std::int64_t head) const {
    const std::int64_t width = run_.shape(kDecays)[2];
    const T* decays = in(kDecays) + row * width;
    state.factors.resize(static_cast<std::size_t>(keys_));
    if (width == kv_heads_) {
      std::ranges::fill(state.factors, std::exp(decays[head]));
      return;
    }
    std::transform(decays + head * keys_, decays + (head + 1) * keys_, state.factors.begin(),
                   [](T decay) { return std::exp(decay); });
  }

  const Run& run_;
  const std::int64_t heads_, kv_heads_, tokens_, keys_, values_;
  T scale_;
};

Result<void> supports_linear_attention(const Question& question) {
  for (std::size_t i = kQueries; i <= kBetas; ++i) {
    if (auto taken = takes_types(question, i, {DataType::kFloat, DataType::kDouble}); !taken)
      return taken;
    if (question.has_input(i) && question.inputs[i].dtype != question.inputs[0].dtype)
      return Unexpected("its past is of another type");
  }
  return {};
}

}  // namespace

void register_linear_attention(KernelRegistry& registry) {
  registry.add({.type = "LinearAttention",
                .supports = supports_linear_attention,
                .run = by_type<reference::TypeList<float, double>>(
                    []<typename T>(const Run& run) { LinearHeads<T>(run).run(); })});
}

}  // namespace aoe::native
