// DynamicRNN (LSTM), DynamicGRUV2 and CommonRNN in all their forms: computed weights, float64, any function of a gate, clip.
// Parts of the batch walk through time side by side; some steps ahead, what their inputs add is one product.
#include <algorithm>
#include <vector>

#include "base/ceil_div.h"
#include "native/by_type.h"
#include "native/kernel.h"
#include "native/products/dot_products.h"
#include "native/recurrence/recurrence.h"
#include "native/wide.h"

namespace aoe::native {
namespace {

enum LstmGate : std::int64_t { kInput, kOutput, kForget, kCell };

constexpr double kFlopsPerNs = 20;
constexpr double kProductsPerNs =
    8;  ///< of one row, whose factors come from the second-level cache
constexpr std::int64_t kRowsAtOnce = 12;  ///< of inputs, that a thread multiplies
constexpr std::int64_t kColumnsAtOnce = 24;

/// to = (1 - update) * candidate + update * to.
template <typename T>
AOE_WIDE void blend(const T* __restrict update, const T* __restrict candidate, std::int64_t count,
                    T* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = (1 - update[i]) * candidate[i] + update[i] * to[i];
}

/// to += a * b.
template <typename T>
AOE_WIDE void add_products(const T* __restrict a, const T* __restrict b, std::int64_t count,
                           T* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += a[i] * b[i];
}

template <typename T>
AOE_WIDE void write_products(const T* __restrict a, const T* __restrict b, std::int64_t count,
                             T* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = a[i] * b[i];
}

/// cell = forget * cell + input * candidate.
template <typename T>
AOE_WIDE void write_cell(const T* __restrict forget, const T* __restrict input,
                         const T* __restrict candidate, std::int64_t count, T* __restrict cell) {
  for (std::int64_t i = 0; i < count; ++i) cell[i] = forget[i] * cell[i] + input[i] * candidate[i];
}

/// Sequences [begin, end) of one direction, from their first step to their last.
template <typename T>
class Walk {
 public:
  /// `threads` share what its inputs add.
  Walk(const Recurrence<T>& all, Threads& threads, std::int64_t d, std::int64_t begin,
       std::int64_t end)
      : all_(all),
        threads_(threads),
        direction_(all.of(d)),
        d_(d),
        first_(begin),
        rows_(end - begin),
        hidden_size_(all.layout().hidden),
        width_(all.gates() * hidden_size_),
        hidden_(states(reference::kSequenceHidden)),
        cell_(states(reference::kSequenceCell)) {}

  void run() {
    constexpr std::int64_t kGoodRows = 4 * kRowsAtOnce;  // of a product
    const std::int64_t ahead = std::max<std::int64_t>(1, kGoodRows / rows_);
    std::int64_t longest = 0;
    for (std::int64_t r = 0; r < rows_; ++r) longest = std::max(longest, length(r));
    for (std::int64_t step = 0; step < longest; step += ahead) {
      const std::int64_t count = std::min(ahead, longest - step);
      multiply_inputs(step, count);
      for (std::int64_t i = 0; i < count; ++i)
        run_step(step + i, sums_.data() + i * rows_ * width_);
    }
    write_states(1, hidden_);
    if (all_.kind().has_cell_state) write_states(2, cell_);
  }

 private:
  std::int64_t length(std::int64_t r) const {
    return all_.lengths()[static_cast<std::size_t>(first_ + r)];
  }

  std::vector<T> states(std::size_t i) const {
    std::vector<T> rows(static_cast<std::size_t>(rows_ * hidden_size_));
    const T* from = all_.input(i);
    for (std::int64_t r = 0; from != nullptr && r < rows_; ++r)
      std::copy_n(from + all_.layout().state_at(d_, first_ + r), hidden_size_,
                  rows.data() + r * hidden_size_);
    return rows;
  }

  void write_states(std::size_t i, const std::vector<T>& rows) const {
    T* to = all_.run().output(i).template as<T>();
    for (std::int64_t r = 0; to != nullptr && r < rows_; ++r)
      std::copy_n(rows.data() + r * hidden_size_, hidden_size_,
                  to + all_.layout().state_at(d_, first_ + r));
  }

