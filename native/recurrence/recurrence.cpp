#include "native/recurrence/recurrence.h"

namespace aoe::native {

template <typename T>
Recurrence<T>::Recurrence(const Run& run)
    : run_(run),
      kind_(reference::recurrent_kind(run.call.type)),
      layout_(reference::recurrent_layout(run.attrs, run.shape(reference::kSequenceX),
                                          run.shape(reference::kSequenceR))),
      lengths_(reference::sequence_lengths(run.has_input(reference::kSequenceLengths)
                                               ? run.inputs[reference::kSequenceLengths]
                                               : Tensor{},
                                           layout_)) {
  pack();
  for (std::int64_t d = 0; d < layout_.directions; ++d) directions_.push_back(direction(d));
}

template <typename T>
Direction<T> Recurrence<T>::direction(std::int64_t d) const {
  const std::int64_t rows = gates() * layout_.hidden;
  const T* peepholes = kind_.has_cell_state ? input(reference::kSequencePeepholes) : nullptr;
  Direction<T> to{.weights = input(reference::kSequenceW) + d * rows * layout_.input,
                  .recurrence = input(reference::kSequenceR) + d * rows * layout_.hidden,
                  .bias = {},
                  .candidate_bias = {},
                  .peepholes = peepholes == nullptr ? nullptr : peepholes + d * 3 * layout_.hidden,
                  .functions = {},
                  .packed_weights = of_direction(weights_, d),
                  .packed_recurrence = of_direction(recurrence_, d)};
  add_biases(d, to);
  const auto names = reference::activation_names(run_.attrs, kind_, layout_.directions);
  const auto scalars = reference::recurrent_activations(run_.attrs, kind_, layout_.directions);
  const std::size_t count = kind_.default_activations.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(d) * count + i;
    constexpr std::size_t kOfCell = 2;  // which is not clipped
    to.functions.push_back(
        {names[at], scalars[at], i == kOfCell ? 0.0 : run_.attrs.get_float("clip", 0)});
  }
  return to;
}

template <typename T>
void Recurrence<T>::add_biases(std::int64_t d, Direction<T>& to) const {
  const std::int64_t rows = gates() * layout_.hidden, hidden = layout_.hidden;
  to.bias.resize(static_cast<std::size_t>(rows));
  to.candidate_bias.resize(static_cast<std::size_t>(hidden));
  const T* from = input(reference::kSequenceBias);
  if (from == nullptr) return;
  const T *of_input = from + d * 2 * rows, *of_recurrence = of_input + rows;
  const std::int64_t apart = resets_behind_product() ? kCandidate * hidden : rows;
  for (std::int64_t i = 0; i < rows; ++i)
    to.bias[static_cast<std::size_t>(i)] = i < apart ? of_input[i] + of_recurrence[i] : of_input[i];
  for (std::int64_t i = apart; i < rows; ++i)
    to.candidate_bias[static_cast<std::size_t>(i - apart)] = of_recurrence[i];
}

/// Products with packed factors are twice as fast for several rows; packing takes as long as some dozens of rows.
template <typename T>
void Recurrence<T>::pack() {
  constexpr std::int64_t kManyRows = 64, kRowsOfAStep = 4;
  const bool is_kept = run_.kept(reference::kSequenceW) != nullptr;
  if (!is_kept && layout_.steps * layout_.batch < kManyRows) return;
  weights_ = packed(reference::kSequenceW, layout_.input);
  if (layout_.batch >= kRowsOfAStep) recurrence_ = packed(reference::kSequenceR, layout_.hidden);
}

template <typename T>
std::shared_ptr<const typename Recurrence<T>::Packed> Recurrence<T>::packed(
    std::size_t i, std::int64_t size) const {
  return run_.made_of(i, [&] {
    Packed all;
    for (std::int64_t gate = 0; gate < layout_.directions * gates(); ++gate)
      all.emplace_back(Matrix<T>{input(i) + gate * layout_.hidden * size, 1, size}, size,
                       layout_.hidden, run_.threads);
    return all;
  });
}

template <typename T>
std::span<const Panels<T>> Recurrence<T>::of_direction(const std::shared_ptr<const Packed>& packed,
                                                       std::int64_t d) const {
  if (!packed) return {};
  return std::span(*packed).subspan(static_cast<std::size_t>(d * gates()),
                                    static_cast<std::size_t>(gates()));
}

template class Recurrence<float>;
template class Recurrence<double>;

}  // namespace aoe::native
