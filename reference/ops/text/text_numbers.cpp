// Texts as numbers and numbers as texts, which ONNX's Cast does, and the order of texts.
#include <fmt/format.h>
#include <locale.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "reference/elements/onnx_data_type.h"
#include "reference/elements/typed.h"
#include "reference/fail.h"
#include "reference/texts/texts.h"
#include "reference/work.h"

namespace aoe::reference {
namespace {

// ---- numbers to texts ----

template <typename T>
std::string written(T value) {
  if constexpr (!kIsFloat<T>) {
    return std::to_string(value);
  } else {
    const auto number = static_cast<double>(static_cast<ComputeType<T>>(value));
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number < 0 ? "-INF" : "INF";
    return fmt::format("{:.8g}", number);  // as ONNX Runtime has it, of doubles too
  }
}

std::vector<TensorDesc> infer_number_to_text(const InferContext& context) {
  return {{.dtype = DataType::kInt64, .shape = context.shape(0)}};
}

void compute_number_to_text(const OpContext& context) {
  const Tensor& numbers = context.inputs[0];
  TextPool& pool = text_pool();
  auto* to = context.outputs[0].as<std::int64_t>();
  visit_type<AllTypes>(numbers.desc.dtype, [&]<typename T>() {
    std::transform(numbers.as<T>(), numbers.as<T>() + numbers.elements(), to,
                   [&](T number) { return pool.place_of(written(number)); });
  });
}

double writing_steps(const CostContext& cost) {
  constexpr double kDigits = 24;
  return steps_of_texts(cost.input_elements(0), kDigits);
}

// ---- texts to numbers ----

[[noreturn]] void refuse_number(const std::string& text, const char* why) {
  fail_model("'" + text + "' " + why);
}

/// The number that the text begins with, behind spaces.
template <typename T>
T number_in(const std::string& text) {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  const char* const begin = text.c_str();
  char* end = nullptr;
  errno = 0;
  const T number = [&] {
    if constexpr (kIsFloat<T>)
      return convert<T>(strtod_l(begin, &end, plain));
    else if constexpr (std::is_signed_v<T>)
      return static_cast<T>(strtoll_l(begin, &end, 10, plain));
    else
      return static_cast<T>(strtoull_l(begin, &end, 10, plain));
  }();
  if (end == begin) refuse_number(text, "is no number");
  if (!kIsFloat<T> && errno == ERANGE) refuse_number(text, "is a number of more than 64 bits");
  return number;
}

std::vector<TensorDesc> infer_text_to_number(const InferContext& context) {
  return {
      {.dtype = data_type_from_onnx(context.attrs.get_int("to", 0)), .shape = context.shape(0)}};
}

void compute_text_to_number(const OpContext& context) {
  const auto texts = texts_of(context.inputs[0]);
  const Tensor& output = context.outputs[0];
  visit_type<AllTypes>(output.desc.dtype, [&]<typename T>() {
    std::ranges::transform(texts, output.as<T>(),
                           [](const std::string* text) { return number_in<T>(*text); });
  });
}

// ---- order ----

std::vector<TensorDesc> infer_text_rank(const InferContext& context) {
  return {{.dtype = DataType::kInt64, .shape = context.shape(0)}};
}

/// For each text how many different ones of the tensor come before it, by their bytes.
void compute_text_rank(const OpContext& context) {
  const auto texts = texts_of(context.inputs[0]);
  const auto comes_before = [](const std::string* a, const std::string* b) { return *a < *b; };
  std::vector<const std::string*> order = texts;
  std::ranges::sort(order, comes_before);
  const auto repeated = std::ranges::unique(
      order, [](const std::string* a, const std::string* b) { return *a == *b; });
  order.erase(repeated.begin(), repeated.end());
  std::ranges::transform(texts, context.outputs[0].as<std::int64_t>(), [&](const auto* text) {
    return std::ranges::lower_bound(order, text, comes_before) - order.begin();
  });
}

double ranking_steps(const CostContext& cost) {
  constexpr double kAtATime = 16;  // letters that are compared
  return sorting_steps(cost) * (1 + most_letters() / kAtATime);
}

}  // namespace

void register_text_numbers(OpRegistry& registry) {
  registry.add({.type = "NumberToText",
                .onnx_type = "",
                .signature = {"a"},
                .kind = OpKind::kSearch,
                .infer = infer_number_to_text,
                .compute = compute_number_to_text,
                .work = writing_steps});
  registry.add({.type = "TextToNumber",
                .onnx_type = "",
                .signature = {"l", "!to=1.."},
                .kind = OpKind::kSearch,
                .infer = infer_text_to_number,
                .compute = compute_text_to_number,
                .work = steps_through_letters});
  registry.add({.type = "TextRank",
                .onnx_type = "",
                .signature = {"l"},
                .kind = OpKind::kSearch,
                .infer = infer_text_rank,
                .compute = compute_text_rank,
                .work = ranking_steps});
}

}  // namespace aoe::reference