  /// The sums of `count` steps as their inputs and biases make them.
  void multiply_inputs(std::int64_t step, std::int64_t count) {
    const std::int64_t size = all_.layout().input;
    x_.assign(static_cast<std::size_t>(count * rows_ * size), T{});
    sums_.clear();
    const T* from = all_.input(reference::kSequenceX);
    for (std::int64_t i = 0; i < count * rows_; ++i) {
      const std::int64_t now = step + i / rows_, b = first_ + i % rows_;
      sums_.insert(sums_.end(), direction_.bias.begin(), direction_.bias.end());
      if (now < length(i % rows_))
        std::copy_n(from + all_.layout().x_at(all_.time_of(d_, b, now), b), size,
                    x_.data() + i * size);
    }
    const std::int64_t rows = count * rows_;
    const double cost = 2.0 * static_cast<double>(kRowsAtOnce * width_ * size) / kFlopsPerNs;
    threads_.share(ceil_div(rows, kRowsAtOnce), cost, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t first = begin * kRowsAtOnce;
      add_product(direction_.weights, direction_.packed_weights, 0, all_.gates(),
                  {x_.data() + first * size, size}, std::min(rows, end * kRowsAtOnce) - first, size,
                  {sums_.data() + first * width_, width_});
    });
  }

  /// Adds what `count` gates from number `gate` on make of these rows.
  void recur(std::int64_t gate, std::int64_t count, const T* rows, Rows<T> sums) const {
    if (rows_ == 1) return recur_shared(gate, count, rows, sums.data);
    add_product(direction_.recurrence, direction_.packed_recurrence, gate, count,
                {rows, hidden_size_}, rows_, hidden_size_, sums);
  }

  /// Of one row. Each thread finds its part of the factors in a cache of its own, step after step.
  void recur_shared(std::int64_t gate, std::int64_t count, const T* row, T* sums) const {
    const std::int64_t size = hidden_size_, columns = count * size;
    const T* factors = direction_.recurrence + gate * size * size;
    const double cost = static_cast<double>(kColumnsAtOnce * size) / kProductsPerNs;
    threads_.share(ceil_div(columns, kColumnsAtOnce), cost,
                   [&](std::int64_t begin, std::int64_t end) {
                     const std::int64_t first = begin * kColumnsAtOnce;
                     add_dot_products<T>({row, size}, 1, {factors + first * size, size},
                                         std::min(columns, end * kColumnsAtOnce) - first, size,
                                         {sums + first, columns});
                   });
  }

  void add_product(const T* factors, std::span<const Panels<T>> packed, std::int64_t gate,
                   std::int64_t count, Rows<const T> left, std::int64_t rows, std::int64_t length,
                   Rows<T> sums) const {
    if (packed.empty())
      return add_dot_products<T>(left, rows, {factors + gate * hidden_size_ * length, length},
                                 count * hidden_size_, length, sums);
    for (std::int64_t i = 0; i < count; ++i)
      packed[static_cast<std::size_t>(gate + i)].add_product(
          left, rows, {sums.data + i * hidden_size_, sums.stride});
  }

  void apply(std::size_t function, T* x) const {
    direction_.functions[function].apply(x, hidden_size_);
  }

  T* gate(T* sums, std::int64_t r, std::int64_t number) const {
    return sums + r * width_ + number * hidden_size_;
  }

  template <typename Row>
  void each_row(std::int64_t step, const Row& row) {
    for (std::int64_t r = 0; r < rows_; ++r)
      if (step < length(r)) row(r, hidden_.data() + r * hidden_size_);
  }

  void run_step(std::int64_t step, T* sums) {
    if (all_.kind().has_cell_state)
      run_lstm(step, sums);
    else if (all_.kind().gates == 1)
      run_rnn(step, sums);
    else
      run_gru(step, sums);
    T* y = all_.run().output(0).template as<T>();
    if (y == nullptr) return;
    each_row(step, [&](std::int64_t r, const T* h) {
      const std::int64_t b = first_ + r;
      std::copy_n(h, hidden_size_, y + all_.layout().y_at(all_.time_of(d_, b, step), d_, b));
    });
  }

  void run_rnn(std::int64_t step, T* sums) {
    recur(0, 1, hidden_.data(), {sums, width_});
    each_row(step, [&](std::int64_t r, T* h) {
      apply(0, gate(sums, r, 0));
      std::copy_n(gate(sums, r, 0), hidden_size_, h);
    });
  }

  void run_gru(std::int64_t step, T* sums) {
    const bool is_behind = all_.resets_behind_product();
    recur(kUpdate, 2, hidden_.data(), {sums, width_});
    inner_.clear();  // what the reset gate multiplies
    for (std::int64_t r = 0; r < rows_; ++r)
      inner_.insert(inner_.end(), direction_.candidate_bias.begin(),
                    direction_.candidate_bias.end());
    if (is_behind) recur(kCandidate, 1, hidden_.data(), {inner_.data(), hidden_size_});
    each_row(step, [&](std::int64_t r, const T* h) {
      T* inner = inner_.data() + r * hidden_size_;
      apply(0, gate(sums, r, kReset));
      if (is_behind)
        add_products(gate(sums, r, kReset), inner, hidden_size_, gate(sums, r, kCandidate));
      else
        write_products(gate(sums, r, kReset), h, hidden_size_, inner);
    });
    if (!is_behind) recur(kCandidate, 1, inner_.data(), {gate(sums, 0, kCandidate), width_});
    each_row(step, [&](std::int64_t r, T* h) {
      apply(0, gate(sums, r, kUpdate));
      apply(1, gate(sums, r, kCandidate));
      blend(gate(sums, r, kUpdate), gate(sums, r, kCandidate), hidden_size_, h);
    });
  }

  void run_lstm(std::int64_t step, T* sums) {
    const bool couples = all_.run().attrs.get_int("input_forget", 0) != 0;
    recur(kInput, all_.gates(), hidden_.data(), {sums, width_});
    each_row(step, [&](std::int64_t r, T* h) {
      T* cell = cell_.data() + r * hidden_size_;
      T *input = gate(sums, r, kInput), *forget = gate(sums, r, kForget),
        *output = gate(sums, r, kOutput), *candidate = gate(sums, r, kCell);
      peep(kInput, cell, input);
      peep(kForget, cell, forget);
      apply(0, input);
      apply(1, candidate);
      if (couples)
        std::transform(input, input + hidden_size_, forget, [](T each) { return 1 - each; });
      else
        apply(0, forget);
      write_cell(forget, input, candidate, hidden_size_, cell);
      peep(kOutput, cell, output);
      apply(0, output);
      std::copy_n(cell, hidden_size_, candidate);
      apply(2, candidate);
      write_products(output, candidate, hidden_size_, h);
    });
  }

  void peep(LstmGate number, const T* cell, T* sums) const {
    if (direction_.peepholes != nullptr)
      add_products(direction_.peepholes + number * hidden_size_, cell, hidden_size_, sums);
  }

  const Recurrence<T>& all_;
  Threads& threads_;
  const Direction<T>& direction_;
  const std::int64_t d_, first_, rows_, hidden_size_, width_;  ///< the last of a row of sums
  std::vector<T> hidden_, cell_;                               ///< rows x hidden
  std::vector<T> x_, sums_, inner_;
};

template <typename T>
void run_all(const Recurrence<T>& all) {
  const Run& run = all.run();
  const reference::RecurrentLayout& layout = all.layout();
  const Tensor& y = run.output(0);
  if (y.data != nullptr && std::ranges::min(all.lengths()) < layout.steps)
    std::fill_n(y.as<T>(), y.elements(), T{});
  const double flops = 2.0 * static_cast<double>(layout.steps * all.gates() * layout.hidden) *
                       static_cast<double>(layout.input + layout.hidden);
  if (layout.directions * layout.batch == 1) return Walk<T>(all, run.threads, 0, 0, 1).run();
  run.threads.share(
      layout.directions * layout.batch, flops / kFlopsPerNs,
      [&](std::int64_t begin, std::int64_t end) {
        OneThread alone;
        while (begin < end) {
          const std::int64_t d = begin / layout.batch;
          const std::int64_t stop = std::min(end, (d + 1) * layout.batch);
          Walk<T>(all, alone, d, begin - d * layout.batch, stop - d * layout.batch).run();
          begin = stop;
        }
      });
}

template <typename T>
void run_typed(const Run& run) {
  if (run.shape(reference::kSequenceX)[run.attrs.get_int("layout", 0) != 0 ? 0 : 1] == 0) return;
  run_all(Recurrence<T>(run));
}

/// All values of one type, float32 or float64.
Result<void> supports(const Question& question) {
  const DataType type = question.inputs[0].dtype;
  if (auto taken = takes_types(question, 0, {DataType::kFloat, DataType::kDouble}); !taken)
    return taken;
  for (std::size_t i = 1; i < question.inputs.size(); ++i) {
    if (i == reference::kSequenceLengths) continue;
    if (auto taken = takes_types(question, i, {type}); !taken) return taken;
  }
  return {};
}

}  // namespace

void register_recurrent(KernelRegistry& registry) {
  for (const char* type : {"CommonRNN", "DynamicGRUV2", "DynamicRNN"})
    registry.add({.type = type,
                  .supports = supports,
                  .run = by_type<reference::TypeList<float, double>>(
                      []<typename T>(const Run& run) { run_typed<T>(run); })});
}

}  // namespace aoe::native
